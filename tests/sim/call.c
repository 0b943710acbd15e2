/* SPDX-License-Identifier: MIT
 * call: see call.h. */
#include "call.h"

#include "fiber.h"
#include "violation.h"
#include "world.h"

#include <errno.h>

/* tcpserver sends a piece of a pushed message whenever the socket has room, for as long as the run
 * lasts (server/drive.c): two calls per piece, twice as many with short sends. */
static uint64_t most_push_calls(const struct scenario *s)
{
    const uint64_t run_us = 2 * s->duration_us + 7000000 + 500 * s->wakeup_us;

    return 4 * s->push_per_s * scenario_push_pieces(s) * run_us / 1000000;
}

/* Into how many pieces a socket divides a query. */
static uint64_t query_pieces(const struct scenario *s)
{
    return s->sndbuf_bytes > 0 ? s->message_bytes / s->sndbuf_bytes : 0;
}

/* Far more calls than any run needs: exceeding it reveals a thread that loops without progress. */
static uint64_t most_calls(void)
{
    const struct scenario *s = &world.scenario;

    return 5000000 + (s->pace == 3 ? 4 * (s->duration_us + s->drain_us) * 1000 / s->call_ns : 0) +
           s->rate_qps * (s->duration_us + s->warmup_us) / 1000000 * (200 + 8 * query_pieces(s)) +
           s->connections * 200 + most_push_calls(s);
}

void call_begin(void)
{
    LAW(++world.n_calls < most_calls(), "the calls do not end");
    world_pass(world.scenario.call_ns);
    if (world_chance(world.scenario.preempt_permille))
        fiber_sleep(world.now_ns + world_up_to(world.scenario.wakeup_us * 1000));
}

int64_t call_return(const char *what, int fd, int64_t result)
{
    world_trace(what, fd, result, 0);
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

int call_fault(uint64_t permille, const int *errnos, size_t n)
{
    if (!world_chance(permille))
        return 0;
    world.n_faults++;
    return errnos[world_up_to(n - 1)];
}

int call_new_descriptor(const char *what, uint64_t permille, enum descriptor_kind kind)
{
    static const int errnos[] = {EMFILE, ENFILE, ENOMEM};
    const int error = CALL_FAULT(permille, errnos);
    int fd;

    if (error != 0)
        return (int)call_return(what, -1, -error);
    fd = descriptor_new(kind);
    return (int)call_return(what, -1, fd < 0 ? -errno : fd);
}

int64_t call_tcp(int fd)
{
    const struct descriptor *d = descriptor_of(fd);

    if (d == NULL)
        return -EBADF;
    return d->kind == DESCRIPTOR_SOCKET ? (int64_t)d->tcp : -ENOTSOCK;
}
