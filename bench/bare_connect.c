/* SPDX-License-Identifier: MIT
 * bare_connect: the least work a connection takes: socket, bind to a planned tuple, connect; one
 * thread, blocking.  With "watch" each socket is also added to an epoll set.  Prints connections
 * per second.
 *
 *   bare_connect PORT N FIRST_SOURCE_PORT [watch] */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct sockaddr_in to = {.sin_family = AF_INET}, from = {.sin_family = AF_INET};
    const struct linger reset = {1, 0};
    const int on = 1, n = argc >= 4 ? atoi(argv[2]) : 0;
    const int watched = argc == 5 ? epoll_create1(EPOLL_CLOEXEC) : -1;
    struct rlimit limit;
    double begin;

    if (n == 0)
        return 2;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    to.sin_port = htons((uint16_t)atoi(argv[1]));
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    inet_pton(AF_INET, "127.0.0.2", &from.sin_addr);
    begin = now_s();
    for (int i = 0; i < n; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        from.sin_port = htons((uint16_t)(atoi(argv[3]) + i));
        if (bind(fd, (struct sockaddr *)&from, sizeof from) != 0 ||
            connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
            perror("bare_connect");
            return 1;
        }
        if (watched >= 0)
            epoll_ctl(watched, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN});
    }
    printf("%.0f\n", n / (now_s() - begin));
    return 0;
}
