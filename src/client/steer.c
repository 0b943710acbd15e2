/* SPDX-License-Identifier: MIT
 * client_steer: see client/steer.h. */
#include "client/steer.h"

#include "base/clock.h"
#include "base/units.h"
#include "client/workers.h"
#include "workload/spread.h"

#include <stdlib.h>

/* Workers read their mailbox between turns: after a few milliseconds at worst, on a loaded host. */
#define LEAD_NS (50 * UNITS_NS_PER_MS)

/* Older steps have been sent or are late; only their mean rate is kept. */
#define PAST_NS UNITS_NS_PER_S

/* A difference smaller than this part of the mean is a rounding error. */
#define ROUNDING 1e-9

void client_steer_init(struct client_steer *s, const struct client_config *config,
                       struct client_workers *workers)
{
    *s = (struct client_steer){.config = config, .workers = workers};
    pthread_mutex_init(&s->targets.lock, NULL);
    s->targets.schedule = s->requested = config->schedule;
    s->targets.end_ns = PACER_NEVER;
    s->targets.n_connections = config->n_at_begin;
    s->targets.queries_per_conn = config->queries_per_conn;
}

void client_steer_begin(struct client_steer *s, uint64_t begin_ns, uint64_t end_ns)
{
    s->begin_ns = s->changed_ns = begin_ns;
    s->targets.measure_ns = begin_ns + s->config->warmup_ns;
    s->targets.end_ns = end_ns;
}

/* Notifies the workers of a change. */
static void notify_workers(struct client_steer *s)
{
    atomic_fetch_add_explicit(&s->targets.version, 1, memory_order_release);
    client_workers_post(s->workers, CLIENT_STEER, 0);
}

bool client_steer_is_followed(const struct client_steer *s)
{
    for (uint32_t i = 0; i < s->workers->n; i++)
        if (atomic_load_explicit(&s->workers->all[i].targets.reached, memory_order_acquire) !=
            s->targets.version)
            return false;
    return true;
}

/* Returns when a change made now takes effect. */
static uint64_t moment_ns(const struct client_steer *s)
{
    const uint64_t at_ns = clock_now_ns() + LEAD_NS;

    return at_ns > s->begin_ns ? at_ns : s->begin_ns;
}

/* Warm-up and measurement stay separate, because the mean of the latter is reported. */
static void forget_past(struct schedule *schedule, uint64_t warmup_ns, uint64_t past_ns)
{
    if (past_ns > 0 && warmup_ns > 0)
        schedule_flatten(schedule, 0, past_ns < warmup_ns ? past_ns : warmup_ns);
    if (past_ns > warmup_ns)
        schedule_flatten(schedule, warmup_ns, past_ns);
}

/* The number of queries that the schedule has between two times. */
static double n_between(const struct client_steer *s, uint64_t from_ns, uint64_t until_ns)
{
    return until_ns > from_ns
               ? schedule_mean_between_qps(&s->targets.schedule, from_ns - s->begin_ns,
                                           until_ns - s->begin_ns) *
                     (double)(until_ns - from_ns) / 1e9
               : 0;
}

/* The number of queries after the warm-up, due until then, that are not measured: the first ones of
 * trials. */
static double n_discarded(const struct client_steer *s, uint64_t until_ns)
{
    const uint64_t warm_ns = s->begin_ns + s->config->warmup_ns;
    const uint64_t from_ns = s->changed_ns > warm_ns ? s->changed_ns : warm_ns;

    return s->n_discarded +
           n_between(s, from_ns,
                     until_ns < s->targets.measure_ns ? until_ns : s->targets.measure_ns);
}

/* Makes `rest` take effect at a given time; queries due at measure_ns or later are measured. */
static int replace_rest(struct client_steer *s, const struct schedule *rest, uint64_t at_ns,
                        uint64_t measure_ns)
{
    const uint64_t passed_ns = at_ns - s->begin_ns;
    const double discarded = n_discarded(s, at_ns);
    struct schedule schedule = s->targets.schedule;

    forget_past(&schedule, s->config->warmup_ns, passed_ns > PAST_NS ? passed_ns - PAST_NS : 0);
    if (schedule_replace_rest(&schedule, passed_ns, rest) != 0)
        return -1;
    pthread_mutex_lock(&s->targets.lock);
    s->targets.schedule = schedule;
    s->targets.measure_ns = measure_ns;
    pthread_mutex_unlock(&s->targets.lock);
    s->changed = true;
    s->changed_ns = at_ns;
    s->n_discarded = discarded;
    notify_workers(s);
    return 0;
}

int client_steer_rate(struct client_steer *s, double qps, uint64_t *at_ns)
{
    struct schedule requested;

    *at_ns = moment_ns(s);
    schedule_constant(&requested, schedule_duration_ns(&s->config->schedule), qps);
    if (!s->paused && replace_rest(s, &requested, *at_ns, s->targets.measure_ns) != 0)
        return -1;
    s->requested = requested;
    return 0;
}

int client_steer_trial(struct client_steer *s, double qps, uint64_t discard_ns,
                       uint64_t duration_ns, uint64_t *at_ns)
{
    struct schedule trial = {.n = 3};

    *at_ns = moment_ns(s);
    trial.segments[0] = (struct pacer_segment){*at_ns - s->begin_ns, 0, 0};
    trial.segments[1] = (struct pacer_segment){
        duration_ns == PACER_NEVER ? PACER_NEVER : discard_ns + duration_ns, qps, qps};
    trial.segments[2] = (struct pacer_segment){PACER_NEVER, 0, 0};
    return replace_rest(s, &trial, *at_ns, *at_ns + discard_ns);
}

int client_steer_trial_end(struct client_steer *s, uint64_t *at_ns)
{
    struct schedule silence;

    *at_ns = moment_ns(s);
    schedule_constant(&silence, PACER_NEVER, 0);
    return replace_rest(s, &silence, *at_ns, s->targets.measure_ns);
}

/* The measured part of the last pause until then. */
static uint64_t last_pause_ns(const struct client_steer *s, uint64_t until_ns)
{
    const uint64_t measure_ns = s->begin_ns + s->config->warmup_ns;
    const uint64_t first_ns = s->paused_since_ns > measure_ns ? s->paused_since_ns : measure_ns;
    const uint64_t end_ns = s->paused || s->resumed_ns > until_ns ? until_ns : s->resumed_ns;

    return end_ns > first_ns ? end_ns - first_ns : 0;
}

int client_steer_pause(struct client_steer *s, bool paused, uint64_t *at_ns)
{
    struct schedule silence;

    *at_ns = moment_ns(s);
    if (paused == s->paused)
        return 0;
    schedule_constant(&silence, schedule_duration_ns(&s->config->schedule), 0);
    if (replace_rest(s, paused ? &silence : &s->requested, *at_ns, s->targets.measure_ns) != 0)
        return -1;
    if (paused) {
        s->paused_ns += last_pause_ns(s, s->resumed_ns);
        s->paused_since_ns = *at_ns;
    } else {
        s->resumed_ns = *at_ns;
    }
    s->paused = paused;
    return 0;
}

/* Sets a field of the targets. */
static void set(struct client_steer *s, uint32_t *field, uint32_t value)
{
    pthread_mutex_lock(&s->targets.lock);
    *field = value;
    pthread_mutex_unlock(&s->targets.lock);
    notify_workers(s);
}

/* Tells each worker how many of n connections it has to have. */
static void spread(const struct client_steer *s, uint32_t n)
{
    const uint32_t n_workers = s->workers->n;
    uint32_t *has = s->workers->shares, *wanted = has + n_workers;

    for (uint32_t i = 0; i < n_workers; i++)
        has[i] = (uint32_t)tally_get(&s->workers->all[i].figures.n_live);
    spread_connections(n, n_workers, has, wanted);
    for (uint32_t i = 0; i < n_workers; i++)
        atomic_store_explicit(&s->workers->all[i].targets.n_connections, wanted[i],
                              memory_order_relaxed);
}

int client_steer_connections(struct client_steer *s, uint32_t n)
{
    if (!client_steer_is_followed(s))
        return -1;
    spread(s, n);
    set(s, &s->targets.n_connections, n);
    return 0;
}

int client_steer_queries_per_conn(struct client_steer *s, uint32_t n)
{
    if (!client_steer_is_followed(s))
        return -1;
    set(s, &s->targets.queries_per_conn, n);
    return 0;
}

int client_steer_size(struct client_steer *s, uint32_t index)
{
    if (!client_steer_is_followed(s))
        return -1;
    set(s, &s->targets.size, index);
    return 0;
}

uint64_t client_steer_end(struct client_steer *s)
{
    const uint64_t at_ns = moment_ns(s);

    if (at_ns < s->targets.end_ns) {
        pthread_mutex_lock(&s->targets.lock);
        s->targets.end_ns = at_ns;
        pthread_mutex_unlock(&s->targets.lock);
        notify_workers(s);
    }
    return s->targets.end_ns;
}

double client_steer_rate_qps(const struct client_steer *s, uint64_t now_ns)
{
    return now_ns >= s->begin_ns && now_ns < s->targets.end_ns
               ? schedule_rate_qps(&s->targets.schedule, now_ns - s->begin_ns)
               : 0;
}

double client_steer_n_due(const struct client_steer *s, uint64_t until_ns)
{
    return n_between(s, s->begin_ns, until_ns < s->targets.end_ns ? until_ns : s->targets.end_ns);
}

double client_steer_mean_qps(const struct client_steer *s, uint64_t until_ns)
{
    const uint64_t warm_ns = s->begin_ns + s->config->warmup_ns;
    double all_qps, measured_qps;

    if (until_ns <= warm_ns)
        return 0;
    all_qps = schedule_mean_between_qps(&s->targets.schedule, s->config->warmup_ns,
                                        until_ns - s->begin_ns);
    measured_qps = all_qps - n_discarded(s, until_ns) * 1e9 / (double)(until_ns - warm_ns);
    return measured_qps > all_qps * ROUNDING ? measured_qps : 0;
}

double client_steer_requested_qps(const struct client_steer *s, double planned_qps,
                                  uint64_t measured_ns)
{
    const bool as_planned = !s->changed && measured_ns == s->config->duration_ns;

    if (as_planned || measured_ns == 0 || s->config->loop == CLIENT_LOOP_CLOSED)
        return planned_qps;
    return client_steer_mean_qps(s, s->begin_ns + s->config->warmup_ns + measured_ns);
}

uint64_t client_steer_paused_ns(const struct client_steer *s, uint64_t until_ns)
{
    return s->paused_ns + last_pause_ns(s, until_ns);
}
