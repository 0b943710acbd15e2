/* SPDX-License-Identifier: MIT
 * client_find: see client/find.h. */
#include "client/find.h"

#include "base/units.h"
#include "client/find_growth.h"
#include "client/find_server.h"
#include "client/find_trial.h"
#include "client/search/search_bounds.h"
#include "client/search/search_names.h"
#include "measure/latency.h"

#include <stdio.h>

/* A trial is drained once every query has its outcome and no late answer has arrived for this long.
 */
#define QUIET_NS (100 * UNITS_NS_PER_MS)

/* A trial that is not drained this long after the timeout of its last query is judged anyway. */
#define DRAIN_NS (5 * UNITS_NS_PER_S)

/* Missing connections are given up if their number has not fallen for the connect timeout plus
 * this. */
#define OPENING_EXTRA_NS UNITS_NS_PER_S

/* A trial that can no longer be good runs to its end if less than this is left. */
#define WORTH_ENDING_NS UNITS_NS_PER_S

/* The recovery is judged in windows of this length. */
#define WINDOW_NS UNITS_NS_PER_S

enum phase { IDLE, OPENING, LOADED, ENDING, DRAINING, COLLECTING, OVER };

/* --- the search --- */

int client_find_init(struct client_find *f, const struct client_config *run,
                     struct client_steer *steer, struct client_workers *workers,
                     struct client_intervals *intervals)
{
    const struct search_config config = client_find_settings_search(f->settings, run->n_workers);

    f->config = run;
    f->steer = steer;
    f->workers = workers;
    f->intervals = intervals;
    f->n_connections = run->n_at_begin;
    search_init(&f->search, &config);
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        if (hist_init(&f->recorded[m]) != 0)
            return -1;
    f->intervals->also = f->recorded;
    return 0;
}

void client_find_free(struct client_find *f)
{
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_free(&f->recorded[m]);
}

void client_find_begin(struct client_find *f, uint64_t begin_ns)
{
    f->begin_ns = begin_ns;
    f->phase = IDLE;
}

void client_find_stop(struct client_find *f)
{
    search_stop(&f->search, SEARCH_STOPPED);
    f->phase = OVER;
}

/* --- phases --- */

static void enter(struct client_find *f, enum phase phase, uint64_t now_ns)
{
    f->phase = (int)phase;
    f->quiet_since_ns = now_ns;
    f->n_seen = UINT64_MAX;
}

static void over(struct client_find *f)
{
    f->phase = OVER;
}

/* How long connections may be missing. */
static uint64_t opening_timeout_ns(const struct client_find *f)
{
    return f->config->connect_timeout_ns + OPENING_EXTRA_NS;
}

static void end_without_server(struct client_find *f)
{
    client_find_server_end(f);
    over(f);
}

/* Ends a search without another trial.  Where none judged whether the server was still there, it is
 * gone if it refuses connections. */
static void end(struct client_find *f)
{
    const bool is_unjudged = f->search.reason == SEARCH_TIME || f->order.step == SEARCH_OVERLOAD ||
                             f->order.step == SEARCH_RECOVER;

    if (f->search.n > 0 && (client_find_server_is_gone(f, f->trials[f->search.n - 1].begin_ns) ||
                            (is_unjudged && client_find_server_refuses(f))))
        end_without_server(f);
    else
        over(f);
}

static bool is_unconnected(const struct client_find *f)
{
    return CLIENT_WORKERS_GAUGE(f->workers, n_ever_usable) == 0;
}

/* Takes the outcome of the trial and goes on with the next one, unless no connection has ever been
 * usable, or none is left: then neither this trial nor any other says anything about a load. */
static void take(struct client_find *f, struct trial_judgment judgment, uint64_t now_ns)
{
    search_take(&f->search, judgment);
    enter(f, IDLE, now_ns);
    if (f->search.n == 1 && is_unconnected(f)) {
        search_stop(&f->search, SEARCH_UNCONNECTED);
        over(f);
    } else if (f->elapsed_ns > opening_timeout_ns(f) &&
               client_find_server_is_gone(f, f->elapsed_ns - opening_timeout_ns(f))) {
        end_without_server(f);
    }
}

static uint64_t n_wanted(const struct client_find *f)
{
    return f->settings->what == CLIENT_FIND_CONNECTIONS ? (uint64_t)f->order.load
                                                        : f->n_connections;
}

static void next_trial(struct client_find *f, uint64_t now_ns)
{
    if (f->settings->what == CLIENT_FIND_CONNECTIONS && !client_steer_is_followed(f->steer))
        return;
    if (!search_next(&f->search, f->elapsed_ns, &f->order)) {
        if (f->order.step == SEARCH_OVERLOAD) /* no time is left to measure the recovery */
            enter(f, ENDING, now_ns);
        else
            end(f);
        return;
    }
    if (f->settings->what == CLIENT_FIND_CONNECTIONS) /* followed, as seen above: cannot fail */
        (void)client_steer_connections(f->steer, (uint32_t)f->order.load);
    f->trials[f->search.n] = (struct client_find_trial){.begin_ns = f->elapsed_ns,
                                                        .p50_ns = LATENCY_UNKNOWN,
                                                        .p99_ns = LATENCY_UNKNOWN,
                                                        .connect_p99_ns = LATENCY_UNKNOWN,
                                                        .overflows = HOST_COUNTERS_UNKNOWN,
                                                        .handshakes = UINT64_MAX,
                                                        .resumed = UINT64_MAX,
                                                        .drained = true};
    client_find_trial_begin(f);
    enter(f, OPENING, now_ns);
}

static double rate_qps(const struct client_find *f)
{
    return f->settings->what == CLIENT_FIND_CONNECTIONS ? f->settings->rate_qps : f->order.load;
}

/* If there were too many changes within a second, retries at the next look. */
static void send_load(struct client_find *f)
{
    const double qps = rate_qps(f);
    const bool recovers = f->order.step == SEARCH_RECOVER;
    const uint64_t discarded_ns = recovers ? 0 : client_find_settings_discard_ns(f->settings);
    const uint64_t length_ns = f->order.duration_ns;
    int failed;

    client_find_trial_begin(f);
    if (f->order.step == SEARCH_OVERLOAD) /* the recovery follows without a pause */
        failed =
            client_steer_trial(f->steer, qps, UNITS_NS_PER_S * 3600, PACER_NEVER, &f->trial_ns);
    else
        failed = client_steer_trial(f->steer, qps, discarded_ns, length_ns, &f->trial_ns);
    if (failed)
        return;
    f->measure_ns = f->trial_ns + discarded_ns;
    f->end_ns = f->measure_ns + (recovers ? WINDOW_NS : length_ns);
    f->phase = LOADED;
}

/* Missing connections were lost in an earlier trial or cannot be opened, or the server closes them
 * as fast as they are opened again: a number that only varies is no progress. */
static void wait_for_connections(struct client_find *f, uint64_t now_ns)
{
    const uint64_t n_live = CLIENT_WORKERS_GAUGE(f->workers, n_live), n = n_wanted(f);
    const uint64_t n_off = n_live > n ? n_live - n : n - n_live;
    const bool counts = f->settings->what == CLIENT_FIND_CONNECTIONS;

    if (n_off == 0 || f->order.step == SEARCH_RECOVER) {
        send_load(f);
        return;
    }
    if (n_off < f->n_seen) {
        f->n_seen = n_off;
        f->quiet_since_ns = now_ns;
    }
    if (f->elapsed_ns > f->settings->time_ns) {
        if (client_find_server_is_gone(f, f->trials[f->search.n].begin_ns))
            client_find_server_end(f);
        search_stop(&f->search, is_unconnected(f) ? SEARCH_UNCONNECTED : SEARCH_TIME);
        over(f);
    } else if (now_ns - f->quiet_since_ns > opening_timeout_ns(f)) {
        client_find_trial_fill_connecting(f, &f->trials[f->search.n]);
        if (counts)
            search_held(&f->search, (double)n_live);
        search_ended_early(&f->search, 0);
        take(f, (struct trial_judgment){counts ? TRIAL_BAD : TRIAL_VOID, TRIAL_CONNECTIONS, 0},
             now_ns);
    }
}

/* Ends a trial that can no longer be good, which leaves time for others. */
static void end_decided_trial(struct client_find *f, uint64_t now_ns)
{
    const double length_s = (double)f->order.duration_ns / (double)UNITS_NS_PER_S;

    if (now_ns + WORTH_ENDING_NS > f->end_ns ||
        !client_find_trial_is_decided(f, trial_most_queries(rate_qps(f) * length_s)) ||
        client_steer_trial_end(f->steer, &f->end_ns) != 0)
        return;
    search_ended_early(&f->search, f->end_ns - f->measure_ns);
    client_find_growth_reset(f);
}

/* Checks the trial whenever an interval was collected. */
static void look_at_interval(struct client_find *f, uint64_t now_ns)
{
    if (f->order.step == SEARCH_OVERLOAD || f->order.step == SEARCH_RECOVER ||
        f->collected_ns == f->intervals->last_ns)
        return;
    f->collected_ns = f->intervals->last_ns;
    client_find_trial_add_interval(f);
    end_decided_trial(f, now_ns);
}

static void watch_load(struct client_find *f, uint64_t now_ns)
{
    client_find_growth_sample_timeouts(f, client_find_trial_latest_ns(f), now_ns);
    if (now_ns >= f->measure_ns && now_ns < f->end_ns) {
        client_find_growth_sample(f, now_ns);
        look_at_interval(f, now_ns);
    }
    if (now_ns < f->end_ns)
        return;
    if (f->order.step == SEARCH_OVERLOAD) {
        f->trials[f->search.n].live = CLIENT_WORKERS_GAUGE(f->workers, n_live);
        search_take(&f->search, (struct trial_judgment){TRIAL_VOID, TRIAL_NOTHING_MEASURED, 0});
        enter(f, IDLE, now_ns);
    } else {
        enter(f, f->order.step == SEARCH_RECOVER ? COLLECTING : DRAINING, now_ns);
        if (f->phase == COLLECTING)
            client_intervals_tick(f->intervals, now_ns);
    }
}

static void drain(struct client_find *f, uint64_t now_ns)
{
    const uint64_t latest_ns = f->end_ns + client_find_trial_latest_ns(f) + DRAIN_NS;
    const uint64_t n_seen = client_find_trial_events(f);

    client_find_growth_sample_timeouts(f, client_find_trial_latest_ns(f), now_ns);
    if (n_seen != f->n_seen || client_find_trial_open(f) > 0) {
        f->n_seen = n_seen;
        f->quiet_since_ns = now_ns;
    }
    if (now_ns - f->quiet_since_ns < QUIET_NS && now_ns < latest_ns)
        return;
    if (f->order.step == SEARCH_RECOVER) { /* judged before */
        enter(f, IDLE, now_ns);
        return;
    }
    if (f->order.step == SEARCH_OVERLOAD) { /* the last order */
        end(f);
        return;
    }
    f->trials[f->search.n].drained = now_ns - f->quiet_since_ns >= QUIET_NS;
    enter(f, COLLECTING, now_ns);
    client_intervals_tick(f->intervals, now_ns);
}

/* An overload and the recovery from it request their load for longer than they last; the next
 * search must begin without that load.  If there were too many changes within a second, retries
 * when it is called again. */
static void end_load(struct client_find *f, uint64_t now_ns)
{
    if (client_steer_trial_end(f->steer, &f->end_ns) == 0)
        enter(f, DRAINING, now_ns);
}

/* Whether the server recovers is unknown if the last window is void, or if the time left was too
 * short for a verdict. */
static void judge_recovery(struct client_find *f, const struct client_find_trial *t,
                           uint64_t now_ns)
{
    const uint64_t passed_ns = f->measure_ns - f->trial_ns;
    const bool holds = client_find_trial_shows_recovery(f, t);
    const bool is_last = passed_ns + 2 * WINDOW_NS > f->order.duration_ns;

    if (holds)
        search_take_recovery(&f->search, passed_ns);
    else if (is_last && f->order.duration_ns >= SEARCH_RECOVER_NS &&
             !client_find_trial_is_void(f, t))
        search_take_recovery(&f->search, SEARCH_NEVER);
    if (holds || is_last) {
        enter(f, ENDING, now_ns);
        return;
    }
    client_find_trial_begin(f);
    f->measure_ns += WINDOW_NS;
    f->end_ns += WINDOW_NS;
    f->phase = LOADED;
}

static struct trial_judgment judge(const struct client_find *f, const struct client_find_trial *t)
{
    const struct slo *slo = &f->settings->slo;

    return f->order.step == SEARCH_CONFIRM ? trial_judge_proof(slo, &t->figures)
                                           : trial_judge(slo, &t->figures);
}

static void collect(struct client_find *f, uint64_t now_ns)
{
    struct client_find_trial *t = &f->trials[f->search.n];

    if (!client_intervals_are_handed_over(f->intervals))
        return;
    client_intervals_tick(f->intervals, now_ns);
    client_find_trial_fill(f, t);
    if (f->order.step == SEARCH_RECOVER) {
        judge_recovery(f, t, now_ns);
        return;
    }
    take(f, judge(f, t), now_ns);
}

bool client_find_look(struct client_find *f, uint64_t now_ns)
{
    if (f->phase != OVER && now_ns > f->begin_ns)
        f->elapsed_ns = now_ns - f->begin_ns;
    client_find_server_look(f);
    switch ((enum phase)f->phase) {
    case IDLE:
        next_trial(f, now_ns);
        break;
    case OPENING:
        wait_for_connections(f, now_ns);
        break;
    case LOADED:
        watch_load(f, now_ns);
        break;
    case ENDING:
        end_load(f, now_ns);
        break;
    case DRAINING:
        drain(f, now_ns);
        break;
    case COLLECTING:
        collect(f, now_ns);
        break;
    case OVER:
        break;
    }
    return f->phase != OVER;
}

void client_find_describe(const struct client_find *f, char *text, size_t n_bytes)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    double lower, upper;
    size_t n;

    search_bounds(&f->search, &lower, &upper);
    n = (size_t)snprintf(text, n_bytes, "trial %zu (%s) at %s%s, ", f->search.n + 1,
                         search_step_name(f->order.step), units_format_decimal(a, f->order.load),
                         f->settings->what == CLIENT_FIND_CONNECTIONS ? "" : "/s");
    if (n >= n_bytes)
        return;
    if (upper > 0)
        snprintf(text + n, n_bytes - n, "limit %s to %s", units_format_decimal(a, lower),
                 units_format_decimal(b, upper));
    else
        snprintf(text + n, n_bytes - n, "limit above %s", units_format_decimal(a, lower));
}
