/* SPDX-License-Identifier: MIT
 * main_thread: see main_thread.h. */
#include "main_thread.h"

#include "base/clock.h"
#include "client/run_progress.h"
#include "client/run_result.h"
#include "client/run_stages.h"
#include "client/run_state.h"
#include "descriptor.h"
#include "laws.h"
#include "ledger.h"
#include "ledger_push.h"
#include "memory.h"
#include "readiness.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define US 1000ull
#define S  1000000000ull

/* What the world requires of the main thread. */
enum due { STOP, STEP, TICK };

struct main_thread {
    const struct client_config *config;
    struct drive_result *result;
    struct client_run_state *state; /* of client_run(); NULL: it is not running */
    unsigned due;                   /* bit set */
    uint64_t n_steps;
    uint64_t deadline_ns; /* of the stage that comes next */
    uint64_t gate_ns;     /* when the load is to begin; 0: at any time */
};

static struct main_thread main_thread;

/* --- time limits: a worker that misses one has lost a wake-up --- */

/* Timers of libevent are some milliseconds late, all are by the scenario; and a turn takes time. */
static uint64_t slack_ns(void)
{
    const struct scenario *s = &world.scenario;

    return 10 * S + 1000 * s->wakeup_us * US + 100 * s->call_ns * (s->connections + 1000);
}

static uint64_t connecting_ns(void)
{
    const struct client_config *c = main_thread.config;
    const uint64_t opening_ns = c->connect_timeout_ns * (c->tls != NULL ? 2 : 1);
    const uint64_t each_ns = opening_ns + c->timeout_ns + 10 * 1000000ull;
    const uint64_t least = c->connect_window / c->n_workers; /* of a worker */
    const uint64_t window = least > 0 ? least : 1;
    /* those that fail try again first, some many times */
    const uint64_t n_windows = (c->n_connections / window + 2) * (c->reconnect ? 100 : 1);

    return n_windows * each_ns +
           (c->connect_rate_per_s > 0
                ? (uint64_t)((double)c->n_connections * 1e9 / c->connect_rate_per_s)
                : 0) +
           slack_ns();
}

static void on_deadline(uint64_t object, uint64_t arg)
{
    (void)object, (void)arg;
    if (main_thread.state == NULL)
        return;
    LAW(world.now_ns < main_thread.deadline_ns, "the workers are late: stage %d",
        (int)client_workers_stage(&main_thread.state->workers));
    world_at(main_thread.deadline_ns, on_deadline, 0, 0);
}

/* --- real time --- */

static struct timespec phase_began;

/* The phase that ends now. */
static void end_phase(enum drive_phase phase)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    main_thread.result->phases_s[phase] = (double)(now.tv_sec - phase_began.tv_sec) +
                                          (double)(now.tv_nsec - phase_began.tv_nsec) / 1e9;
    phase_began = now;
}

/* --- what happens --- */

/* Wakes the main thread: client_run_follow_stages() is called. */
static void on_due(uint64_t due, uint64_t arg)
{
    (void)arg;
    if (main_thread.state == NULL)
        return;
    main_thread.due |= 1u << due;
    descriptor_of(main_thread.config->wake_fd)->count++;
    readiness_changed(main_thread.config->wake_fd);
}

static void stop(struct client_run_state *r)
{
    if (r->stopped_ns != 0)
        return;
    world_trace("stop", 0, 0, 0);
    client_run_interrupt(r);
    main_thread.deadline_ns = world.now_ns + slack_ns();
}

/* Changes by request, as of the control port. */
static void step(struct client_run_state *r)
{
    const struct scenario *s = &world.scenario;
    const uint64_t gap_ns = s->duration_us * US / (s->steps + 1);
    uint64_t at_ns;

    if (r->stopped_ns != 0)
        return;
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
        (void)client_steer_connections(&r->steer,
                                       1 + (uint32_t)world_up_to(r->config->n_connections - 1));
        break;
    }
    if (++main_thread.n_steps < s->steps)
        world_at(world.now_ns + world_up_to(2 * gap_ns), on_due, STEP, 0);
}

static void tick(struct client_run_state *r)
{
    if (r->started)
        client_intervals_tick(&r->intervals, clock_now_ns());
    world_at(world.now_ns + world.scenario.tick_us * US, on_due, TICK, 0);
}

/* --- the main thread, seen at the calls between its parts --- */

void __real_client_run_follow_stages(struct client_run_state *r);
void __wrap_client_run_follow_stages(struct client_run_state *r);
int __real_client_workers_start(struct client_workers *workers, const struct client_config *config);
int __wrap_client_workers_start(struct client_workers *workers, const struct client_config *config);
void __real_client_workers_join(struct client_workers *workers);
void __wrap_client_workers_join(struct client_workers *workers);
void __real_client_steer_begin(struct client_steer *s, uint64_t begin_ns, uint64_t end_ns);
void __wrap_client_steer_begin(struct client_steer *s, uint64_t begin_ns, uint64_t end_ns);
void __real_client_run_collect(struct client_run_state *r);
void __wrap_client_run_collect(struct client_run_state *r);
void __wrap_client_run_prepare_progress(struct client_run_state *r, uint64_t now_ns);

void __wrap_client_run_prepare_progress(struct client_run_state *r, uint64_t now_ns)
{
    (void)now_ns;
    main_thread.state = r;
}

void __wrap_client_run_follow_stages(struct client_run_state *r)
{
    const unsigned due = main_thread.due;

    main_thread.due = 0;
    if (due & 1u << STOP)
        stop(r);
    if (due & 1u << STEP)
        step(r);
    if (due & 1u << TICK)
        tick(r);
    __real_client_run_follow_stages(r);
}

int __wrap_client_workers_start(struct client_workers *workers, const struct client_config *config)
{
    const struct scenario *s = &world.scenario;
    const uint64_t now_ns = world.now_ns;

    if (__real_client_workers_start(workers, config) != 0)
        return -1;
    end_phase(DRIVE_PREPARE);
    memory_refuse(s->malloc_ppm);
    main_thread.deadline_ns = now_ns + connecting_ns();
    if (main_thread.deadline_ns < main_thread.gate_ns + slack_ns())
        main_thread.deadline_ns = main_thread.gate_ns + slack_ns();
    world_at(main_thread.deadline_ns, on_deadline, 0, 0);
    world_at(now_ns + s->tick_us * US, on_due, TICK, 0);
    if (s->stop_us > 0)
        world_at(now_ns + s->stop_us * US, on_due, STOP, 0);
    return 0;
}

/* How much it may misread the other clock. */
static uint64_t clock_error_ns(void)
{
    const struct scenario *s = &world.scenario;

    return 2 * s->clock_step_ns + 20 * s->call_ns + 20 * s->preempt_permille * s->wakeup_us * US;
}

/* The load is about to begin. */
void __wrap_client_steer_begin(struct client_steer *steer, uint64_t begin_ns, uint64_t end_ns)
{
    const struct client_config *c = main_thread.config;

    __real_client_steer_begin(steer, begin_ns, end_ns);
    end_phase(DRIVE_CONNECT);
    world_trace("start", 0, 0, 0);
    LAW(main_thread.gate_ns == 0 || (begin_ns <= main_thread.gate_ns + clock_error_ns() &&
                                     begin_ns + clock_error_ns() >= main_thread.gate_ns),
        "the load begins %" PRId64 " ns late", (int64_t)(begin_ns - main_thread.gate_ns));
    main_thread.deadline_ns = end_ns + c->drain_ns + slack_ns() + connecting_ns();
    ledger_push_span(begin_ns + c->warmup_ns, end_ns);
    if (world.scenario.steps > 0)
        world_at(begin_ns, on_due, STEP, 0);
}

void __wrap_client_workers_join(struct client_workers *workers)
{
    __real_client_workers_join(workers);
    memory_refuse(0);
    end_phase(DRIVE_LOAD);
}

static void fill(const struct client_result *r)
{
    struct drive_result *result = main_thread.result;

    for (int class = 0; class < TALLY_N_CLASSES; class ++) {
        result->n_queries += ledger_sums.classes[class].sent;
        result->n_answered += ledger_sums.classes[class].answered;
        result->n_expired += ledger_sums.classes[class].expired;
        result->n_lost += ledger_sums.classes[class].lost;
    }
    result->n_connections = tally_get(&r->tally.connections.attempted);
    result->n_failed = tally_connections_failed(&r->tally);
    result->n_held = tally_get(&r->tally.connections.held);
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        result->p99_ns[m] = hist_percentile(&r->metrics[m], 99, 100);
}

void __wrap_client_run_collect(struct client_run_state *r)
{
    __real_client_run_collect(r);
    end_phase(DRIVE_MERGE);
    ledger_end();
    laws_check(&world.scenario, main_thread.config, &r->workers, r->result, r->begin_ns,
               r->stopped_ns != 0 || r->settings->sweep != NULL);
    fill(r->result);
    main_thread.state = NULL;
}

bool drive_is_drained(int fiber)
{
    const struct client_workers *workers =
        main_thread.state != NULL ? &main_thread.state->workers : NULL;

    for (uint32_t w = 0; workers != NULL && w < workers->n; w++)
        if ((int)workers->all[w].worker.thread == fiber)
            return client_stage_of(&workers->all[w].stages) == CLIENT_DRAINED;
    return false;
}

/* --- memory --- */

void __wrap_memory_watch_start(struct memory_watch *w, const char *proc,
                               const struct memory_ends *ends, enum memory_watch_reserve part);
void __wrap_memory_watch_look(struct memory_watch *w);
void __wrap_memory_watch_end(struct memory_watch *w);

/* Grants as much memory as the scenario has. */
void __wrap_memory_watch_start(struct memory_watch *w, const char *proc,
                               const struct memory_ends *ends, enum memory_watch_reserve part)
{
    const uint64_t n = world.scenario.memory_grant;

    (void)proc, (void)ends, (void)part;
    *w = (struct memory_watch){.meminfo_fd = -1};
    atomic_init(&w->grant, n > 0 ? (int64_t)n : INT64_MAX / 2);
}

void __wrap_memory_watch_look(struct memory_watch *w)
{
    if (world.scenario.memory_grant == 0 || atomic_load(&w->grant) > 0)
        return;
    atomic_store(&w->grant, 0);
    atomic_store(&w->is_short, true);
    atomic_store(&w->was_short, true);
}

void __wrap_memory_watch_end(struct memory_watch *w)
{
    (void)w;
}

/* --- the run --- */

void main_thread_begin(const struct client_config *config, struct drive_result *result)
{
    main_thread = (struct main_thread){.config = config, .result = result};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &phase_began);
}

void main_thread_expect_begin(uint64_t begin_ns)
{
    main_thread.gate_ns = begin_ns;
}

void main_thread_end(void)
{
    main_thread.state = NULL;
}
