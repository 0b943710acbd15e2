/* SPDX-License-Identifier: MIT
 * drive: see drive.h. */
#include "drive.h"

#include "base/clock.h"
#include "client/intervals.h"
#include "client/result.h"
#include "client/steer.h"
#include "client/workers.h"
#include "descriptor.h"
#include "fiber.h"
#include "laws.h"
#include "ledger.h"
#include "ledger_push.h"
#include "memory.h"
#include "peer.h"
#include "peer_push.h"
#include "ports.h"
#include "setup.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define US 1000ull
#define S  1000000000ull

/* How often the main thread looks at the memory and at the first connections. */
#define LOOK_NS (20 * 1000000ull)

struct run {
    struct setup setup;
    struct client_workers workers;
    struct client_steer steer;
    struct client_intervals intervals;
    struct client_result *result;
    bool opens_all, started, stopped;
    uint64_t opened_ns, begin_ns, end_ns;
    uint64_t tick_ns, look_ns, step_ns, stop_ns; /* when next; WORLD_NEVER */
    uint64_t n_steps;
    uint64_t deadline_ns; /* of the stage that comes next */
};

static const struct client_workers *the_workers;

bool drive_is_drained(int fiber)
{
    for (uint32_t w = 0; the_workers != NULL && w < the_workers->n; w++)
        if ((int)the_workers->all[w].worker.thread == fiber)
            return client_stage_of(&the_workers->all[w].stages) == CLIENT_DRAINED;
    return false;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- time limits: a worker that misses one has lost a wake-up --- */

/* Timers of libevent are some milliseconds late, all are by the scenario; and a turn takes time. */
static uint64_t slack_ns(const struct scenario *s)
{
    return 10 * S + 1000 * s->wakeup_us * US + 100 * s->call_ns * (s->connections + 1000);
}

static uint64_t connecting_ns(const struct run *r, const struct scenario *s)
{
    const struct client_config *c = &r->setup.config;
    const uint64_t each_ns = c->connect_timeout_ns + c->timeout_ns + 10 * 1000000ull;
    const uint64_t window = c->connect_window / c->n_workers + 1;
    /* those that fail try again first, some many times */
    const uint64_t n_windows = (c->n_connections / window + 2) * (c->reconnect ? 100 : 1);

    return n_windows * each_ns +
           (s->connect_rate > 0 ? c->n_connections * S / s->connect_rate : 0) + slack_ns(s);
}

/* --- real time --- */

static struct timespec phase_began;

/* The phase that ends now. */
static void end_phase(struct drive_result *result, enum drive_phase phase)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    result->phases_s[phase] = (double)(now.tv_sec - phase_began.tv_sec) +
                              (double)(now.tv_nsec - phase_began.tv_nsec) / 1e9;
    phase_began = now;
}

/* --- what the main thread does --- */

static void stop(struct run *r, const struct scenario *s)
{
    world_trace("stop", 0, 0, 0);
    r->stopped = true;
    r->stop_ns = r->step_ns = WORLD_NEVER;
    r->deadline_ns = world.now_ns + slack_ns(s);
    client_workers_post(&r->workers, CLIENT_STOP, 0);
}

static void start_load(struct run *r, const struct scenario *s)
{
    const struct client_config *c = &r->setup.config;

    world_trace("start", 0, 0, 0);
    r->started = true;
    client_workers_deal_arrivals(&r->workers, client_config_keeps_opening(c) || c->targets != NULL);
    r->begin_ns = clock_now_ns() + s->settle_us * US;
    r->end_ns = r->begin_ns + client_config_load_ns(c);
    r->deadline_ns = r->end_ns + c->drain_ns + slack_ns(s) + connecting_ns(r, s);
    client_steer_begin(&r->steer, r->begin_ns, r->end_ns);
    ledger_push_span(r->begin_ns + c->warmup_ns, r->end_ns);
    client_workers_post(&r->workers, CLIENT_START, r->begin_ns);
    if (s->steps > 0)
        r->step_ns = r->begin_ns;
}

/* Changes by request, as of the control port. */
static void step(struct run *r, const struct scenario *s)
{
    const uint64_t gap_ns = s->duration_us * US / (s->steps + 1);
    uint64_t at_ns;

    switch (world_up_to(5)) {
    case 0:
    case 1:
        (void)client_steer_rate(&r->steer, (double)world_up_to(2 * s->rate_qps), &at_ns);
        break;
    case 2:
        (void)client_steer_pause(&r->steer, world_up_to(1), &at_ns);
        break;
    case 3:
        if (world_up_to(4) == 0)
            r->end_ns = client_steer_end(&r->steer);
        break;
    default:
        (void)client_steer_connections(
            &r->steer, 1 + (uint32_t)world_up_to(r->setup.config.n_connections - 1));
        break;
    }
    r->step_ns = ++r->n_steps < s->steps ? world.now_ns + world_up_to(2 * gap_ns) : WORLD_NEVER;
}

/* Returns whether all is over. */
static bool look_at_stage(struct run *r, const struct scenario *s)
{
    const enum client_stage stage = client_workers_stage(&r->workers);

    if (stage == CLIENT_DRAINED)
        return true;
    if (stage < CLIENT_CONNECTED || r->started || r->stopped)
        return false;
    if (!client_config_keeps_opening(&r->setup.config) &&
        CLIENT_WORKERS_GAUGE(&r->workers, n_live) == 0)
        stop(r, s);
    else
        start_load(r, s);
    return false;
}

/* The workers hold after the first window until a connection is usable. */
static void look_at_first_window(struct run *r, const struct scenario *s)
{
    const bool have_settled = client_workers_have_settled(&r->workers);

    if (r->opens_all || r->started || r->stopped ||
        client_workers_stage(&r->workers) >= CLIENT_CONNECTED)
        return;
    if (client_workers_may_go_on(&r->workers)) {
        r->opens_all = true;
        client_workers_post(&r->workers, CLIENT_OPEN_ALL, 0);
    } else if (have_settled) {
        stop(r, s);
    }
}

static void look_at_time(struct run *r, const struct scenario *s)
{
    const uint64_t now_ns = world.now_ns;

    LAW(now_ns < r->deadline_ns, "the workers are late: stage %d, %" PRIu64 " ns after opening",
        (int)client_workers_stage(&r->workers), now_ns - r->opened_ns);
    if (now_ns >= r->stop_ns)
        stop(r, s);
    if (now_ns >= r->step_ns)
        step(r, s);
    if (now_ns >= r->look_ns) {
        setup_look_at_memory(&r->setup, s);
        look_at_first_window(r, s);
        r->look_ns = s->memory_grant == 0 && r->started ? WORLD_NEVER : now_ns + LOOK_NS;
    }
    if (now_ns >= r->tick_ns) {
        if (r->started)
            client_intervals_tick(&r->intervals, clock_now_ns());
        r->tick_ns = now_ns + s->tick_us * US;
    }
}

/* Until something of it is due, or a worker has reached a stage. */
static void wait_for_workers(const struct run *r)
{
    const int fd = r->setup.config.wake_fd;

    if (descriptor_of(fd)->count == 0)
        fiber_sleep(least(least(r->tick_ns, r->look_ns),
                          least(least(r->step_ns, r->stop_ns), r->deadline_ns)));
    descriptor_of(fd)->count = 0;
}

static void lead(struct run *r, const struct scenario *s, struct drive_result *result)
{
    r->opened_ns = clock_now_ns();
    r->deadline_ns = r->opened_ns + connecting_ns(r, s);
    r->tick_ns = r->opened_ns + s->tick_us * US;
    r->look_ns = r->opened_ns + LOOK_NS;
    r->step_ns = WORLD_NEVER;
    r->stop_ns = s->stop_us > 0 ? r->opened_ns + s->stop_us * US : WORLD_NEVER;
    memory_refuse(s->malloc_ppm);
    client_workers_post(&r->workers, CLIENT_OPEN, r->opened_ns);
    for (bool had_started = false; !look_at_stage(r, s); had_started = r->started) {
        if (r->started && !had_started)
            end_phase(result, DRIVE_CONNECT);
        wait_for_workers(r);
        look_at_time(r, s);
    }
    client_workers_post(&r->workers, CLIENT_CLOSE, 0);
    client_workers_join(&r->workers);
    memory_refuse(0);
    end_phase(result, DRIVE_LOAD);
    client_intervals_finish(&r->intervals, clock_now_ns());
}

/* --- from nothing to nothing --- */

static void prepare(struct run *r, const struct scenario *s)
{
    struct client_config *c = &r->setup.config;

    setup_make(&r->setup, s);
    c->wake_fd = descriptor_new(DESCRIPTOR_EVENT);
    r->opens_all = client_config_keeps_opening(c);
    client_steer_init(&r->steer, c, &r->workers);
    c->targets = s->steps > 0 ? &r->steer.targets : NULL;
    r->result = calloc(1, sizeof *r->result);
    LAW(r->result != NULL && losses_init(&r->result->losses) == 0 &&
            client_intervals_init(&r->intervals, &r->workers, NULL, r->result->metrics,
                                  r->result->batches, clock_now_ns()) == 0,
        "no memory");
    for (int m = CLIENT_N_QUERY_METRICS; m < CLIENT_N_METRICS; m++)
        LAW(hist_init(&r->result->metrics[m]) == 0, "no memory");
    peer_begin(&c->query);
    peer_push_begin();
    ledger_begin(&c->query, c->timeout_ns);
}

static void release(struct run *r)
{
    client_workers_free(&r->workers);
    client_intervals_free(&r->intervals);
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        hist_free(&r->result->metrics[m]);
    losses_free(&r->result->losses);
    free(r->result);
    close(r->setup.config.wake_fd);
    setup_free(&r->setup);
}

static void fill(struct drive_result *result, const struct client_result *r)
{
    for (int class = 0; class < TALLY_N_CLASSES; class ++) {
        result->n_queries += ledger_sums.classes[class].sent;
        result->n_answered += ledger_sums.classes[class].answered;
        result->n_expired += ledger_sums.classes[class].expired;
        result->n_lost += ledger_sums.classes[class].lost;
    }
    result->n_connections = tally_get(&r->tally.connections.attempted);
    result->n_failed = tally_connections_failed(&r->tally);
}

struct scenario drive_random(uint64_t seed)
{
    return scenario_random(seed);
}

void drive_print(const struct drive_result *r)
{
    printf("trace %016" PRIx64 ": %" PRIu64 " connections, %" PRIu64 " failed; %" PRIu64
           " queries, %" PRIu64 " answered, %" PRIu64 " expired, %" PRIu64 " lost; %" PRIu64
           " calls, %" PRIu64 " faults; %.6f s simulated; %" PRId64 " bytes\n",
           r->trace, r->n_connections, r->n_failed, r->n_queries, r->n_answered, r->n_expired,
           r->n_lost, r->n_calls, r->n_faults, (double)r->simulated_ns / 1e9, r->most_bytes);
    printf("real time: prepare %.3f s, connect %.3f s, load %.3f s, merge %.3f s\n",
           r->phases_s[DRIVE_PREPARE], r->phases_s[DRIVE_CONNECT], r->phases_s[DRIVE_LOAD],
           r->phases_s[DRIVE_MERGE]);
}

void drive(const struct scenario *s, struct drive_result *result)
{
    static struct run run;
    struct run *r = &run;
    uint64_t last_sent_ns;

    memset(r, 0, sizeof *r);
    *result = (struct drive_result){.started = false};
    world_begin(s);
    fiber_begin();
    descriptor_begin();
    tcp_begin(&peer_end);
    ports_begin();
    memory_begin();
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &phase_began);
    prepare(r, s);
    the_workers = &r->workers;
    if (client_workers_start(&r->workers, &r->setup.config) == 0) {
        result->started = true;
        end_phase(result, DRIVE_PREPARE);
        lead(r, s, result);
        client_workers_connections(&r->workers, r->result);
        client_workers_collect(&r->workers, r->result, &last_sent_ns);
        end_phase(result, DRIVE_MERGE);
        ledger_end();
        laws_check(s, &r->setup.config, &r->workers, r->result, r->begin_ns, r->stopped);
        fill(result, r->result);
    }
    the_workers = NULL;
    release(r);
    LAW(memory_n_live() == 0, "%" PRId64 " allocations are left, of %" PRId64 " bytes",
        memory_n_live(), memory_live_bytes());
    LAW(descriptor_n_open() == 0, "%u descriptors are left", descriptor_n_open());
    result->most_bytes = memory_most_bytes();
    result->trace = world.trace;
    result->simulated_ns = world_since_begin_ns();
    result->n_calls = world.n_calls;
    result->n_faults = world.n_faults;
    world_end();
}
