/* SPDX-License-Identifier: MIT
 * tcp: simulated connections, seen from the product's end.
 *
 * The other end belongs to the peer (peer.h), which gets the product's data when they arrive, and
 * decides when its own data reach the product. Both directions keep their order. */
#ifndef TCPSCALER_SIM_TCP_H
#define TCPSCALER_SIM_TCP_H

#include "protocol/dns_keepalive.h"
#include "protocol/proxy_header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum tcp_state {
    TCP_FREE,
    TCP_NEW, /* a socket, perhaps bound */
    TCP_CONNECTING,
    TCP_ESTABLISHED,
    TCP_BROKEN, /* reset, refused or unreachable */
    TCP_LISTENING
};

struct ssl_st;

/* Of the peer. */
struct tcp_peer {
    uint32_t offset;  /* of the query that is arriving */
    uint8_t id[2];    /* its id */
    uint8_t excluded; /* bit set: queries of its class that it cannot be */
    bool is_deaf, is_served, is_gone;
    bool is_hostile;  /* it has broken TLS */
    uint8_t fault;    /* what it does wrong in the handshake ... */
    uint8_t n_before; /* ... after this many of its steps */
    uint64_t accepted_ns;
    uint32_t client;                   /* of the simulated clients of a server */
    struct ssl_st *tls;                /* NULL: plain TCP, or not begun */
    struct proxy_header_stream header; /* that the peer is reading */
    uint32_t identity;                 /* 1 + the connection it names; 0: none yet */
};

/* State of the product's TLS, as last reported. */
struct tcp_tls {
    uint64_t begin_ns; /* start of the handshake, by the product's clock */
    bool had_ticket;   /* at that time, from an earlier connection */
    bool is_established;
    bool has_lost_record;   /* a record could not be encrypted, or was not sent completely */
    bool is_ended;          /* by tcpserver, before its client */
    uint8_t status, reason; /* enum tls_status, enum outcome_reason */
};

/* The last send(2) or recv(2). */
struct tcp_call {
    uint64_t at_ns; /* 0: none yet */
    int32_t result; /* bytes, or -errno */
    bool is_send;
    uint64_t n_refusals; /* fiber_n_refusals before it returned */
};

/* A listening socket's queue of connections to be accepted, linked by `next`. */
struct tcp_queue {
    uint32_t first, last, next; /* UINT32_MAX: none */
    uint32_t n, most;
};

/* Of the ledger. */
struct tcp_ledger {
    uint32_t first_entry, last_entry; /* queries; UINT32_MAX: none */
    uint32_t highest_id;              /* used; UINT32_MAX: none */
    uint32_t n_sent;                  /* queries, including the one that proves it */
    uint32_t offset, missing;         /* of the answer that is being read */
    uint16_t id;
    bool is_orphan;     /* the query that is being written already has its outcome */
    uint32_t n_orphans; /* with TLS: their number */
    bool is_usable;     /* the product says so */
    /* The last time that something was received or expired, or that it became usable, by the
     * product's clock. */
    uint64_t rest_ns;
    uint64_t connect_ns;           /* when connect(2) was called, by the product's clock */
    struct dns_keepalive answer;   /* the one that is being read, ... */
    uint32_t n_answer, n_expected; /* ... its bytes so far, and those of its message */
    uint32_t allowed;              /* by the last answer, in units of 100 ms; UINT32_MAX: any */
    bool was_told_to_close;
};

struct tcp {
    uint32_t serial; /* counts the uses of this slot */
    int fd;
    uint8_t state;
    bool fin;           /* the peer's has arrived */
    bool has_shut_down; /* shutdown(2), for sending */
    bool is_datagram;   /* a UDP socket: its messages pass with their lengths, and stay whole */
    uint16_t peer_port; /* of connect(2) ... */
    bool is_secure;     /* ... with TLS */
    bool reset_on_close, was_full, is_planned;
    bool was_short; /* the last send(2) did not accept all bytes */
    bool error_was_told;
    bool unacknowledged_was_told;
    bool was_unwatched; /* epoll_ctl(2) has failed: the product may close it, however late */
    int error;          /* errno */
    uint32_t address;   /* its own, or the peer's if it was accepted */
    uint16_t port;      /* 0: not bound */
    uint8_t retransmits;
    bool established_was_told;
    uint8_t *received; /* readable from head to visible; under way up to tail */
    uint32_t head, visible, tail, room;
    uint32_t in_flight; /* bytes that the peer has not read */
    uint64_t last_delivery_ns, last_arrival_ns;
    uint64_t arrived_ns; /* when the last data arrived */
    uint64_t looked_ns;  /* when recv(2) last checked for arrived data */
    struct tcp_peer peer;
    struct tcp_ledger ledger;
    struct tcp_tls tls;
    struct tcp_call last;
    struct tcp_queue queue;
};

/* The other end of the connections. */
struct tcp_end {
    /* Connection i sends a SYN: decides what happens to it. */
    void (*on_connect)(uint32_t i);
    /* Connection i sends this.  Returns when the other end will have read it; WORLD_NEVER if it
     * will not. */
    uint64_t (*on_data)(uint32_t i, const uint8_t *data, size_t n_bytes);
    /* The product has closed connection i. */
    void (*on_close)(uint32_t i);
    /* The product has closed its half; NULL: it never does. */
    void (*on_shutdown)(uint32_t i);
};

void tcp_begin(const struct tcp_end *end);

/* Creates a socket, and returns its number. */
uint32_t tcp_new(int fd);
struct tcp *tcp_at(uint32_t i);

/* Identifies a connection in an event, which happens only if this has not changed. */
static inline uint64_t tcp_name(uint32_t i, const struct tcp *t)
{
    return (uint64_t)t->serial << 32 | i;
}

/* Returns how many numbers there are; some are free. */
uint32_t tcp_n_places(void);

/* Returns NULL if the number belongs to another connection by now. */
struct tcp *tcp_named(uint64_t name);

uint32_t tcp_ready(uint32_t i);

/* --- the product's end --- */

/* Returns 0 (connected), EINPROGRESS, or another errno. */
int tcp_connect(uint32_t i);

/* Return how many bytes, or -errno. */
ssize_t tcp_send(uint32_t i, const uint8_t *data, size_t n_bytes);
ssize_t tcp_receive(uint32_t i, uint8_t *data, size_t n_bytes);

/* Like tcp_receive() of one byte, which stays in the queue. */
ssize_t tcp_peek(uint32_t i);

/* How many bytes tcp_send() takes. */
size_t tcp_room(uint32_t i);

/* Returns its pending error, once. */
int tcp_take_error(uint32_t i);
void tcp_shutdown(uint32_t i);
void tcp_close(uint32_t i);

/* --- the peer's end --- */

void tcp_establish_at(uint32_t i, uint64_t at_ns);
void tcp_refuse_at(uint32_t i, uint64_t at_ns, int error);
void tcp_deliver_at(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t at_ns);
void tcp_finish_at(uint32_t i, uint64_t at_ns);
void tcp_reset_at(uint32_t i, uint64_t at_ns);

/* --- listening (tcp_listen.c) --- */

/* Like listen(2). */
void tcp_listen(uint32_t i, uint32_t most);

/* A client's handshake is complete.  Returns the connection; -1: the queue is full. */
int64_t tcp_arrive(uint32_t listener, uint32_t address, uint16_t port);

/* The first of the queue, as accept(2).  Returns the connection or -EAGAIN. */
int64_t tcp_accept(uint32_t listener, int fd);

/* The next of the queue when its listener is closed; -1: none. */
int64_t tcp_take_waiting(uint32_t listener);

/* --- figures --- */

struct tcp_figures {
    uint64_t n_sockets, n_connects, n_established, bytes_sent, bytes_received;
};

extern struct tcp_figures tcp_figures;

#endif
