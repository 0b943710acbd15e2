/* SPDX-License-Identifier: MIT
 * drive: a run of tcpserver's workers in the simulated world: what the main thread of tcpserver
 * does with them (server/session.c, server/supervise.c), and the laws that hold at the end. */
#include "drive.h"

#include "base/log.h"
#include "clients.h"
#include "descriptor.h"
#include "fiber.h"
#include "host/memory_watch.h"
#include "memory.h"
#include "ports.h"
#include "progress.h"
#include "readiness.h"
#include "refusal.h"
#include "server/workers.h"
#include "server_laws.h"
#include "tcp.h"
#include "tls_claims.h"
#include "tls_setup.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define US 1000ull
#define MS 1000000ull
#define S  1000000000ull

/* How often the main thread checks (server/supervise.c). */
#define LOOK_NS (50 * MS)

/* How long a client may wait for the server, and how long the calm phase, without faults, lasts. */
#define MOST_WAIT_NS (2 * S)
#define CALM_NS      (5 * S)

enum { MOST_LISTENERS = 8 };

struct run {
    struct server_config config;
    struct memory_watch memory;
    struct server_listeners listeners;
    struct server_workers workers;
    int fds[MOST_LISTENERS]; /* a copy: the workers forget theirs */
    bool is_paused;
    uint64_t begin_ns, calm_ns, end_ns;
    uint64_t close_ns, pause_ns; /* when next; WORLD_NEVER */
    uint64_t n_closings, n_pauses;
    uint64_t n_pushed, pushed_ns; /* messages, and when there were last more */
};

int __wrap_log_error(const char *format, ...);

int __wrap_log_error(const char *format, ...)
{
    (void)format;
    return -1;
}

static uint64_t most_wait_ns(void)
{
    const struct scenario *s = &world.scenario;

    return MOST_WAIT_NS + 500 * s->wakeup_us * US;
}

/* --- configuration --- */

static void configure(struct run *r, const struct scenario *s)
{
    struct server_config *c = &r->config;

    c->protocol = (enum server_protocol)s->protocol;
    c->push_rate_per_s = (double)s->push_per_s;
    c->push_bytes = (uint32_t)s->push_bytes;
    c->push_select = s->push_random ? SERVER_SELECT_RANDOM : SERVER_SELECT_ROUND_ROBIN;
    c->max_connections = s->max_connections;
    c->idle_timeout_ns = s->idle_timeout_us * US;
    c->header_timeout_ns = s->proxy > 0 ? s->header_timeout_us * US : 0;
    c->own_fd_tables = s->own_tables;
    c->busy_poll = s->pace == 3;
    c->quiet = true;
    c->memory = &r->memory;
    c->tls = s->tls > 0 ? tls_setup_server() : NULL;
    atomic_init(&r->memory.refusals, INT64_MAX / 2);
    atomic_init(&r->memory.grant, s->memory_grant > 0 ? (int64_t)s->memory_grant : INT64_MAX / 2);
    if (s->max_per_source > 0) {
        c->source_limit = source_limit_new(
            s->max_per_source, (uint32_t)(s->connections + s->workers + s->spare_workers), s->seed);
        LAW(c->source_limit != NULL, "no memory");
    }
}

/* As tcpserver checks: no less than it needs itself. */
static uint64_t fd_limit(const struct scenario *s)
{
    const uint64_t least = server_own_fds(s);

    return s->fd_limit > 0 && s->fd_limit < least ? least : s->fd_limit;
}

static void listen_to(struct run *r, const struct scenario *s)
{
    world.scenario.fd_limit = 0;
    r->listeners.n = (uint32_t)s->workers;
    r->listeners.fds = r->fds;
    for (uint32_t i = 0; i < r->listeners.n; i++) {
        const int fd = r->fds[i] = descriptor_new(DESCRIPTOR_SOCKET);
        const uint32_t slot = tcp_new(fd);

        descriptor_of(fd)->tcp = slot;
        tcp_listen(slot, (uint32_t)s->backlog);
    }
    world.scenario.fd_limit = fd_limit(s);
}

/* --- what the main thread does --- */

static void pause_or_resume(struct run *r)
{
    r->is_paused = !r->is_paused;
    world_trace("pause", r->is_paused, 0, 0);
    server_workers_post(&r->workers, SERVER_PAUSE, r->is_paused);
}

static uint64_t some_time(const struct scenario *s, uint64_t n_left)
{
    return n_left > 0 ? world.now_ns + world_up_to(2 * s->duration_us * US / n_left) : WORLD_NEVER;
}

static void look_at_requests(struct run *r, const struct scenario *s)
{
    if (world.now_ns >= r->close_ns) {
        clients_expect_closing();
        server_workers_post(&r->workers, SERVER_CLOSE_OLDEST, world_up_to(s->connections));
        r->close_ns = some_time(s, s->closings - ++r->n_closings);
    }
    if (world.now_ns >= r->pause_ns) {
        pause_or_resume(r);
        r->pause_ns = some_time(s, s->pauses - ++r->n_pauses);
    }
}

static void look_at_memory(struct run *r, const struct scenario *s)
{
    if (s->memory_grant == 0 || atomic_load(&r->memory.grant) > 0)
        return;
    atomic_store(&r->memory.grant, 0);
    atomic_store(&r->memory.is_short, true);
}

/* No more faults, requests or shortages: from now on each connection that comes is served, or
 * refused by a limit. */
static void calm_down(struct run *r)
{
    struct scenario *s = &world.scenario;

    world_trace("calm", 0, 0, 0);
    memory_refuse(0);
    s->start_permille = s->accept_permille = s->open_permille = s->send_permille = 0;
    s->receive_permille = s->short_permille = s->again_permille = s->watch_permille = 0;
    s->syn_lost_permille = 0;
    r->close_ns = r->pause_ns = WORLD_NEVER;
    if (r->is_paused)
        pause_or_resume(r);
    atomic_store(&r->memory.is_short, false);
    atomic_store(&r->memory.grant, INT64_MAX / 2);
    r->calm_ns = WORLD_NEVER;
}

static void grow_if_wanted(struct run *r)
{
    const struct server_overflow *o = &r->config.overflow;

    if (!server_overflow_is_open(o) || descriptor_of(o->wanted_fd)->count == 0)
        return;
    server_workers_grow(&r->workers, r->is_paused);
}

/* While there are subscribers, messages are pushed. */
static void check_pushing(struct run *r, const struct scenario *s)
{
    uint64_t n = 0;

    if (s->push_per_s == 0)
        return;
    for (uint32_t i = 0; i < r->workers.n; i++)
        n += tally_get(&r->workers.tallies[i]->pushed) +
             tally_get(&r->workers.tallies[i]->push_dropped);
    if (n > r->n_pushed || atomic_load(&r->config.n_subscribers) == 0) {
        r->n_pushed = n;
        r->pushed_ns = world.now_ns;
    }
    LAW(world.now_ns < r->pushed_ns + most_wait_ns() + 20 * S / s->push_per_s,
        "nothing is pushed: %" PRIu64 " messages so far", n);
}

static void look(struct run *r, const struct scenario *s)
{
    grow_if_wanted(r);
    server_workers_look(&r->workers);
    if (world.now_ns >= r->calm_ns)
        calm_down(r);
    if (r->calm_ns != WORLD_NEVER)
        look_at_memory(r, s);
    look_at_requests(r, s);
    progress_check(most_wait_ns(), !r->is_paused);
    check_pushing(r, s);
}

static void lead(struct run *r, const struct scenario *s)
{
    r->begin_ns = r->pushed_ns = world.now_ns;
    r->calm_ns = r->begin_ns + 2 * s->duration_us * US;
    r->end_ns = r->calm_ns + CALM_NS + most_wait_ns();
    r->close_ns = some_time(s, s->closings);
    r->pause_ns = some_time(s, s->pauses);
    clients_begin(&r->config, r->fds, r->listeners.n, r->calm_ns);
    memory_refuse(s->malloc_ppm);
    clients_come();
    while (world.now_ns < r->end_ns) {
        fiber_sleep(world.now_ns + LOOK_NS);
        look(r, s);
    }
    clients_expect_closing();
}

/* --- from nothing to nothing --- */

static void begin(struct run *r, const struct scenario *s)
{
    memset(r, 0, sizeof *r);
    world_begin(s);
    fiber_begin();
    descriptor_begin();
    readiness_begin();
    refusal_begin();
    tcp_begin(&clients_end);
    ports_begin();
    tls_setup_begin();
    tls_claims_begin();
    memory_begin();
    configure(r, s);
    listen_to(r, s);
    clients_begin(&r->config, r->fds, r->listeners.n, WORLD_NEVER);
}

/* Closes listeners that no worker has taken over, because it did not start. */
static void close_listeners(const struct run *r)
{
    for (uint32_t i = 0; i < r->listeners.n; i++)
        if (descriptor_of(r->fds[i]) != NULL)
            close(r->fds[i]);
}

static void fill(struct drive_result *result)
{
    result->n_connections = clients_figures.n_accepted;
    result->n_failed = clients_figures.n_refused;
    result->n_queries = clients_figures.bytes_received;
    result->n_answered = clients_figures.bytes_sent;
    result->most_bytes = memory_most_bytes();
    result->trace = world.trace;
    result->simulated_ns = world_since_begin_ns();
    result->n_calls = world.n_calls;
    result->n_faults = world.n_faults;
}

int drive_program(const struct scenario *of_world, int argc, char **argv)
{
    (void)of_world, (void)argc, (void)argv;
    fputs("only of tcpclient\n", stderr);
    return 2;
}

void drive_print(const struct drive_result *r)
{
    printf("trace %016" PRIx64 ": %" PRIu64 " connections, %" PRIu64 " refused; %" PRIu64
           " bytes received, %" PRIu64 " sent; %" PRIu64 " calls, %" PRIu64
           " faults; %.6f s simulated; %" PRId64 " bytes\n",
           r->trace, r->n_connections, r->n_failed, r->n_queries, r->n_answered, r->n_calls,
           r->n_faults, (double)r->simulated_ns / 1e9, r->most_bytes);
}

void drive(const struct scenario *s, struct drive_result *result)
{
    static struct run run;
    struct run *r = &run;

    *result = (struct drive_result){.started = false};
    begin(r, s);
    result->started =
        server_workers_start(&r->workers, &r->config, &r->listeners, (uint32_t)s->workers,
                             (uint32_t)(s->workers + s->spare_workers)) == 0;
    if (result->started)
        lead(r, s);
    server_workers_stop(&r->workers);
    close_listeners(r);
    if (result->started)
        server_laws_check(s, &r->config, &r->workers);
    server_workers_free(&r->workers);
    source_limit_free(r->config.source_limit);
    LAW(memory_n_live() == 0, "%" PRId64 " allocations are left, of %" PRId64 " bytes",
        memory_n_live(), memory_live_bytes());
    LAW(descriptor_n_open() == 0, "%u descriptors are left", descriptor_n_open());
    LAW(tls_claims.n_live == 0, "%" PRId64 " TLS connections are left", tls_claims.n_live);
    fill(result);
    world_end();
}
