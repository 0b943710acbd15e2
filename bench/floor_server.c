/* SPDX-License-Identifier: MIT
 * floor_server: an echo server with one thread and epoll; its only state per connection is what the
 * socket did not accept. */
#define _GNU_SOURCE
#include "floor.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096, ACCEPT_BATCH = 64 };

#define LISTENER UINT32_MAX

/* Bytes that a socket did not accept.  Nothing is read from it until they are sent. */
struct rest {
    size_t n_bytes, n_sent;
    uint8_t data[];
};

struct server {
    int epoll_fd, listener_fd;
    struct rest **rests; /* by fd */
    uint8_t buffer[BUFFER_BYTES];
};

static void accept_waiting(struct server *s)
{
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        int fd = accept4(s->listener_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0)
            return;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, ON, sizeof(int));
        epoll_set(s->epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN, (uint32_t)fd);
    }
}

static void close_served(struct server *s, int fd)
{
    free(s->rests[fd]);
    s->rests[fd] = NULL;
    close(fd);
}

static void echo(struct server *s, int fd)
{
    ssize_t n = recv(fd, s->buffer, sizeof s->buffer, 0), sent;
    struct rest *rest;

    if (n < 0 && errno == EAGAIN)
        return; /* the event belongs to a former connection of this number */
    if (n <= 0) {
        close_served(s, fd);
        return;
    }
    sent = send(fd, s->buffer, (size_t)n, MSG_NOSIGNAL);
    if (sent == n)
        return;
    if (sent < 0 && errno != EAGAIN) {
        close_served(s, fd);
        return;
    }
    sent = sent < 0 ? 0 : sent;
    rest = malloc(sizeof *rest + (size_t)(n - sent));
    if (rest == NULL)
        err(1, "malloc");
    *rest = (struct rest){.n_bytes = (size_t)(n - sent)};
    memcpy(rest->data, s->buffer + sent, rest->n_bytes);
    s->rests[fd] = rest;
    epoll_set(s->epoll_fd, EPOLL_CTL_MOD, fd, EPOLLOUT, (uint32_t)fd);
}

static void send_rest(struct server *s, int fd)
{
    struct rest *rest = s->rests[fd];
    ssize_t n = send(fd, rest->data + rest->n_sent, rest->n_bytes - rest->n_sent, MSG_NOSIGNAL);

    if (n < 0 && errno != EAGAIN) {
        close_served(s, fd);
        return;
    }
    rest->n_sent += n > 0 ? (size_t)n : 0;
    if (rest->n_sent < rest->n_bytes)
        return;
    free(rest);
    s->rests[fd] = NULL;
    epoll_set(s->epoll_fd, EPOLL_CTL_MOD, fd, EPOLLIN, (uint32_t)fd);
}

static void listen_on(struct server *s, int port)
{
    struct sockaddr_in address = loopback(port);
    socklen_t n = sizeof address;

    s->listener_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(s->listener_fd, SOL_SOCKET, SO_REUSEADDR, ON, sizeof(int));
    if (bind(s->listener_fd, (struct sockaddr *)&address, n) != 0 ||
        listen(s->listener_fd, BACKLOG) != 0 ||
        getsockname(s->listener_fd, (struct sockaddr *)&address, &n) != 0)
        err(1, "port %d", port);
    epoll_set(s->epoll_fd, EPOLL_CTL_ADD, s->listener_fd, EPOLLIN, LISTENER);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
}

int floor_server(int port)
{
    static struct server s;
    static struct epoll_event events[EVENTS];

    s.rests = calloc((size_t)sysconf(_SC_OPEN_MAX), sizeof *s.rests);
    if (s.rests == NULL)
        err(1, "calloc");
    s.epoll_fd = epoll_new();
    listen_on(&s, port);
    for (;;) {
        int n = epoll_wait(s.epoll_fd, events, EVENTS, -1);

        for (int i = 0; i < n; i++) {
            if (events[i].data.u32 == LISTENER)
                accept_waiting(&s);
            else if (s.rests[events[i].data.u32] != NULL)
                send_rest(&s, (int)events[i].data.u32);
            else
                echo(&s, (int)events[i].data.u32);
        }
    }
}
