/* SPDX-License-Identifier: MIT
 * client_find_server: see client/find_server.h. */
#include "client/find_server.h"

#include "base/units.h"

/* Longer than from the end of a trial's load to its judgment, when no answer comes either. */
#define SILENT_NS UNITS_NS_PER_S

/* Late answers count: the server is overloaded, not gone.  Without proofs, a connection in the
 * accept queue of a server that hangs counts as usable, too. */
static uint64_t count_served(const struct client_find *f)
{
    const struct client_workers *w = f->workers;
    const uint64_t n_answers = CLIENT_WORKERS_GAUGE(w, tally.late) +
                               CLIENT_WORKERS_GAUGE(w, tally.queries[TALLY_WARMUP].answered) +
                               CLIENT_WORKERS_GAUGE(w, tally.queries[TALLY_MEASURED].answered);

    return f->settings->what == CLIENT_FIND_CONNECT_RATE
               ? n_answers
               : n_answers + CLIENT_WORKERS_GAUGE(w, n_ever_usable);
}

static uint64_t count_refused(const struct client_find *f)
{
    return CLIENT_WORKERS_GAUGE(f->workers, tally.connections.ended[PHASE_CONNECT][REASON_REFUSED]);
}

void client_find_server_look(struct client_find *f)
{
    const uint64_t n = count_served(f);

    if (n == f->n_served)
        return;
    f->n_served = n;
    f->served_ns = f->elapsed_ns;
    f->n_refused = count_refused(f);
}

static bool lacks_connections(const struct client_find *f)
{
    return f->settings->what != CLIENT_FIND_CONNECT_RATE &&
           CLIENT_WORKERS_GAUGE(f->workers, n_live) == 0;
}

static bool has_lost_all(const struct client_find_trial *t)
{
    return t->figures.n_due > 0 && t->n_lost >= t->figures.n_due;
}

bool client_find_server_is_gone(const struct client_find *f, uint64_t since_ns)
{
    struct tally now = {0};

    if (f->served_ns >= since_ns || f->n_served == 0)
        return false;
    client_workers_tally(f->workers, &now);
    return client_workers_own_failures(&now) == client_workers_own_failures(&f->before) &&
           (lacks_connections(f) || (f->search.n > 0 && has_lost_all(&f->trials[f->search.n - 1])));
}

bool client_find_server_refuses(const struct client_find *f)
{
    return f->n_served > 0 && f->elapsed_ns > f->served_ns + SILENT_NS &&
           count_refused(f) > f->n_refused && CLIENT_WORKERS_GAUGE(f->workers, n_live) == 0;
}

/* Returns the first trial that ended after the server had last answered. */
static size_t first_without_server(const struct client_find *f)
{
    size_t i = f->search.n > 0 ? f->search.n - 1 : 0;

    while (i > 0 && f->trials[i].begin_ns > f->served_ns)
        i--;
    return i;
}

void client_find_server_end(struct client_find *f)
{
    search_lose_server(&f->search, first_without_server(f));
}
