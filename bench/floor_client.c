/* SPDX-License-Identifier: MIT
 * floor_client: connections, one message and its answer. */
#define _GNU_SOURCE
#include "floor_client.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BYTES_OF(s) (sizeof(s) - 1)

uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static const struct message messages[] = {
#define MESSAGE(name, bytes)                                                                       \
    {                                                                                              \
        name, bytes, BYTES_OF(bytes)                                                               \
    }
    MESSAGE("dns", "\0\x1d\0\0\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"),
    MESSAGE("echo", "aloha\n"),
    MESSAGE("http", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
};

static const struct message *message_named(const char *name)
{
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (strcmp(messages[i].name, name) == 0)
            return &messages[i];
    errx(2, "unknown message: %s", name);
}

int client_connect(const struct client *c)
{
    const struct linger reset = {1, 0};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, ON, sizeof(int));
    if (connect(fd, (const struct sockaddr *)&c->to, sizeof c->to) != 0)
        err(1, "connect");
    return fd;
}

void client_prepare(struct client *c, int port, const char *message)
{
    c->to = loopback(port);
    c->message = message_named(message);
    c->random = 42;
    while (c->pattern_bytes + c->message->n_bytes <= BUFFER_BYTES) {
        memcpy(c->pattern + c->pattern_bytes, c->message->bytes, c->message->n_bytes);
        c->pattern_bytes += c->message->n_bytes;
    }
}

void client_learn_answer(struct client *c)
{
    const struct timespec wait = {.tv_nsec = 100000000};
    int fd = client_connect(c);
    ssize_t n;

    if (send(fd, c->pattern, c->message->n_bytes, MSG_NOSIGNAL) < 0)
        err(1, "send");
    n = recv(fd, c->received, 1, MSG_PEEK);
    nanosleep(&wait, NULL);
    if (n > 0)
        n = recv(fd, c->received, BUFFER_BYTES, MSG_DONTWAIT);
    if (n <= 0)
        errx(1, "no answer");
    c->answer_bytes = (size_t)n;
    close(fd);
}

void client_tell(const char *state)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd;

    if (path == NULL)
        return;
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sendto(fd, state, strlen(state), 0, (struct sockaddr *)&to, sizeof to) < 0)
        err(1, "%s", path);
    close(fd);
    nanosleep(&pause, NULL);
}

double client_open(struct client *c, uint32_t n)
{
    uint64_t begin;
    double per_s;

    c->n_conns = n;
    c->conns = calloc(n, sizeof *c->conns);
    c->queue = calloc(n, sizeof *c->queue);
    if (c->conns == NULL || c->queue == NULL)
        err(1, "calloc");
    c->epoll_fd = epoll_new();
    begin = now_ns();
    for (uint32_t i = 0; i < n; i++) {
        c->conns[i].fd = client_connect(c);
        epoll_set(c->epoll_fd, EPOLL_CTL_ADD, c->conns[i].fd, EPOLLIN, i);
    }
    per_s = n / ((double)(now_ns() - begin) / 1e9);
    client_tell("READY=1");
    return per_s;
}

size_t client_receive(struct client *c, const struct conn *conn)
{
    ssize_t n = recv(conn->fd, c->received, sizeof c->received, MSG_DONTWAIT);

    if (n == 0)
        errx(1, "the server closed a connection");
    if (n < 0 && errno != EAGAIN)
        err(1, "recv");
    c->received_bytes += n > 0 ? (size_t)n : 0;
    return n > 0 ? (size_t)n : 0;
}

size_t client_send(struct client *c, const struct conn *conn, size_t offset, size_t n_bytes)
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

void client_print_cpu(const struct rusage *before)
{
    struct rusage after;

    getrusage(RUSAGE_SELF, &after);
    printf(", \"user_s\": %.6f, \"system_s\": %.6f}\n", cpu_s(&after.ru_utime, &before->ru_utime),
           cpu_s(&after.ru_stime, &before->ru_stime));
}
