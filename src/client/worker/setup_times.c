/* SPDX-License-Identifier: MIT
 * client_setup_times: see client/worker/setup_times.h. */
#include "client/worker/setup_times.h"

#include "base/clock.h"

#include <stdlib.h>

enum { OPENED, CONNECTED, SECURED, ANSWERED };

int client_setup_times_init(struct client_figures *f, uint32_t n)
{
    f->setup_times = calloc(n, sizeof *f->setup_times);
    return f->setup_times != NULL ? 0 : -1;
}

/* Returns NULL if the connection is not measured. */
static struct client_setup_times *measured(const struct client_conn *c)
{
    struct client_setup_times *all = c->transport->figures->setup_times;
    struct client_setup_times *times = all != NULL ? &all[client_conn_slot(c)] : NULL;

    return times != NULL && times->due_ns > 0 ? times : NULL;
}

static void record(const struct client_conn *c, enum client_metric metric, uint64_t ns)
{
    hist_record(&c->transport->figures->metrics[metric], ns);
}

void client_setup_times_opened(struct client_conn *c, uint64_t due_ns)
{
    struct client_setup_times *all = c->transport->figures->setup_times;
    struct client_record *kept = client_conn_record(c);

    if (all == NULL)
        return;
    all[client_conn_slot(c)] = (struct client_setup_times){due_ns, c->connect_start_ns, OPENED};
    if (due_ns > 0)
        record(c, CLIENT_OPEN_LAG, c->connect_start_ns - due_ns);
    if (kept != NULL) {
        kept->due_ns = due_ns;
        kept->answered_ns = 0;
    }
}

void client_setup_times_connected(struct client_conn *c, uint64_t now_ns)
{
    struct client_setup_times *times = measured(c);

    if (times == NULL)
        return;
    times->reached = CONNECTED;
    record(c, CLIENT_DUE_CONNECTED, now_ns - times->due_ns);
}

void client_setup_times_secured(struct client_conn *c, uint64_t now_ns)
{
    struct client_setup_times *times = measured(c);

    if (times == NULL)
        return;
    times->reached = SECURED;
    record(c, CLIENT_DUE_SECURED, now_ns - times->due_ns);
}

void client_setup_times_answered(struct client_conn *c)
{
    struct client_setup_times *times = measured(c);
    struct client_record *kept = client_conn_record(c);
    uint64_t now_ns;

    if (times == NULL)
        return;
    now_ns = clock_now_ns();
    times->reached = ANSWERED;
    record(c, CLIENT_DUE_ANSWERED, now_ns - times->due_ns);
    record(c, CLIENT_OPEN_ANSWERED, now_ns - times->opened_ns);
    if (kept != NULL)
        kept->answered_ns = now_ns;
}

/* Counts the steps that a connection did not reach.  asks: it sends a query. */
static void count_beyond(struct client_transport *t, int reached, bool uses_tls, bool asks)
{
    struct hist *metrics = t->figures->metrics;

    if (reached < CONNECTED)
        hist_record_beyond(&metrics[CLIENT_DUE_CONNECTED], 1);
    if (reached < SECURED && uses_tls)
        hist_record_beyond(&metrics[CLIENT_DUE_SECURED], 1);
    if (reached < ANSWERED && asks) {
        hist_record_beyond(&metrics[CLIENT_DUE_ANSWERED], 1);
        hist_record_beyond(&metrics[CLIENT_OPEN_ANSWERED], 1);
    }
}

void client_setup_times_ended(struct client_conn *c)
{
    struct client_setup_times *times = measured(c);

    if (times == NULL)
        return;
    count_beyond(c->transport, times->reached, client_conn_uses_tls(c),
                 client_conn_needs_proof(c) || c->transport->config->conn_per_query);
    times->due_ns = 0;
}

void client_setup_times_missed(struct client_transport *t)
{
    if (t->figures->setup_times == NULL)
        return;
    hist_record_beyond(&t->figures->metrics[CLIENT_OPEN_LAG], 1);
    count_beyond(t, OPENED, t->tls != NULL, true);
}

uint64_t client_setup_times_open_lag_ns(const struct client_conn *c)
{
    const struct client_setup_times *times = measured(c);

    return times != NULL ? times->opened_ns - times->due_ns : 0;
}
