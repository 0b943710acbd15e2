/* SPDX-License-Identifier: MIT
 * tally: see measure/tally.h. */
#include "measure/tally.h"

_Static_assert(sizeof(struct tally) % sizeof(tally_count) == 0,
               "the structure is an array of counts");

void tally_add_all(tally_count *into, const tally_count *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tally_add(&into[i], tally_get(&from[i]));
}

void tally_merge(struct tally *into, const struct tally *from)
{
    tally_add_all((tally_count *)into, (const tally_count *)from,
                  sizeof *into / sizeof(tally_count));
}

uint64_t tally_sent(const struct tally *t)
{
    uint64_t sum = 0;

    for (int class = 0; class < TALLY_N_CLASSES; class ++)
        sum += tally_get(&t->queries[class].sent);
    return sum;
}

#define ADD_COUNT(count, word, which) sum += tally_get(&q->count);

uint64_t tally_ended_unanswered(const struct tally_queries *q)
{
    uint64_t sum = 0;

    TALLY_UNANSWERED(ADD_COUNT)
    return sum;
}

static uint64_t sum_outcomes(const tally_count counts[OUTCOME_N_PHASES][OUTCOME_N_REASONS])
{
    uint64_t sum = 0;

    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        for (int r = 0; r < OUTCOME_N_REASONS; r++)
            sum += tally_get(&counts[p][r]);
    return sum;
}

static uint64_t sum_codes(const struct tally *t)
{
    uint64_t sum = 0;

    for (int code = 0; code < QUERY_N_CODES; code++)
        sum += tally_get(&t->answers.by_code[code]);
    return sum;
}

uint64_t tally_connections_ended(const struct tally *t)
{
    return sum_outcomes(t->connections.ended);
}

uint64_t tally_connections_failed(const struct tally *t)
{
    uint64_t sum = 0;

    for (int r = 0; r < OUTCOME_N_REASONS; r++)
        if (outcome_remedy((enum outcome_reason)r) != NULL)
            sum += tally_connections_by_reason(t, (enum outcome_reason)r);
    return sum;
}

uint64_t tally_connections_by_reason(const struct tally *t, enum outcome_reason reason)
{
    uint64_t sum = 0;

    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        sum += tally_get(&t->connections.ended[p][reason]);
    return sum;
}

const char *tally_check_queries(const struct tally_queries *q)
{
    if (tally_get(&q->scheduled) != tally_get(&q->sent) + tally_get(&q->unsent))
        return "scheduled queries = sent + unsent";
    if (tally_get(&q->sent) != tally_get(&q->answered) + tally_ended_unanswered(q))
        return "sent queries = answered + timed out + failed + cancelled";
    return NULL;
}

static void raise_to(tally_count *count, uint64_t least)
{
    if (tally_get(count) < least)
        tally_add(count, least - tally_get(count));
}

uint64_t tally_settle_queries(struct tally_queries *q)
{
    const uint64_t n_ended = tally_get(&q->answered) + tally_ended_unanswered(q);

    raise_to(&q->sent, n_ended);
    raise_to(&q->scheduled, tally_get(&q->sent) + tally_get(&q->unsent));
    return tally_get(&q->sent) - n_ended;
}

const char *tally_check(const struct tally *t, uint64_t connections_requested,
                        uint64_t histogram_count, uint64_t histogram_beyond)
{
    const struct tally_queries *measured = &t->queries[TALLY_MEASURED];
    const char *law = NULL;

    if (tally_connections_ended(t) != connections_requested + tally_get(&t->connections.reopened))
        return "connections requested and reopened = outcomes of connections";
    for (int class = 0; class < TALLY_N_CLASSES && law == NULL; class ++)
        law = tally_check_queries(&t->queries[class]);
    if (law != NULL)
        return law;
    if (sum_codes(t) != tally_get(&measured->answered))
        return "answered queries = answers by response code";
    if (sum_outcomes(t->errors) != tally_get(&measured->error) + tally_get(&measured->unconnected))
        return "failed and unconnected queries = failures by outcome";
    if (tally_get(&measured->answered) + tally_get(&t->push.measured) != histogram_count)
        return "answered queries, messages = values in the response histogram";
    if (tally_get(&measured->scheduled) - tally_get(&measured->answered) +
            tally_get(&t->push.missed) !=
        histogram_beyond)
        return "unanswered queries, missed messages = samples beyond the response histogram";
    return NULL;
}

/* --- connections on demand --- */

static uint64_t sum_answered(const struct tally *t)
{
    uint64_t sum = 0;

    for (int class = 0; class < TALLY_N_CLASSES; class ++)
        sum += tally_get(&t->queries[class].answered);
    return sum;
}

const char *tally_check_demand(const struct tally *t, bool keepalive)
{
    const struct tally_demand *d = &t->demand;
    uint64_t ended = 0;

    for (int class = 0; class < TALLY_CARRIED_CLASSES; class ++)
        ended += tally_get(&d->carried_by[class]);
    if (tally_get(&d->requested) != tally_get(&t->connections.attempted) + tally_get(&d->withdrawn))
        return "connections requested on demand = attempted + withdrawn";
    if (tally_get(&d->opened) != ended)
        return "connections opened on demand = connections by queries carried";
    if (tally_sent(t) != tally_get(&d->reused) + tally_get(&d->waited))
        return "sent queries = on an open connection + after waiting for one";
    if (tally_sent(t) != tally_get(&d->carried))
        return "sent queries = queries carried by connections";
    if (keepalive && sum_answered(t) != tally_get(&d->keepalives) + tally_get(&d->no_keepalive) +
                                            tally_get(&d->bad_keepalive))
        return "answered queries = answers with, without and with a malformed keepalive timeout";
    return NULL;
}

/* Class k > 0 ends at 2^(k-1). */
unsigned tally_carried_class(uint64_t n_queries)
{
    if (n_queries <= 1)
        return (unsigned)n_queries;
    return 65u - (unsigned)__builtin_clzll(n_queries - 1);
}

uint64_t tally_carried_first(unsigned class)
{
    return class <= 1 ? class : (1ull << (class - 2)) + 1;
}

uint64_t tally_carried_last(unsigned class)
{
    return class == 0 ? 0 : 1ull << (class - 1);
}
