/* SPDX-License-Identifier: MIT
 * laws_classes: see laws_classes.h. */
#include "laws_classes.h"

#include "classes.h"
#include "client/laws.h"
#include "client/result.h"
#include "ledger.h"
#include "ledger_tls.h"
#include "ledger_values.h"
#include "violation.h"
#include "workload/arrivals.h"

#include <inttypes.h>

/* --- figures --- */

static void check_queries(uint32_t k, enum tally_class class, const struct tally_queries *q)
{
    const struct ledger_class *l = &ledger_sums.of_clients[k][class];
    const uint64_t lost = tally_get(&q->error) + tally_get(&q->cancelled);

    LAW(tally_get(&q->sent) == l->sent && tally_get(&q->answered) == l->answered &&
            tally_get(&q->timeout) == l->expired && lost == l->lost,
        "class %u, %d: sent %" PRIu64 ", answered %" PRIu64 ", expired %" PRIu64 ", lost %" PRIu64
        "; in truth %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
        k, (int)class, tally_get(&q->sent), tally_get(&q->answered), tally_get(&q->timeout), lost,
        l->sent, l->answered, l->expired, l->lost);
}

static void check_class(uint32_t k, const struct class_tally *t,
                        const struct client_class_times *times)
{
    const struct tally_queries *q = &t->queries[TALLY_MEASURED];
    const uint64_t answered = tally_get(&q->answered);

    for (int class = 0; class < TALLY_N_CLASSES; class ++)
        check_queries(k, (enum tally_class) class, &t->queries[class]);
    ledger_values_check(LEDGER_VALUES_RESPONSE(k), &times->response,
                        tally_get(&q->scheduled) - answered);
    ledger_values_check(LEDGER_VALUES_SERVICE(k), &times->service, tally_get(&q->sent) - answered);
    LAW(tally_get(&t->secured) == ledger_tls_sums.n_secured_of[k],
        "class %u: secured %" PRIu64 ", not %" PRIu64, k, tally_get(&t->secured),
        ledger_tls_sums.n_secured_of[k]);
}

void laws_check_classes(const struct client_config *config, const struct client_result *r)
{
    const char *broken = client_laws_broken_by_classes(r, config->n_classes);

    LAW(broken == NULL, "the product's own law: %s", broken);
    for (uint32_t k = 0; classes_have_ports() && k < config->n_classes; k++)
        check_class(k, &r->class_tallies[k], &r->class_times[k]);
}

/* --- arrivals --- */

/* The arrivals of class k, or of all, as a single worker has them. */
static void start_arrivals(struct arrivals *a, const struct client_config *config, uint32_t k,
                           uint64_t begin_ns)
{
    const struct client_class *class = config->n_classes > 0 ? &config->classes[k] : NULL;
    const int select = class != NULL ? class->select : config->select;
    const struct arrivals_config one = {
        .arrival = (enum pacer_arrival)(class != NULL ? class->arrival : config->arrival),
        .segments = config->schedule.segments,
        .n_segments = config->schedule.n,
        .part = class != NULL ? class->part : 1,
        .none_at_start = class == NULL && config->population.n > 0 &&
                         config->schedule.segments[0].rate_begin_qps == 0,
        .seed = class != NULL ? client_class_seed(config->seed, k) : config->seed,
        .random = select == CLIENT_SELECT_RANDOM,
        .n_connections = class != NULL ? class->n_connections : config->n_connections,
        .n_workers = 1,
    };

    a->pacer.next_ns = PACER_NEVER;
    if (one.part > 0)
        arrivals_start(a, &one, begin_ns);
}

/* Returns how many arrivals class k, or all, had. */
static uint64_t check_sent(const struct client_config *config, uint32_t k, uint64_t begin_ns)
{
    const uint64_t end_ns = begin_ns + client_config_load_ns(config);
    uint64_t n_scheduled = 0;
    size_t n_sent, i = 0;
    const uint64_t *sent = ledger_values_due(k, &n_sent);
    struct arrivals a;

    for (start_arrivals(&a, config, k, begin_ns); a.pacer.next_ns < end_ns; arrivals_advance(&a)) {
        n_scheduled++;
        if (sent != NULL && i < n_sent && sent[i] == a.pacer.next_ns)
            i++;
    }
    LAW(sent == NULL || i == n_sent,
        "class %u: a query was sent that was due at no arrival: %" PRIu64 " ns after the start", k,
        sent[i < n_sent ? i : 0] - begin_ns);
    return n_scheduled;
}

void laws_check_arrivals(const struct client_config *config, const struct client_result *r,
                         uint64_t begin_ns)
{
    for (uint32_t k = 0; classes_have_ports() && k < classes_n(); k++) {
        const struct tally_queries *all =
            config->n_classes > 0 ? r->class_tallies[k].queries : r->tally.queries;
        const uint64_t n =
            tally_get(&all[TALLY_MEASURED].scheduled) + tally_get(&all[TALLY_WARMUP].scheduled);
        const uint64_t expected = check_sent(config, k, begin_ns);

        LAW(n == expected, "class %u: %" PRIu64 " scheduled queries, not %" PRIu64, k, n, expected);
    }
}
