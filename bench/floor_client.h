/* SPDX-License-Identifier: MIT
 * floor_client: what the clients of floor share: connections, one message and its answer.  A
 * failed system call ends the process. */
#ifndef TCPSCALER_BENCH_FLOOR_CLIENT_H
#define TCPSCALER_BENCH_FLOOR_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "floor.h"

#define SECOND_NS 1000000000u

struct message {
    const char *name, *bytes;
    size_t n_bytes;
};

struct conn {
    int fd;
    uint32_t due;       /* load: messages to send */
    uint32_t offset;    /* bytes of the first of them already sent */
    uint32_t in_flight; /* flood: unanswered messages */
    uint32_t answer_at; /* flood: bytes received of an incomplete answer */
    bool queued;        /* load: in client.queue */
};

struct client {
    struct sockaddr_in to;
    const struct message *message; /* NULL: only connect */
    size_t answer_bytes;
    int epoll_fd;
    uint32_t n_conns, n_queued;
    struct conn *conns;
    uint32_t *queue; /* indices of connections with messages due */
    uint64_t sent, received_bytes, random;
    size_t pattern_bytes;          /* whole messages back to back, */
    uint8_t pattern[BUFFER_BYTES]; /* so that one call sends any number of them */
    uint8_t received[BUFFER_BYTES];
};

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

/* Sets target and message.  An unknown message ends the process with exit code 2. */
void client_prepare(struct client *c, int port, const char *message);

/* Sends one message and stores the length of its answer, all bytes that arrive within 100 ms. */
void client_learn_answer(struct client *c);

/* Returns a connected socket that resets its connection on close. */
int client_connect(const struct client *c);

/* Tells the service manager, as sd_notify(3) does, and gives it time to read what was used until
 * now.  Does nothing without one. */
void client_tell(const char *state);

/* Opens N connections and adds them to a new epoll set; tells "READY=1".  Returns connections per
 * second. */
double client_open(struct client *c, uint32_t n);

/* Returns the number of bytes received, 0 if there are none. */
size_t client_receive(struct client *c, const struct conn *conn);

/* Sends bytes of the pattern.  Returns the number of bytes sent, 0 if the socket is full. */
size_t client_send(struct client *c, const struct conn *conn, size_t offset, size_t n_bytes);

/* Prints the CPU time since BEFORE and the end of the JSON object. */
void client_print_cpu(const struct rusage *before);

/* RATE messages/s for SECONDS over N connections, open loop.  Prints one JSON object, then tells
 * "STOPPING=1". */
void floor_load(struct client *c, uint32_t n, double rate, double seconds);

/* As fast as possible for SECONDS over N connections: BATCH messages per send(2), at most WINDOW
 * unanswered per connection.  Prints one JSON object, then tells "STOPPING=1". */
void floor_flood(struct client *c, uint32_t n, double seconds, uint32_t batch, uint32_t window);

/* Opens connections for SECONDS, waits for the first bytes of the answer, resets them.  Prints one
 * JSON object. */
void floor_connects(struct client *c, double seconds);

#endif
