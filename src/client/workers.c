/* SPDX-License-Identifier: MIT
 * client_workers: see client/workers.h. */
#include "client/workers.h"

#include "workload/identity.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int client_workers_start(struct client_workers *workers, const struct client_config *config)
{
    int error;

    workers->all = aligned_alloc(CLIENT_WORKER_ALIGNMENT, config->n_workers * sizeof *workers->all);
    workers->takes_arrivals = calloc(config->n_workers, sizeof *workers->takes_arrivals);
    workers->shares = calloc(config->n_workers, 2 * sizeof *workers->shares);
    if (workers->all == NULL || workers->takes_arrivals == NULL || workers->shares == NULL)
        return -1;
    memset(workers->all, 0, config->n_workers * sizeof *workers->all);
    for (; workers->n < config->n_workers; workers->n++)
        if (client_worker_start(&workers->all[workers->n], config, workers->n) != 0) {
            error = errno;
            client_workers_cancel(workers);
            errno = error;
            return -1;
        }
    return 0;
}

void client_workers_cancel(struct client_workers *workers)
{
    client_workers_post(workers, CLIENT_CLOSE, 0);
    client_workers_join(workers);
}

void client_workers_join(struct client_workers *workers)
{
    for (uint32_t i = 0; i < workers->n; i++)
        client_worker_join(&workers->all[i]);
}

void client_workers_free(struct client_workers *workers)
{
    for (uint32_t i = 0; i < workers->n; i++)
        client_worker_free(&workers->all[i]);
    free(workers->all);
    free(workers->takes_arrivals);
    free(workers->shares);
}

void client_workers_post(const struct client_workers *workers, enum client_message kind,
                         uint64_t value)
{
    for (uint32_t i = 0; i < workers->n; i++)
        worker_post(&workers->all[i].worker, (int)kind, value);
}

enum client_stage client_workers_stage(const struct client_workers *workers)
{
    int earliest = CLIENT_DRAINED;

    for (uint32_t i = 0; i < workers->n; i++) {
        const int stage = (int)client_stage_of(&workers->all[i].stages);

        if (stage < earliest)
            earliest = stage;
    }
    return (enum client_stage)earliest;
}

void client_workers_deal_arrivals(struct client_workers *workers, bool to_all)
{
    for (uint32_t i = 0; i < workers->n; i++) {
        workers->takes_arrivals[i] = to_all || tally_get(&workers->all[i].figures.n_live) > 0;
        workers->all[i].takes_arrivals = workers->takes_arrivals;
    }
}

/* A worker that has stopped opening connections because memory is short may have opened fewer than
 * a window. */
static bool first_window_has_settled(const struct client_worker *w)
{
    const struct client_figures *f = &w->figures;
    const uint64_t n_wanted = tally_get(&f->n_wanted);
    const uint64_t n_first = n_wanted < f->connect_window ? n_wanted : f->connect_window;

    return client_stage_of(&w->stages) >= CLIENT_CONNECTED ||
           atomic_load_explicit(&f->n_settled, memory_order_acquire) >= n_first;
}

uint64_t client_workers_own_failures(const struct tally *t)
{
    static const enum outcome_reason own[] = {REASON_PORTS,   REASON_FDS,        REASON_MEMORY,
                                              REASON_WATCHES, REASON_PERMISSION, REASON_ROUTE,
                                              REASON_SELF};
    uint64_t n = tally_get(&t->connections.ended[PHASE_BIND][REASON_UNREACHABLE]);

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        n += tally_connections_by_reason(t, own[i]);
    return n;
}

bool client_workers_may_go_on(const struct client_workers *workers)
{
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct client_figures *f = &workers->all[i].figures;

        if (tally_get(&f->n_ever_usable) > 0 || client_workers_own_failures(&f->tally) > 0)
            return true;
    }
    return false;
}

bool client_workers_have_settled(const struct client_workers *workers)
{
    for (uint32_t i = 0; i < workers->n; i++)
        if (!first_window_has_settled(&workers->all[i]))
            return false;
    return true;
}

uint64_t client_workers_gauge(const struct client_workers *workers, size_t offset)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < workers->n; i++)
        sum += tally_get((const tally_count *)((const char *)&workers->all[i].figures + offset));
    return sum;
}

void client_workers_tally(const struct client_workers *workers, struct tally *into)
{
    for (uint32_t i = 0; i < workers->n; i++)
        tally_merge(into, &workers->all[i].figures.tally);
}

void client_workers_class_tallies(const struct client_workers *workers, struct class_tally *into)
{
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct client_figures *f = &workers->all[i].figures;

        for (uint32_t k = 0; k < f->n_classes; k++)
            class_tally_merge(&into[k], &f->classes[k].tally);
    }
}

void client_workers_class_live(const struct client_workers *workers, uint64_t *live)
{
    for (uint32_t k = 0; k < CLIENT_CLASS_MOST; k++)
        live[k] = 0;
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct client_figures *f = &workers->all[i].figures;

        for (uint32_t k = 0; k < f->n_classes; k++)
            live[k] += tally_get(&f->classes[k].n_live);
    }
}

/* Requests go to the lowest slots of each worker; on demand, to any. */
static uint64_t last_connection(const struct client_workers *workers)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < workers->n; i++) {
        const struct client_worker *w = &workers->all[i];
        const uint64_t n = tally_get(&w->figures.n_requested);
        const uint64_t n_slots = n < w->n_conns && !w->config->on_demand ? n : w->n_conns;

        if (n_slots > 0)
            last = w->first_conn + n_slots - 1;
    }
    return last;
}

void client_workers_connections(const struct client_workers *workers, struct client_result *result)
{
    result->last_connection = last_connection(workers);
    result->connections_requested = CLIENT_WORKERS_GAUGE(workers, n_requested);
    result->connections_wanted = CLIENT_WORKERS_GAUGE(workers, n_wanted);
    result->connections_live = CLIENT_WORKERS_GAUGE(workers, n_live);
    result->connections_half_open = CLIENT_WORKERS_GAUGE(workers, n_half_open);
    result->connections_unresponsive = CLIENT_WORKERS_GAUGE(workers, n_unresponsive);
    client_workers_class_live(workers, result->class_live);
}

static void collect(const struct client_figures *f, struct client_result *result)
{
    hist_merge(&result->metrics[CLIENT_CONNECT], &f->connect_times);
    hist_merge(&result->metrics[CLIENT_HANDSHAKE], &f->handshake_times);
    hist_merge(&result->metrics[CLIENT_MIN_RTT], &f->min_rtts);
    losses_merge(&result->losses, &f->losses);
    timeout_counts_merge(&result->timeouts, &f->timeouts);
    hist_merge(&result->metrics[CLIENT_GAP], &f->gaps);
    hist_merge(&result->metrics[CLIENT_RECOVERY], &f->recoveries);
    if (result->tls_version == NULL) {
        result->tls_version = f->tls_version;
        result->tls_cipher = f->tls_cipher;
    }
    if (f->least_push_ns < result->push_least_ns)
        result->push_least_ns = f->least_push_ns;
    if (f->longest_hold_ns > result->longest_hold_ns)
        result->longest_hold_ns = f->longest_hold_ns;
}

uint64_t client_workers_stopped_ns(const struct client_workers *workers)
{
    uint64_t last_ns = 0;

    for (uint32_t i = 0; i < workers->n; i++)
        if (workers->all[i].figures.stopped_ns > last_ns)
            last_ns = workers->all[i].figures.stopped_ns;
    return last_ns;
}

void client_workers_collect(const struct client_workers *workers, struct client_result *result,
                            uint64_t *last_sent_ns, uint64_t *last_unblocked_ns)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;

    *last_sent_ns = *last_unblocked_ns = 0;
    result->start.late_ns = UINT64_MAX;
    result->own_fd_tables = true;
    result->push_least_ns = INT64_MAX;
    client_workers_tally(workers, &result->tally);
    client_workers_class_tallies(workers, result->class_tallies);
    /* again: more may have been requested at the very end */
    result->connections_requested = CLIENT_WORKERS_GAUGE(workers, n_requested);
    for (uint32_t i = 0; i < workers->n; i++) {
        const struct client_figures *f = &workers->all[i].figures;

        collect(f, result);
        result->own_fd_tables &= workers->all[i].worker.own_fd_table;
        if (f->first_connect_ns < first_ns)
            first_ns = f->first_connect_ns;
        if (f->last_established_ns > last_ns)
            last_ns = f->last_established_ns;
        if (f->last_sent_ns > 0 &&
            (result->start.late_ns == UINT64_MAX || f->first_lag_ns > result->start.late_ns))
            result->start.late_ns = f->first_lag_ns;
        if (f->last_sent_ns > *last_sent_ns)
            *last_sent_ns = f->last_sent_ns;
        if (f->last_unblocked_ns > *last_unblocked_ns)
            *last_unblocked_ns = f->last_unblocked_ns;
    }
    result->connect_elapsed_ns = last_ns > first_ns ? last_ns - first_ns : 0;
}

static void print_connection(FILE *out, const struct client_worker *w, uint32_t slot,
                             uint64_t start_ns)
{
    const struct client_config *config = w->config;
    const struct client_class *class = client_class_of_slot(
        config->classes, config->n_classes, config->n_workers, w->worker.index, slot);
    struct client_record_about about = {
        .connection_id = (uint64_t)w->first_conn + slot,
        .origin_ns = start_ns,
        .class_name = class != NULL ? class->name : NULL,
        .udp = config->socket.datagrams,
    };
    struct srcplan_tuple identity;

    if (config->proxy != PROXY_HEADER_NONE) {
        identity = identity_of(&config->identities, about.connection_id);
        about.identity = &identity;
    }
    client_record_print(out, &w->figures.records[slot], &about);
}

void client_workers_print_connections(const struct client_workers *workers, FILE *out,
                                      bool begun_only, uint64_t start_ns)
{
    fputs(CLIENT_RECORD_HEADER, out);
    for (uint32_t i = 0; i < workers->n; i++)
        for (uint32_t c = 0; c < workers->all[i].n_conns; c++)
            if (!begun_only || workers->all[i].figures.records[c].connections > 0)
                print_connection(out, &workers->all[i], c, start_ns);
}
