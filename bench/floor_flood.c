/* SPDX-License-Identifier: MIT
 * floor_flood: as many messages as possible. */
#define _GNU_SOURCE
#include "floor_client.h"

#include <stdio.h>
#include <sys/resource.h>

static void fill(struct client *c, struct conn *conn, uint32_t batch, uint32_t window)
{
    const size_t one = c->message->n_bytes;

    while (conn->in_flight + batch <= window) {
        size_t wanted = batch * one - conn->offset;
        size_t n = client_send(c, conn, conn->offset, wanted);

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
    size_t n = client_receive(c, conn) + conn->answer_at;

    conn->in_flight -= (uint32_t)(n / c->answer_bytes);
    conn->answer_at = (uint32_t)(n % c->answer_bytes);
}

void floor_flood(struct client *c, uint32_t n, double seconds, uint32_t batch, uint32_t window)
{
    static struct epoll_event events[EVENTS];
    struct rusage before;
    uint64_t begin, now;

    if (batch == 0 || batch * c->message->n_bytes > c->pattern_bytes || window < batch)
        errx(2, "expected a BATCH of 1 to %zu and a WINDOW of at least BATCH",
             c->pattern_bytes / c->message->n_bytes);
    client_open(c, n);
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
    client_print_cpu(&before);
    client_tell("STOPPING=1");
}
