/* SPDX-License-Identifier: MIT
 * drive_server: see drive_server.h. */
#include "drive_server.h"

#include "crowd.h"
#include "descriptor.h"
#include "fiber.h"
#include "host/memory_watch.h"
#include "memory.h"
#include "server/workers.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define US 1000ull
#define MS 1000000ull

enum { MOST_LISTENERS = 8 };

/* How often the main thread looks at the memory, and requests something. */
#define LOOK_NS (50 * MS)

struct run {
    struct server_config config;
    struct memory_watch memory;
    struct server_listeners listeners;
    struct server_workers workers;
    int fds[MOST_LISTENERS];
    bool is_paused;
};

static void prepare(struct run *r, const struct scenario *s)
{
    r->config.protocol = s->server == 2 ? SERVER_PING : SERVER_ECHO;
    r->config.max_connections = s->most_connections;
    r->config.idle_timeout_ns = s->idle_us * US;
    r->config.busy_poll = s->pace == 3;
    r->config.quiet = true;
    r->config.memory = &r->memory;
    atomic_init(&r->memory.grant, s->memory_grant > 0 ? (int64_t)s->memory_grant : INT64_MAX / 2);
    r->listeners.fds = r->fds;
    r->listeners.n = (uint32_t)s->workers;
    for (uint32_t i = 0; i < r->listeners.n; i++)
        r->fds[i] = descriptor_new(DESCRIPTOR_LISTENER);
}

/* Memory is short from the first time that the grant is used up until the third look after. */
static void look_at_memory(struct run *r, const struct scenario *s)
{
    if (s->memory_grant == 0 || atomic_load(&r->memory.grant) > 0)
        return;
    atomic_store(&r->memory.is_short, !atomic_load(&r->memory.is_short));
    atomic_store(&r->memory.grant, atomic_load(&r->memory.is_short) ? 0 : (int64_t)s->memory_grant);
}

/* As by the control port. */
static void request(struct run *r)
{
    switch (world_up_to(9)) {
    case 0:
        crowd_expect_closing();
        server_workers_post(&r->workers, SERVER_CLOSE_OLDEST, world_up_to(5));
        break;
    case 1:
    case 2:
        r->is_paused = !r->is_paused;
        server_workers_post(&r->workers, SERVER_PAUSE, r->is_paused);
        break;
    default:
        break;
    }
}

static void lead(struct run *r, const struct scenario *s)
{
    const uint64_t end_ns =
        world.now_ns + 2 * s->duration_us * US + (s->drain_us < 3000000 ? s->drain_us * US : 0);

    memory_refuse(s->malloc_ppm);
    while (world.now_ns < end_ns) {
        fiber_sleep(world.now_ns + LOOK_NS < end_ns ? world.now_ns + LOOK_NS : end_ns);
        look_at_memory(r, s);
        if (s->steps > 0)
            request(r);
    }
    crowd_expect_closing();
    server_workers_stop(&r->workers);
    memory_refuse(0);
}

static void equal(const char *what, uint64_t is, uint64_t expected)
{
    LAW(is == expected, "%s: %" PRIu64 ", not %" PRIu64, what, is, expected);
}

static uint64_t sum_closed(const struct server_tally *t)
{
    uint64_t sum = 0;

    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        for (int reason = 0; reason < OUTCOME_N_REASONS; reason++)
            sum += tally_get(&t->closed[p][reason]);
    return sum;
}

static void check_laws(const struct run *r, const struct scenario *s)
{
    struct server_tally t;

    memset(&t, 0, sizeof t);
    for (uint32_t i = 0; i < r->workers.n; i++)
        server_tally_merge(&t, r->workers.tallies[i]);
    equal("accepted and refused", tally_get(&t.accepted) + tally_get(&t.n_refused),
          crowd_figures.n_accepted);
    equal("refused", tally_get(&t.n_refused), crowd_figures.n_refused);
    equal("closed by outcome", sum_closed(&t), tally_get(&t.n_closed));
    equal("active at the end", atomic_load(&r->config.n_active), server_tally_active(&t));
    equal("bytes received", tally_get(&t.bytes_received), tcp_figures.bytes_received);
    equal("bytes sent", tally_get(&t.bytes_sent), tcp_figures.bytes_sent);
    equal("accepted connections closed", crowd_figures.n_closed, crowd_figures.n_accepted);
    LAW(tally_get(&t.closed[PHASE_RECEIVE][REASON_PEER]) >= crowd_figures.n_ended,
        "closed by peer: fewer than were");
    LAW(s->most_connections == 0 ||
            atomic_load(&r->config.n_peak) <= s->most_connections + s->workers - 1,
        "more than %" PRIu64 " connections", s->most_connections);
    LAW(s->idle_us > 0 || s->receive_permille > 0 ||
            tally_get(&t.closed[PHASE_RECEIVE][REASON_TIMEOUT]) == 0,
        "idle, without a timeout");
}

/* Those of workers that did not start; tcpserver ends then. */
static void close_listeners(const struct run *r)
{
    for (uint32_t i = 0; i < r->listeners.n; i++) {
        const struct descriptor *d = descriptor_of(r->fds[i]);

        if (d != NULL && d->kind == DESCRIPTOR_LISTENER)
            close(r->fds[i]);
    }
}

void drive_server(const struct scenario *s, struct drive_result *result)
{
    static struct run run;
    struct run *r = &run;
    memset(r, 0, sizeof *r);
    *result = (struct drive_result){.started = false};
    world_begin(s);
    fiber_begin();
    descriptor_begin();
    tcp_begin(&crowd_end);
    memory_begin();
    prepare(r, s);
    result->started = server_workers_start(&r->workers, &r->config, &r->listeners, r->listeners.n,
                                           r->listeners.n) == 0;
    if (result->started) {
        crowd_begin(r->fds, r->listeners.n);
        lead(r, s);
        crowd_end_all();
        check_laws(r, s);
    } else {
        server_workers_stop(&r->workers);
        close_listeners(r);
    }
    server_workers_free(&r->workers);
    LAW(memory_n_live() == 0, "%" PRId64 " allocations are left, of %" PRId64 " bytes",
        memory_n_live(), memory_live_bytes());
    LAW(descriptor_n_open() == 0, "%u descriptors are left", descriptor_n_open());
    result->n_connections = crowd_figures.n_accepted;
    result->n_failed = crowd_figures.n_refused;
    result->most_bytes = memory_most_bytes();
    drive_fill(result);
    world_end();
}
