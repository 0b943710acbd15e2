/* SPDX-License-Identifier: MIT
 * client_crew: see client/workers.h. */
#include "client/workers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int client_crew_start(struct client_crew *crew, const struct client_config *config)
{
    int error;

    crew->workers =
        aligned_alloc(CLIENT_WORKER_ALIGNMENT, config->n_workers * sizeof *crew->workers);
    crew->takes_arrivals = calloc(config->n_workers, sizeof *crew->takes_arrivals);
    if (crew->workers == NULL || crew->takes_arrivals == NULL)
        return -1;
    memset(crew->workers, 0, config->n_workers * sizeof *crew->workers);
    for (; crew->n < config->n_workers; crew->n++)
        if (client_worker_start(&crew->workers[crew->n], config, crew->n) != 0) {
            error = errno;
            client_crew_post(crew, CLIENT_CLOSE, 0);
            client_crew_join(crew);
            errno = error;
            return -1;
        }
    return 0;
}

void client_crew_join(struct client_crew *crew)
{
    for (uint32_t i = 0; i < crew->n; i++)
        client_worker_join(&crew->workers[i]);
}

void client_crew_free(struct client_crew *crew)
{
    for (uint32_t i = 0; i < crew->n; i++)
        client_worker_free(&crew->workers[i]);
    free(crew->workers);
    free(crew->takes_arrivals);
}

void client_crew_post(const struct client_crew *crew, enum client_message kind, uint64_t value)
{
    for (uint32_t i = 0; i < crew->n; i++)
        worker_post(&crew->workers[i].worker, (int)kind, value);
}

enum client_stage client_crew_stage(const struct client_crew *crew)
{
    int earliest = CLIENT_DRAINED;

    for (uint32_t i = 0; i < crew->n; i++) {
        int stage = atomic_load_explicit(&crew->workers[i].stage, memory_order_acquire);

        if (stage < earliest)
            earliest = stage;
    }
    return (enum client_stage)earliest;
}

void client_crew_deal_arrivals(struct client_crew *crew, bool to_all)
{
    for (uint32_t i = 0; i < crew->n; i++) {
        crew->takes_arrivals[i] = to_all || tally_get(&crew->workers[i].n_live) > 0;
        crew->workers[i].takes_arrivals = crew->takes_arrivals;
    }
}

static bool first_window_has_settled(const struct client_worker *cw)
{
    const uint64_t n_wanted = tally_get(&cw->population.n_wanted);
    const uint64_t n_first = n_wanted < cw->connect.window ? n_wanted : cw->connect.window;

    return tally_get(&cw->connect.n_first_settled) >= n_first;
}

/* Of this host: they say nothing about the server. */
static bool has_own_failures(const struct tally *t)
{
    static const enum outcome_reason own[] = {REASON_PORTS,      REASON_FDS,         REASON_MEMORY,
                                              REASON_PERMISSION, REASON_UNREACHABLE, REASON_SELF};
    uint64_t n = 0;

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        n += tally_connections_by_reason(t, own[i]);
    return n > 0;
}

bool client_crew_is_ignored(const struct client_crew *crew)
{
    for (uint32_t i = 0; i < crew->n; i++) {
        const struct client_worker *cw = &crew->workers[i];

        if (!first_window_has_settled(cw) || tally_get(&cw->tally.connections.proven) > 0 ||
            tally_get(&cw->n_live) > 0 || has_own_failures(&cw->tally))
            return false;
    }
    return true;
}

uint64_t client_crew_gauge(const struct client_crew *crew, size_t offset)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < crew->n; i++)
        sum += tally_get((const tally_count *)((const char *)&crew->workers[i] + offset));
    return sum;
}

void client_crew_tally(const struct client_crew *crew, struct tally *into)
{
    for (uint32_t i = 0; i < crew->n; i++)
        tally_merge(into, &crew->workers[i].tally);
}

void client_crew_connections(const struct client_crew *crew, struct client_result *result)
{
    result->connections_asked = CLIENT_CREW_GAUGE(crew, population.n_asked);
    result->connections_wanted = CLIENT_CREW_GAUGE(crew, population.n_wanted);
    result->connections_live = CLIENT_CREW_GAUGE(crew, n_live);
    result->connections_half_open = CLIENT_CREW_GAUGE(crew, n_half_open);
    result->connections_deaf = CLIENT_CREW_GAUGE(crew, n_deaf);
}

static void collect(const struct client_worker *cw, struct client_result *result)
{
    hist_merge(&result->metrics[CLIENT_CONNECT], &cw->connect_times);
    hist_merge(&result->metrics[CLIENT_HANDSHAKE], &cw->handshake_times);
    hist_merge(&result->metrics[CLIENT_MIN_RTT], &cw->min_rtts);
    losses_merge(&result->losses, &cw->losses);
    if (cw->lives.places != NULL)
        hist_merge(&result->metrics[CLIENT_GAP], &cw->gaps);
    if (cw->tls != NULL && result->tls_version == NULL) {
        result->tls_version = cw->tls->version;
        result->tls_cipher = cw->tls->cipher;
    }
    if (cw->listen.least_ns < result->push_least_ns)
        result->push_least_ns = cw->listen.least_ns;
    result->own_fd_tables &= cw->worker.own_fd_table;
}

void client_crew_collect(const struct client_crew *crew, struct client_result *result,
                         uint64_t *last_sent_ns)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;

    *last_sent_ns = 0;
    result->start.late_ns = UINT64_MAX;
    result->own_fd_tables = true;
    result->push_least_ns = INT64_MAX;
    client_crew_tally(crew, &result->tally);
    for (uint32_t i = 0; i < crew->n; i++) {
        const struct client_worker *cw = &crew->workers[i];

        collect(cw, result);
        if (cw->connect.first_ns < first_ns)
            first_ns = cw->connect.first_ns;
        if (cw->connect.last_established_ns > last_ns)
            last_ns = cw->connect.last_established_ns;
        if (cw->load.last_sent_ns > 0 &&
            (result->start.late_ns == UINT64_MAX || cw->load.first_lag_ns > result->start.late_ns))
            result->start.late_ns = cw->load.first_lag_ns;
        if (cw->load.last_sent_ns > *last_sent_ns)
            *last_sent_ns = cw->load.last_sent_ns;
    }
    result->connect_elapsed_ns = last_ns > first_ns ? last_ns - first_ns : 0;
}

void client_crew_print_connections(const struct client_crew *crew, FILE *out, bool begun_only,
                                   uint64_t start_ns)
{
    fputs(CLIENT_RECORD_HEADER, out);
    for (uint32_t i = 0; i < crew->n; i++)
        for (uint32_t c = 0; c < crew->workers[i].n_conns; c++)
            if (!begun_only || crew->workers[i].records[c].connections > 0)
                client_record_print(out, &crew->workers[i].records[c],
                                    (uint64_t)crew->workers[i].first_conn + c, start_ns);
}
