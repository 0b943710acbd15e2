/* SPDX-License-Identifier: MIT
 * floor_push: the least work that pushing to idle connections takes, for comparison: pairs of
 * threads with their own fd tables, each with its share of N connections over loopback.  One of a
 * pair sends 512 bytes at a time to a randomly selected connection, on an absolute schedule; the
 * other waits in epoll_wait(2) and receives.  No library, no connection state, only a sum measured.
 *
 *   floor_push N RATE SECONDS        prints messages received per second, and per recv(2) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PER_PAIR = 18500, /* below an fd limit of 20,000 */
    FIRST_PORT = 1100,
    SIZE = 512,
    TURN = 1024, /* messages between two readings of the clock */
    EVENTS = 1024,
    BUFFER_BYTES = 65536
};

#define SETTLE_S 2.0 /* from the last connection to the first second measured */
#define ON       (&(const int){1})

/* Shared by all threads. */
struct shared {
    _Atomic uint32_t n_connected;
    _Atomic uint64_t begin_ns; /* start of sending; 0: not yet */
    _Atomic uint64_t n_bytes, n_receives;
};

struct pair {
    struct shared *shared;
    uint32_t number, n;
    double rate, seconds;
    struct sockaddr_in server;
};

struct thread {
    pthread_t thread;
    struct pair pair;
    int listener;
    bool is_sender;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t random_next(uint64_t *state) /* xorshift64* */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

static void wait_for_all(const struct pair *p)
{
    while (atomic_load(&p->shared->begin_ns) == 0)
        usleep(1000);
}

static int listen_on(struct pair *p)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof p->server;

    p->server = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (bind(fd, (struct sockaddr *)&p->server, length) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&p->server, &length) != 0)
        err(1, "listen");
    return fd;
}

static void run_sender(struct pair *p, int listener)
{
    static const uint8_t message[SIZE];
    uint64_t state = p->number + 1, n_sent = 0, begin_ns, end_ns, at_ns;
    int *fds = calloc(p->n, sizeof *fds);

    for (uint32_t i = 0; i < p->n; i++) {
        fds[i] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, ON, sizeof(int));
        atomic_fetch_add(&p->shared->n_connected, 1);
    }
    wait_for_all(p);
    begin_ns = atomic_load(&p->shared->begin_ns);
    end_ns = begin_ns + (uint64_t)((SETTLE_S + p->seconds) * 1e9);
    while ((at_ns = now_ns()) < end_ns) {
        const uint64_t due = (uint64_t)((double)(at_ns - begin_ns) * p->rate / 1e9);

        if (due == n_sent)
            usleep(50);
        for (int i = 0; i < TURN && n_sent < due; i++, n_sent++)
            if (send(fds[(random_next(&state) >> 32) * p->n >> 32], message, SIZE, MSG_NOSIGNAL) <
                0)
                err(1, "send");
    }
    sleep(1);
}

/* Connects from the pair's own address, skipping ports in use. */
static int connect_one(const struct pair *p, uint16_t *port)
{
    const struct linger reset = {1, 0};
    struct sockaddr_in from = {.sin_family = AF_INET};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + p->number);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, ON, sizeof(int));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    do
        from.sin_port = htons((*port)++);
    while (bind(fd, (struct sockaddr *)&from, sizeof from) != 0 && errno == EADDRINUSE);
    if (connect(fd, (const struct sockaddr *)&p->server, sizeof p->server) != 0)
        err(1, "connect");
    return fd;
}

static void connect_all(const struct pair *p, int epoll_fd)
{
    uint16_t port = FIRST_PORT;

    for (uint32_t i = 0; i < p->n; i++) {
        const int fd = connect_one(p, &port);

        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN, {.fd = fd}});
    }
}

static void run_receiver(struct pair *p)
{
    struct epoll_event events[EVENTS];
    uint8_t buffer[BUFFER_BYTES];
    const int epoll_fd = epoll_create1(0);
    uint64_t count_ns, end_ns, at_ns, n_bytes = 0, n_receives = 0;

    connect_all(p, epoll_fd);
    wait_for_all(p);
    count_ns = atomic_load(&p->shared->begin_ns) + (uint64_t)(SETTLE_S * 1e9);
    end_ns = count_ns + (uint64_t)(p->seconds * 1e9);
    do {
        const int n_events = epoll_wait(epoll_fd, events, EVENTS, 100);

        at_ns = now_ns();
        for (int i = 0; i < n_events; i++) {
            const ssize_t n = recv(events[i].data.fd, buffer, sizeof buffer, 0);

            if (n <= 0)
                err(1, "recv");
            if (at_ns < count_ns || at_ns >= end_ns)
                continue;
            n_bytes += (uint64_t)n;
            n_receives++;
        }
    } while (at_ns < end_ns);
    atomic_fetch_add(&p->shared->n_bytes, n_bytes);
    atomic_fetch_add(&p->shared->n_receives, n_receives);
    sleep(1); /* closes nothing while others are still measuring */
}

static void *run(void *arg)
{
    const struct sched_param none = {0};
    struct thread *t = arg;

    if (unshare(CLONE_FILES) != 0 || sched_setscheduler(0, SCHED_BATCH, &none) != 0)
        err(1, "thread");
    if (t->is_sender)
        run_sender(&t->pair, t->listener);
    else
        run_receiver(&t->pair);
    return NULL;
}

static void start_pair(struct thread *threads, struct pair *p)
{
    const int listener = listen_on(p);

    for (int i = 0; i < 2; i++) {
        threads[i] = (struct thread){.pair = *p, .listener = listener, .is_sender = i == 1};
        if (pthread_create(&threads[i].thread, NULL, run, &threads[i]) != 0)
            errx(1, "thread");
    }
}

int main(int argc, char **argv)
{
    static struct shared shared;
    const uint32_t n = argc == 4 ? (uint32_t)atoi(argv[1]) : 0;
    const uint32_t n_pairs = (n + PER_PAIR - 1) / PER_PAIR;
    struct thread *threads = calloc(2 * n_pairs, sizeof *threads);
    struct rlimit limit;
    double messages;

    if (n == 0 || threads == NULL)
        return 2;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (uint32_t i = 0; i < n_pairs; i++) {
        struct pair p = {.shared = &shared, .number = i, .seconds = atof(argv[3])};

        p.n = n / n_pairs + (i < n % n_pairs);
        p.rate = atof(argv[2]) * p.n / n;
        start_pair(&threads[2 * i], &p);
    }
    while (atomic_load(&shared.n_connected) < n)
        usleep(10000);
    atomic_store(&shared.begin_ns, now_ns());
    for (uint32_t i = 0; i < 2 * n_pairs; i++)
        pthread_join(threads[i].thread, NULL);
    messages = (double)atomic_load(&shared.n_bytes) / SIZE;
    printf("%.0f %.3f\n", messages / atof(argv[3]),
           messages / (double)atomic_load(&shared.n_receives));
    return 0;
}
