/* SPDX-License-Identifier: MIT
 * floor_connects: one connection per message. */
#define _GNU_SOURCE
#include "floor_client.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECT_BATCH = 64 /* connections open at a time */ };

static void connect_batch(struct client *c)
{
    int fds[CONNECT_BATCH];

    for (int i = 0; i < CONNECT_BATCH; i++) {
        fds[i] = client_connect(c);
        if (c->message != NULL && send(fds[i], c->pattern, c->message->n_bytes, MSG_NOSIGNAL) < 0)
            err(1, "send");
    }
    for (int i = 0; i < CONNECT_BATCH; i++) {
        if (recv(fds[i], c->received, sizeof c->received, 0) <= 0)
            errx(1, "no answer");
        close(fds[i]);
    }
}

void floor_connects(struct client *c, double seconds)
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
    client_print_cpu(&before);
}
