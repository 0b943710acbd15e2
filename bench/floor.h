/* SPDX-License-Identifier: MIT
 * floor: shared by its server and its clients. */
#ifndef TCPSCALER_BENCH_FLOOR_H
#define TCPSCALER_BENCH_FLOOR_H

#include <err.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/epoll.h>

enum {
    EVENTS = 16384, /* enough for all that are ready: an answer must not wait behind sends */
    BUFFER_BYTES = 65536
};

#define ON (&(const int){1})

static inline int epoll_new(void)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);

    if (fd < 0)
        err(1, "epoll_create1");
    return fd;
}

static inline void epoll_set(int epoll_fd, int operation, int fd, uint32_t events, uint32_t number)
{
    struct epoll_event event = {.events = events, .data.u32 = number};

    if (epoll_ctl(epoll_fd, operation, fd, &event) != 0)
        err(1, "epoll_ctl");
}

static inline struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Echoes on a port of 127.0.0.1 (0: any free one) and prints the port.  Never returns. */
int floor_server(int port);

#endif
