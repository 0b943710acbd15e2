/* SPDX-License-Identifier: MIT
 * scenario: everything that a simulated run depends on, as a list of numbers.  The same scenario is
 * the same run, event by event.  Pure. */
#ifndef TCPSCALER_SIM_SCENARIO_H
#define TCPSCALER_SIM_SCENARIO_H

#include "server/fields.h"

#include <stdint.h>

/* name, simplest value.  Shrinking moves each field towards its simplest value.  "permille" fields
 * are chances; times end in their unit. */
#define SCENARIO_FIELDS(X)                                                                         \
    /* the load, as tcpclient's options */                                                         \
    X(workers, 1)                                                                                  \
    X(connections, 1)                                                                              \
    X(rate_qps, 100)                                                                               \
    X(duration_us, 10000)                                                                          \
    X(warmup_us, 0)                                                                                \
    X(settle_us, 100)                                                                              \
    X(timeout_us, 1000000)                                                                         \
    X(drain_us, 1000000)                                                                           \
    X(poisson, 0)                                                                                  \
    X(random_select, 0)                                                                            \
    X(closed_loop, 0)                                                                              \
    X(interval_us, 1000)                                                                           \
    X(queries_per_conn, 0)                                                                         \
    X(conn_per_query, 0) /* unless the number of connections matters */                            \
    X(classes, 0)        /* of clients, where these can have some; 0: none */                      \
    X(plain_classes, 0)  /* with TLS: every second class uses none */                              \
    X(class_dice, 0)     /* not 0: a seed by which they differ, also in their queries */           \
    X(reconnect, 0)                                                                                \
    X(backoff_us, 100000) /* after the first failure, at most ten times that */                    \
    X(on_demand, 0)                                                                                \
    X(idle_close_us, 0) /* 0: never */                                                             \
    X(keepalive, 0)                                                                                \
    X(close_on_timeout, 0)                                                                         \
    X(close_with_rst, 0)                                                                           \
    X(prove, 1)                                                                                    \
    X(connect_window, 1000)                                                                        \
    X(connect_rate, 0)                                                                             \
    X(connect_arrival, 0) /* enum client_connect_arrival; not 0: with a rate */                    \
    X(connect_timeout_us, 1000000)                                                                 \
    X(protocol, 0)       /* enum query_kind */                                                     \
    X(message_bytes, 64) /* echo */                                                                \
    X(edns_bytes, 0)     /* dns: the size that queries announce; 0: no EDNS */                     \
    X(listen, 0)         /* --protocol listen: rate_qps messages are pushed ... */                 \
    X(pushed_bytes, 64)  /* ... of at most this size */                                            \
    X(udp, 0)            /* each connection is a UDP socket (setup_is_udp()) */                    \
    X(proxy, 0)          /* connections begin with a PROXY header: 1 version 1, 2 version 2 */     \
    X(pace, 1)           /* enum client_pace, not 0 */                                             \
    X(planned_ports, 0)  /* 0: the kernel chooses; else this many per connection, in percent */    \
    X(population, 0)     /* the number of connections follows a schedule */                        \
    X(steps, 0)          /* changes by request while it runs */                                    \
    X(stop_us, 0)        /* interrupted this long after its start; 0: never */                     \
    X(gate_us, 0)        /* the load begins at this time after the start; 0: at once */            \
    X(stamps, 0)         /* the kernel stamps what arrives */                                      \
    X(tick_us, 1000000)  /* between two collections of the histograms */                           \
    X(memory_grant, 0)   /* memory is short after this many connections; 0: never */               \
    /* TLS */                                                                                      \
    X(tls, 0) /* 1: of version 1.3, 2: of version 1.2 */                                           \
    X(tls_resume, 0)                                                                               \
    X(tls_tickets, 1)         /* that a server sends after a handshake (1.3) */                    \
    X(handshake_permille, 0)  /* handshakes that the other end does not complete */                \
    X(damaged_permille, 0)    /* records of the other end */                                       \
    X(key_update_permille, 0) /* with a record of the other end (1.3) */                           \
    /* the network */                                                                              \
    X(latency_us, 50)                                                                              \
    X(jitter_us, 0)                                                                                \
    X(sndbuf_bytes, 0)   /* 0: no limit */                                                         \
    X(coalesce_us, 0)    /* data that arrive within this time arrive together */                   \
    X(split_permille, 0) /* an answer that arrives in pieces */                                    \
    X(syn_lost_permille, 0)                                                                        \
    /* the peer */                                                                                 \
    X(service_us, 0)     /* of its single server, first come first served */                       \
    X(service_random, 0) /* exponential */                                                         \
    X(stall_every_us, 0) /* it stalls ... */                                                       \
    X(stall_us, 0)       /* ... for this long */                                                   \
    X(accept_queue, 0)   /* 0: endless */                                                          \
    X(most_served, 0)    /* connections; 0: no limit */                                            \
    X(most_accepted, 0)  /* ever; the next accept_queue connect, but wait forever; 0: no limit */  \
    X(refused_permille, 0)                                                                         \
    X(restart_every_us, 0) /* it ends that often; 0: never ... */                                  \
    X(restart_how, 0)      /* ... enum peer_restart_how ... */                                     \
    X(down_us, 0)          /* ... and is down for this long */                                     \
    X(deaf_permille, 0)    /* connections that it never answers */                                 \
    X(lost_permille, 0)                                                                            \
    X(late_permille, 0)                                                                            \
    X(late_us, 0)                                                                                  \
    X(duplicate_permille, 0)                                                                       \
    X(wrong_id_permille, 0)                                                                        \
    X(malformed_permille, 0)                                                                       \
    X(fin_permille, 0) /* it closes after an answer */                                             \
    X(reset_permille, 0)                                                                           \
    X(answer_bytes, 0)           /* of the longest answer, if it is DNS; 0: about 50 */            \
    X(keepalive_permille, 0)     /* answers with edns-tcp-keepalive ... */                         \
    X(keepalive_most, 0)         /* ... of up to this, in units of 100 ms */                       \
    X(keepalive_bad_permille, 0) /* or with one that is malformed */                               \
    /* faults of this host's calls */                                                              \
    X(start_permille, 0) /* epoll_create1, eventfd, timerfd_create, pthread_create */              \
    X(socket_permille, 0)                                                                          \
    X(bind_permille, 0)                                                                            \
    X(connect_permille, 0)                                                                         \
    X(send_permille, 0)                                                                            \
    X(receive_permille, 0)                                                                         \
    X(short_permille, 0) /* reads and writes */                                                    \
    X(again_permille, 0)                                                                           \
    X(watch_permille, 0) /* epoll_ctl */                                                           \
    X(malloc_ppm, 0)     /* once the workers run */                                                \
    X(fd_limit, 0)       /* 0: none */                                                             \
    /* this host */                                                                                \
    X(call_ns, 100)        /* CPU time of a system call */                                         \
    X(wakeup_us, 0)        /* a sleeper wakes late, by up to this */                               \
    X(clock_step_ns, 1)    /* of CLOCK_MONOTONIC */                                                \
    X(preempt_permille, 0) /* per call */                                                          \
    X(halt_permille, 0)    /* waits for events after which the thread gets no CPU ... */           \
    X(halt_us, 0)          /* ... for this long, at most */                                        \
    X(shuffle, 0)          /* readiness in any order */                                            \
    /* tcpserver (server/) */                                                                      \
    SERVER_FIELDS(X)

struct scenario {
    uint64_t seed;
#define SCENARIO_MEMBER(name, simplest) uint64_t name;
    SCENARIO_FIELDS(SCENARIO_MEMBER)
#undef SCENARIO_MEMBER
};

enum {
#define SCENARIO_ONE(name, simplest) +1
    SCENARIO_N_FIELDS = 0 SCENARIO_FIELDS(SCENARIO_ONE),
#undef SCENARIO_ONE
    SCENARIO_TEXT_BYTES = 4096
};

/* Gives all fields their simplest values. */
struct scenario scenario_simplest(uint64_t seed);

/* Writes "seed=7 connections=3 ...": the seed and the fields that do not have their simplest
 * values. */
void scenario_print(char text[SCENARIO_TEXT_BYTES], const struct scenario *s);

/* Parses such a text, with blanks between the fields.  Returns 0, or -1 if a field is unknown or
 * not a number. */
int scenario_parse(struct scenario *s, const char *text);

/* Into how many pieces a socket divides a pushed message. */
uint64_t scenario_push_pieces(const struct scenario *s);

/* Field i, and its simplest value. */
uint64_t *scenario_field(struct scenario *s, int i);
uint64_t scenario_simplest_of(int i);
const char *scenario_name_of(int i);

#endif
