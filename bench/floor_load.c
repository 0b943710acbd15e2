/* SPDX-License-Identifier: MIT
 * floor_load: messages at a rate.  The schedule is absolute: message i is due at i / RATE, however
 * late the client is.  One send(2) sends all messages due on a connection. */
#define _GNU_SOURCE
#include "floor_client.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#define DRAIN_NS SECOND_NS

struct load {
    double gap_ns;
    uint64_t begin_ns, end_ns, total, scheduled, answered;
    uint64_t sent_in_time, answered_in_time, last_sent_ns;
    double sum_answer_ns; /* sum of the times from the start until each answer was read */
};

static uint32_t random_below(struct client *c, uint32_t n)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return (uint32_t)(((c->random >> 32) * n) >> 32);
}

static void enqueue(struct client *c, uint32_t i)
{
    if (c->conns[i].queued)
        return;
    c->conns[i].queued = true;
    c->queue[c->n_queued++] = i;
}

static void take_due(struct client *c, struct load *l, uint64_t at_ns)
{
    uint64_t due = l->total;

    if (at_ns < l->end_ns)
        due = (uint64_t)((double)(at_ns - l->begin_ns) / l->gap_ns) + 1;
    for (; l->scheduled < due && l->scheduled < l->total; l->scheduled++) {
        uint32_t i = random_below(c, c->n_conns);

        c->conns[i].due++;
        enqueue(c, i);
    }
}

static void send_due(struct client *c, struct conn *conn)
{
    const size_t one = c->message->n_bytes;

    while (conn->due > 0) {
        size_t wanted = conn->due * one, n;

        wanted = (wanted < c->pattern_bytes ? wanted : c->pattern_bytes) - conn->offset;
        n = client_send(c, conn, conn->offset, wanted);
        conn->offset += (uint32_t)n;
        c->sent += conn->offset / one;
        conn->due -= (uint32_t)(conn->offset / one);
        conn->offset %= (uint32_t)one;
        if (n < wanted)
            return; /* retried after the next answer */
    }
}

static void send_queue(struct client *c)
{
    for (uint32_t i = 0; i < c->n_queued; i++) {
        struct conn *conn = &c->conns[c->queue[i]];

        conn->queued = false;
        send_due(c, conn);
    }
    c->n_queued = 0;
}

/* Sleeps until a message is due or an answer arrives; reads once from each readable connection. */
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

        client_receive(c, &c->conns[number]);
        if (c->conns[number].due > 0)
            enqueue(c, number);
    }
}

/* Times a batch of answers by its last one, so that the mean is never too low. */
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

void floor_load(struct client *c, uint32_t n, double rate, double seconds)
{
    const double connects_per_s = client_open(c, n);
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
        send_queue(c);
        if (c->sent != sent)
            l.last_sent_ns = now;
        read_answers(c, &l);
        now = now_ns();
        count_answers(c, &l, now);
    }
    print_load(c, &l, connects_per_s);
    client_print_cpu(&before);
    client_tell("STOPPING=1");
}
