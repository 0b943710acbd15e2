/* SPDX-License-Identifier: MIT
 * fields: the fields of a scenario that only tcpserver's runs use (scenario.h). The other fields
 * mean the same for both, except for these: for the server, `connections` is the number of its
 * clients, `duration_us` the time in which they come, `message_bytes` how much each sends at most,
 * `sndbuf_bytes` the server's, `protocol` an enum server_protocol, `proxy` 3 either version of the
 * PROXY header, `pace` 3 that the workers never sleep. */
#ifndef TCPSCALER_SIM_SERVER_FIELDS_H
#define TCPSCALER_SIM_SERVER_FIELDS_H

#define SERVER_FIELDS(X)                                                                           \
    X(max_connections, 0)                                                                          \
    X(max_per_source, 0)                                                                           \
    X(sources, 1) /* addresses of the clients */                                                   \
    X(idle_timeout_us, 0)                                                                          \
    X(backlog, 128)                                                                                \
    X(own_tables, 0)            /* each worker has its own table of fd_limit descriptors */        \
    X(spare_workers, 0)         /* may be started when the tables are full */                      \
    X(local_permille, 0)        /* PROXY headers that name no client ... */                        \
    X(wrong_header_permille, 0) /* ... that are malformed ... */                                   \
    X(cut_header_permille, 0)   /* ... and that end early */                                       \
    X(header_timeout_us, 1000000)                                                                  \
    X(push_per_s, 0)                                                                               \
    X(push_bytes, 64)                                                                              \
    X(push_random, 0)                                                                              \
    X(closings, 0) /* times that connections are closed by request */                              \
    X(pauses, 0)   /* times that accepting is paused by request */                                 \
    /* the clients */                                                                              \
    X(burst, 1)               /* this many arrive at a time  */                                    \
    X(chunk_bytes, 65536)     /* sent at a time, at most */                                        \
    X(gap_us, 0)              /* between two of them, at most */                                   \
    X(window_bytes, 65536)    /* a client sends at most this much more than is read */             \
    X(unread_permille, 0)     /* clients that never read */                                        \
    X(slow_permille, 0)       /* clients that read late ... */                                     \
    X(slow_us, 0)             /* ... by this, at most */                                           \
    X(half_close_permille, 0) /* FIN after the last byte */                                        \
    X(stay_permille, 0)       /* clients that never close */                                       \
    X(abort_permille, 0)      /* RST at any time */                                                \
    X(vanish_permille, 0)     /* nothing more is sent or received, from any time on */             \
    /* faults */                                                                                   \
    X(accept_permille, 0)                                                                          \
    X(open_permille, 0) /* of /dev/null */

#endif
