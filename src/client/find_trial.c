/* SPDX-License-Identifier: MIT
 * client_find_trial: see client/find_trial.h. */
#include "client/find_trial.h"

#include "base/units.h"
#include "client/exceeding.h"
#include "client/find_growth.h"
#include "measure/latency.h"

#include <math.h>
#include <string.h>

/* At least one query in this many must be answered within a window of the recovery. */
#define RECOVERED_PART 2u

static void count_so_far(const struct client_find *f, struct tally *now)
{
    memset(now, 0, sizeof *now);
    client_workers_tally(f->workers, now);
}

static uint64_t since(const tally_count *now, const tally_count *before)
{
    return tally_get(now) - tally_get(before);
}

void client_find_trial_begin(struct client_find *f)
{
    count_so_far(f, &f->before);
    client_accept_queue_read(&f->queue_before, f->config);
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_reset(&f->recorded[m]);
    client_find_growth_reset(f);
    memset(f->collected, 0, sizeof f->collected);
    memset(f->shares, 0, sizeof f->shares);
}

uint64_t client_find_trial_latest_ns(const struct client_find *f)
{
    const uint64_t connect_ns = f->config->conn_per_query ? f->config->connect_timeout_ns : 0;

    return connect_ns + f->config->timeout_ns;
}

uint64_t client_find_trial_open(const struct client_find *f)
{
    struct tally now;
    uint64_t n = 0;

    count_so_far(f, &now);
    for (int c = TALLY_WARMUP; c <= TALLY_MEASURED; c++) {
        const struct tally_queries *q = &now.queries[c];

        n += tally_get(&q->scheduled) - tally_get(&q->unsent) - tally_get(&q->answered) -
             tally_ended_unanswered(q);
    }
    return n;
}

uint64_t client_find_trial_events(const struct client_find *f)
{
    struct tally now;

    count_so_far(f, &now);
    return tally_get(&now.queries[TALLY_WARMUP].scheduled) +
           tally_get(&now.queries[TALLY_MEASURED].scheduled) + tally_get(&now.late);
}

/* --- figures --- */

static bool opens_connections(const struct client_find *f)
{
    return f->settings->what == CLIENT_FIND_CONNECT_RATE;
}

/* Connections that failed because of this host, which says nothing about the server. */
static uint64_t n_not_opened(const struct client_find *f, const struct tally *now)
{
    return client_workers_own_failures(now) - client_workers_own_failures(&f->before);
}

static bool reopens_connections(const struct client_find *f)
{
    return f->config->queries_per_conn > 0 || f->config->on_demand;
}

/* Returns how many queries this host may have lost or delayed because it could not open
 * connections: one for each if every query needs a connection of its own, any number of them if
 * connections are reopened after some queries.  In other searches n_not_opened is 0: the
 * connections that an overload cost are reopened, and do not count. */
static uint64_t n_unopened(const struct client_find *f, const struct client_find_trial *t)
{
    return opens_connections(f)          ? t->figures.n_not_opened
           : t->figures.n_not_opened > 0 ? t->figures.n_due + t->n_lost
                                         : 0;
}

/* Returns half the width of the confidence interval of the share; 0: unknown.  The first intervals
 * and the losses counted in the drain, which are in no batch yet, form one more batch. */
static double share_error(const struct batch_means *shares, const struct trial_exceeding *whole)
{
    struct batch_means all = *shares;
    uint64_t of = whole->of;
    double n = (double)whole->n, error;

    for (uint32_t i = 0; i < shares->n; i++) {
        of -= shares->batches[i].count;
        n -= shares->batches[i].sum;
    }
    if (of > 0)
        batch_means_add(&all, of, n / (double)of);
    error = batch_means_error(&all, 90);
    return isnan(error) ? 0 : error;
}

static void fill_connecting(const struct client_find *f, struct client_find_trial *t,
                            const struct tally *now)
{
    struct client_accept_queue queue;

    t->live = CLIENT_WORKERS_GAUGE(f->workers, n_live);
    t->figures.n_not_opened = n_not_opened(f, now);
    t->n_without_port = tally_connections_by_reason(now, REASON_PORTS) -
                        tally_connections_by_reason(&f->before, REASON_PORTS);
    t->syn_retransmits =
        since(&now->connections.syn_retransmits, &f->before.connections.syn_retransmits);
    client_accept_queue_read(&queue, f->config);
    t->overflows = client_accept_queue_overflows(&f->queue_before, &queue);
    if (f->config->tls == NULL)
        return;
    t->handshakes = since(&now->connections.secured, &f->before.connections.secured);
    t->resumed = since(&now->connections.resumed, &f->before.connections.resumed);
}

void client_find_trial_fill_connecting(const struct client_find *f, struct client_find_trial *t)
{
    struct tally now;

    count_so_far(f, &now);
    fill_connecting(f, t, &now);
}

/* Queries that ended without an answer.  Some were due before: in the recovery from an overload.
 * Without a drain those in flight count as lost; in a recovery they may still be answered. */
static uint64_t n_lost(const struct client_find *f, const struct client_find_trial *t,
                       const struct tally_queries *now)
{
    const struct tally_queries *before = &f->before.queries[TALLY_MEASURED];
    const uint64_t answered = since(&now->answered, &before->answered);
    const uint64_t lost = since(&now->unsent, &before->unsent) + tally_ended_unanswered(now) -
                          tally_ended_unanswered(before);

    return t->drained || t->figures.n_due < answered + lost ? lost : t->figures.n_due - answered;
}

/* The length of a window of the recovery, or the planned length of the trial.  It sets the limit on
 * this host's delays: the actual length of a bad trial that ended early would make the limit so low
 * that the trial would be void. */
static uint64_t planned_ns(const struct client_find *f)
{
    return f->order.step == SEARCH_RECOVER ? f->end_ns - f->measure_ns : f->order.duration_ns;
}

void client_find_trial_fill(const struct client_find *f, struct client_find_trial *t)
{
    const bool over_tls = f->config->tls != NULL;
    const struct hist *response = &f->recorded[CLIENT_RESPONSE];
    const struct tally_queries *before = &f->before.queries[TALLY_MEASURED];
    struct client_exceeding_input in;
    struct tally now;

    count_so_far(f, &now);
    t->figures.n_due = since(&now.queries[TALLY_MEASURED].scheduled, &before->scheduled);
    t->n_lost = n_lost(f, t, &now.queries[TALLY_MEASURED]);
    fill_connecting(f, t, &now);
    if (!opens_connections(f) && !reopens_connections(f))
        t->figures.n_not_opened = t->n_without_port = 0;
    t->n_not_begun = f->recorded[CLIENT_OPEN_LAG].beyond;
    in = (struct client_exceeding_input){
        .metrics = f->recorded,
        .over_tls = over_tls,
        .own = opens_connections(f) ? CLIENT_OPEN_LAG : CLIENT_OWN,
        .length_ns = planned_ns(f),
        .n_lost = t->n_lost,
        .n_own = n_unopened(f, t) + since(&now.datagrams.dropped, &f->before.datagrams.dropped),
        .n_own_connections = t->figures.n_not_opened,
    };
    client_exceeding_count(&f->settings->slo, &in, &t->figures);
    for (unsigned i = 0; i < f->settings->slo.n; i++)
        t->figures.goals[i].error = share_error(&f->shares[i], &t->figures.goals[i]);
    t->figures.grew = client_find_growth_was_seen(f, client_find_trial_latest_ns(f));
    t->p50_ns = latency_percentile_ns(response, 1, 2);
    t->p99_ns = latency_percentile_ns(response, 99, 100);
    if (opens_connections(f))
        t->connect_p99_ns =
            latency_percentile_ns(&f->recorded[client_exceeding_connecting(over_tls)], 99, 100);
}

/* Queries in flight do not count as lost yet. */
static struct trial_figures figures_so_far(const struct client_find *f)
{
    struct client_find_trial so_far = {.drained = true};

    client_find_trial_fill(f, &so_far);
    return so_far.figures;
}

/* Whether the last interval collected, or the one before it, whose times were recorded, began
 * before losses were counted as fast as they occur: a lost query counts when it times out. */
static bool lacks_losses(const struct client_find *f)
{
    return f->intervals->previous_ns <
           f->measure_ns + client_find_trial_latest_ns(f) + UNITS_NS_PER_S;
}

void client_find_trial_add_interval(struct client_find *f)
{
    const struct trial_figures now = figures_so_far(f);
    const bool is_batch = !lacks_losses(f);

    for (unsigned i = 0; i < f->settings->slo.n; i++) {
        const uint64_t n = now.goals[i].n - f->collected[i].n;
        const uint64_t of = now.goals[i].of - f->collected[i].of;

        if (of == 0)
            continue;
        if (is_batch)
            batch_means_add(&f->shares[i], of, (double)n / (double)of);
        f->collected[i] = now.goals[i];
    }
}

/* Where queries open connections, those that this host never began are known once they are
 * collected; until then they are not to be taken for losses of the server. */
static void leave_out_losses_to_collect(const struct client_find *f, struct trial_figures *now)
{
    const uint64_t n_collected = f->recorded[CLIENT_RESPONSE].beyond;

    for (unsigned i = 0; i < f->settings->slo.n; i++)
        if (f->settings->slo.goals[i].metric == SLO_LOST && now->goals[i].n > n_collected)
            now->goals[i].n = n_collected;
}

bool client_find_trial_is_decided(const struct client_find *f, uint64_t n_all)
{
    struct trial_figures now = figures_so_far(f);

    if (opens_connections(f))
        leave_out_losses_to_collect(f, &now);
    return trial_is_lost(&f->settings->slo, &now, n_all) ||
           trial_is_void(&f->settings->slo, &now, n_all);
}

bool client_find_trial_shows_recovery(const struct client_find *f,
                                      const struct client_find_trial *t)
{
    return f->recorded[CLIENT_RESPONSE].count * RECOVERED_PART >= t->figures.n_due &&
           trial_judge(&f->settings->slo, &t->figures).class == TRIAL_GOOD;
}

bool client_find_trial_is_void(const struct client_find *f, const struct client_find_trial *t)
{
    return trial_judge(&f->settings->slo, &t->figures).class == TRIAL_VOID;
}
