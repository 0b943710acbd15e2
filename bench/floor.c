/* SPDX-License-Identifier: MIT
 * floor: the least that a program on kernel sockets can do, as the limit to compare with: one
 * thread, epoll, no library, no connection state beyond a few counters, answers counted by their
 * bytes.
 *
 *   floor server [PORT]
 *       echoes; prints its port
 *   floor client PORT MESSAGE N RATE SECONDS
 *       RATE messages/s over N connections, open loop
 *   floor flood PORT MESSAGE N SECONDS BATCH WINDOW
 *       as fast as it goes: BATCH messages per send(2), at most WINDOW unanswered per connection
 *   floor connects PORT MESSAGE|none SECONDS
 *       opens, asks, awaits the first bytes, resets
 *
 * MESSAGE: dns, echo (6 bytes) or http. The clients print one JSON object.  The schedule is
 * absolute: message i is due at i / RATE, however late its turn comes.  All that is due on a
 * connection in a turn leaves in one send(2).  What a message is and how it is answered matters to
 * no one here, only that every answer has as many bytes as the first. */
#define _GNU_SOURCE
#include "floor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECT_BATCH = 64 /* connections that "connects" has open at a time */ };

#define SECOND_NS   1000000000u
#define DRAIN_NS    SECOND_NS
#define BYTES_OF(s) (sizeof(s) - 1)

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void raise_fd_limit(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* --- what all clients share --- */

static const struct message {
    const char *name, *bytes;
    size_t n_bytes;
} messages[] = {
#define MESSAGE(name, bytes)                                                                       \
    {                                                                                              \
        name, bytes, BYTES_OF(bytes)                                                               \
    }
    MESSAGE("dns", "\0\x1d\0\0\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"),
    MESSAGE("echo", "aloha\n"),
    MESSAGE("http", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
};

struct conn {
    int fd;
    uint32_t due;       /* messages to be sent */
    uint32_t offset;    /* bytes of the first of them that were */
    uint32_t in_flight; /* flood: messages unanswered */
    uint32_t answer_at; /* flood: bytes of an answer not yet complete */
    bool in_turn;
};

struct client {
    struct sockaddr_in to;
    const struct message *message;
    size_t answer_bytes;
    int epoll_fd;
    uint32_t n_conns, n_turn;
    struct conn *conns;
    uint32_t *turn; /* connections that have something due */
    uint64_t sent, received_bytes, random;
    size_t pattern_bytes;          /* whole messages, one after the other */
    uint8_t pattern[BUFFER_BYTES]; /* of which any number leaves in one call */
    uint8_t received[BUFFER_BYTES];
};

static const struct message *message_named(const char *name)
{
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (strcmp(messages[i].name, name) == 0)
            return &messages[i];
    errx(2, "no such message: %s", name);
}

static int open_socket(const struct client *c)
{
    const struct linger reset = {1, 0};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, ON, sizeof(int));
    if (connect(fd, (const struct sockaddr *)&c->to, sizeof c->to) != 0)
        err(1, "connect");
    return fd;
}

static void prepare(struct client *c, int port, const char *message)
{
    c->to = loopback(port);
    c->message = message_named(message);
    c->random = 42;
    while (c->pattern_bytes + c->message->n_bytes <= BUFFER_BYTES) {
        memcpy(c->pattern + c->pattern_bytes, c->message->bytes, c->message->n_bytes);
        c->pattern_bytes += c->message->n_bytes;
    }
}

/* The first answer, however many pieces it comes in. */
static void learn_answer(struct client *c)
{
    const struct timespec patience = {.tv_nsec = 100000000};
    int fd = open_socket(c);
    ssize_t n;

    if (send(fd, c->pattern, c->message->n_bytes, MSG_NOSIGNAL) < 0)
        err(1, "send");
    n = recv(fd, c->received, 1, MSG_PEEK);
    nanosleep(&patience, NULL);
    if (n > 0)
        n = recv(fd, c->received, BUFFER_BYTES, MSG_DONTWAIT);
    if (n <= 0)
        errx(1, "no answer");
    c->answer_bytes = (size_t)n;
    close(fd);
}

static double open_connections(struct client *c, uint32_t n)
{
    uint64_t begin;

    c->n_conns = n;
    c->conns = calloc(n, sizeof *c->conns);
    c->turn = calloc(n, sizeof *c->turn);
    if (c->conns == NULL || c->turn == NULL)
        err(1, "calloc");
    c->epoll_fd = epoll_new();
    begin = now_ns();
    for (uint32_t i = 0; i < n; i++) {
        c->conns[i].fd = open_socket(c);
        epoll_set(c->epoll_fd, EPOLL_CTL_ADD, c->conns[i].fd, EPOLLIN, i);
    }
    return n / ((double)(now_ns() - begin) / 1e9);
}

/* Bytes read, 0 if there were none. */
static size_t receive(struct client *c, const struct conn *conn)
{
    ssize_t n = recv(conn->fd, c->received, sizeof c->received, MSG_DONTWAIT);

    if (n == 0)
        errx(1, "the server closed a connection");
    if (n < 0 && errno != EAGAIN)
        err(1, "recv");
    c->received_bytes += n > 0 ? (size_t)n : 0;
    return n > 0 ? (size_t)n : 0;
}

/* Bytes sent, 0 if the socket is full. */
static size_t send_some(struct client *c, const struct conn *conn, size_t offset, size_t n_bytes)
{
    ssize_t n = send(conn->fd, c->pattern + offset, n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0 && errno != EAGAIN)
        err(1, "send");
    return n > 0 ? (size_t)n : 0;
}

static double cpu_s(const struct timeval *after, const struct timeval *before)
{
    return (double)(after->tv_sec - before->tv_sec) +
           (double)(after->tv_usec - before->tv_usec) / 1e6;
}

static void print_cpu(const struct rusage *before)
{
    struct rusage after;

    getrusage(RUSAGE_SELF, &after);
    printf(", \"user_s\": %.6f, \"system_s\": %.6f}\n", cpu_s(&after.ru_utime, &before->ru_utime),
           cpu_s(&after.ru_stime, &before->ru_stime));
}

/* --- at a rate --- */

struct load {
    double gap_ns;
    uint64_t begin_ns, end_ns, total, scheduled, answered;
    uint64_t sent_in_time, answered_in_time, last_sent_ns;
    double sum_answer_ns; /* of the times, since the start, at which answers were read */
};

static uint32_t random_below(struct client *c, uint32_t n)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return (uint32_t)(((c->random >> 32) * n) >> 32);
}

static void join_turn(struct client *c, uint32_t i)
{
    if (c->conns[i].in_turn)
        return;
    c->conns[i].in_turn = true;
    c->turn[c->n_turn++] = i;
}

static void take_due(struct client *c, struct load *l, uint64_t at_ns)
{
    uint64_t due = l->total;

    if (at_ns < l->end_ns)
        due = (uint64_t)((double)(at_ns - l->begin_ns) / l->gap_ns) + 1;
    for (; l->scheduled < due && l->scheduled < l->total; l->scheduled++) {
        uint32_t i = random_below(c, c->n_conns);

        c->conns[i].due++;
        join_turn(c, i);
    }
}

static void send_due(struct client *c, struct conn *conn)
{
    const size_t one = c->message->n_bytes;

    while (conn->due > 0) {
        size_t wanted = conn->due * one, n;

        wanted = (wanted < c->pattern_bytes ? wanted : c->pattern_bytes) - conn->offset;
        n = send_some(c, conn, conn->offset, wanted);
        conn->offset += (uint32_t)n;
        c->sent += conn->offset / one;
        conn->due -= (uint32_t)(conn->offset / one);
        conn->offset %= (uint32_t)one;
        if (n < wanted)
            return; /* there is room again when answers have come */
    }
}

static void send_turn(struct client *c)
{
    for (uint32_t i = 0; i < c->n_turn; i++) {
        struct conn *conn = &c->conns[c->turn[i]];

        conn->in_turn = false;
        send_due(c, conn);
    }
    c->n_turn = 0;
}

/* Sleeps until something is due or answered, reads each connection that has something once. */
static void read_answers(struct client *c, const struct load *l)
{
    static struct epoll_event events[EVENTS];
    struct timespec wait = {0};
    uint64_t now = now_ns();
    uint64_t next = l->scheduled < l->total
                        ? l->begin_ns + (uint64_t)((double)l->scheduled * l->gap_ns)
                        : l->end_ns + DRAIN_NS;
    int n;

    if (next > now)
        wait = (struct timespec){.tv_sec = (time_t)((next - now) / SECOND_NS),
                                 .tv_nsec = (long)((next - now) % SECOND_NS)};
    n = epoll_pwait2(c->epoll_fd, events, EVENTS, &wait, NULL);
    for (int i = 0; i < n; i++) {
        uint32_t number = events[i].data.u32;

        receive(c, &c->conns[number]);
        if (c->conns[number].due > 0)
            join_turn(c, number);
    }
}

/* A batch of answers counts as read when the last of it was: the mean is not flattered. */
static void count_answers(const struct client *c, struct load *l, uint64_t at_ns)
{
    uint64_t answered = c->received_bytes / c->answer_bytes;

    l->sum_answer_ns += (double)(answered - l->answered) * (double)(at_ns - l->begin_ns);
    l->answered = answered;
    if (at_ns <= l->end_ns) {
        l->sent_in_time = c->sent;
        l->answered_in_time = answered;
    }
}

static void print_load(const struct client *c, const struct load *l, double connects_per_s)
{
    const double n = (double)l->answered, seconds = (double)(l->end_ns - l->begin_ns) / 1e9;
    const double sum_intended_ns = l->gap_ns * n * (n - 1) / 2;

    printf("{\"connections\": %u, \"connects_per_s\": %.0f, \"scheduled\": %ju, \"sent\": %ju, "
           "\"answered\": %ju, \"sent_in_time\": %ju, \"answered_in_time\": %ju, \"seconds\": "
           "%.6f, \"achieved_qps\": %.1f",
           c->n_conns, connects_per_s, (uintmax_t)l->total, (uintmax_t)c->sent,
           (uintmax_t)l->answered, (uintmax_t)l->sent_in_time, (uintmax_t)l->answered_in_time,
           seconds,
           (double)c->sent * 1e9 /
               (double)((l->last_sent_ns > l->end_ns ? l->last_sent_ns : l->end_ns) - l->begin_ns));
    if (l->answered == l->total)
        printf(", \"mean_response_us\": %.1f", (l->sum_answer_ns - sum_intended_ns) / n / 1e3);
}

static int run_client(struct client *c, uint32_t n, double rate, double seconds)
{
    const double connects_per_s = open_connections(c, n);
    struct load l = {.gap_ns = 1e9 / rate, .total = (uint64_t)(rate * seconds)};
    struct rusage before;
    uint64_t now;

    getrusage(RUSAGE_SELF, &before);
    prctl(PR_SET_TIMERSLACK, 1);
    l.begin_ns = now = now_ns();
    l.end_ns = l.begin_ns + (uint64_t)(seconds * 1e9);
    while (l.answered < l.total && now < l.end_ns + DRAIN_NS) {
        uint64_t sent = c->sent;

        take_due(c, &l, now);
        send_turn(c);
        if (c->sent != sent)
            l.last_sent_ns = now;
        read_answers(c, &l);
        now = now_ns();
        count_answers(c, &l, now);
    }
    print_load(c, &l, connects_per_s);
    print_cpu(&before);
    return 0;
}

/* --- as fast as it goes --- */

static void fill(struct client *c, struct conn *conn, uint32_t batch, uint32_t window)
{
    const size_t one = c->message->n_bytes;

    while (conn->in_flight + batch <= window) {
        size_t wanted = batch * one - conn->offset;
        size_t n = send_some(c, conn, conn->offset, wanted);

        conn->offset += (uint32_t)n;
        c->sent += conn->offset / one;
        conn->in_flight += (uint32_t)(conn->offset / one);
        conn->offset %= (uint32_t)one;
        if (n < wanted)
            return;
    }
}

static void take_answers(struct client *c, struct conn *conn)
{
    size_t n = receive(c, conn) + conn->answer_at;

    conn->in_flight -= (uint32_t)(n / c->answer_bytes);
    conn->answer_at = (uint32_t)(n % c->answer_bytes);
}

static int run_flood(struct client *c, uint32_t n, double seconds, uint32_t batch, uint32_t window)
{
    static struct epoll_event events[EVENTS];
    struct rusage before;
    uint64_t begin, now;

    if (batch == 0 || batch * c->message->n_bytes > c->pattern_bytes || window < batch)
        errx(2, "a batch of 1 to %zu messages, and a window that holds it",
             c->pattern_bytes / c->message->n_bytes);
    open_connections(c, n);
    getrusage(RUSAGE_SELF, &before);
    begin = now = now_ns();
    for (uint32_t i = 0; i < n; i++)
        fill(c, &c->conns[i], batch, window);
    while ((double)(now - begin) < seconds * 1e9) {
        int n_ready = epoll_wait(c->epoll_fd, events, EVENTS, 1000);

        if (n_ready == 0)
            errx(1, "no answer for a second");
        for (int i = 0; i < n_ready; i++) {
            struct conn *conn = &c->conns[events[i].data.u32];

            take_answers(c, conn);
            fill(c, conn, batch, window);
        }
        now = now_ns();
    }
    printf("{\"answered\": %ju, \"seconds\": %.6f, \"per_s\": %.1f",
           (uintmax_t)(c->received_bytes / c->answer_bytes), (double)(now - begin) / 1e9,
           (double)(c->received_bytes / c->answer_bytes) * 1e9 / (double)(now - begin));
    print_cpu(&before);
    return 0;
}

/* --- one connection per question --- */

static void connect_batch(struct client *c)
{
    int fds[CONNECT_BATCH];

    for (int i = 0; i < CONNECT_BATCH; i++) {
        fds[i] = open_socket(c);
        if (c->message != NULL && send(fds[i], c->pattern, c->message->n_bytes, MSG_NOSIGNAL) < 0)
            err(1, "send");
    }
    for (int i = 0; i < CONNECT_BATCH; i++) {
        if (recv(fds[i], c->received, sizeof c->received, 0) <= 0)
            errx(1, "no answer");
        close(fds[i]);
    }
}

static int run_connects(struct client *c, double seconds)
{
    const uint64_t begin = now_ns();
    struct rusage before;
    uint64_t now, n = 0;

    getrusage(RUSAGE_SELF, &before);
    do {
        connect_batch(c);
        n += CONNECT_BATCH;
        now = now_ns();
    } while ((double)(now - begin) < seconds * 1e9);
    printf("{\"connections\": %ju, \"per_s\": %.1f", (uintmax_t)n,
           (double)n * 1e9 / (double)(now - begin));
    print_cpu(&before);
    return 0;
}

static int usage(void)
{
    fputs("usage: floor server [PORT]\n"
          "       floor client PORT MESSAGE N RATE SECONDS\n"
          "       floor flood PORT MESSAGE N SECONDS BATCH WINDOW\n"
          "       floor connects PORT MESSAGE|none SECONDS\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static struct client c;
    const char *role = argc > 1 ? argv[1] : "";

    raise_fd_limit();
    if (strcmp(role, "server") == 0)
        return floor_server(argc > 2 ? atoi(argv[2]) : 0);
    if (strcmp(role, "connects") == 0 && argc == 5) {
        if (strcmp(argv[3], "none") == 0)
            c.to = loopback(atoi(argv[2]));
        else
            prepare(&c, atoi(argv[2]), argv[3]);
        return run_connects(&c, atof(argv[4]));
    }
    if (!(strcmp(role, "client") == 0 && argc == 7) && !(strcmp(role, "flood") == 0 && argc == 8))
        return usage();
    prepare(&c, atoi(argv[2]), argv[3]);
    learn_answer(&c);
    if (argc == 7)
        return run_client(&c, (uint32_t)atoi(argv[4]), atof(argv[5]), atof(argv[6]));
    return run_flood(&c, (uint32_t)atoi(argv[4]), atof(argv[5]), (uint32_t)atoi(argv[6]),
                     (uint32_t)atoi(argv[7]));
}
