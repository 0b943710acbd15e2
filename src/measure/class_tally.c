/* SPDX-License-Identifier: MIT
 * class_tally: see measure/class_tally.h. */
#include "measure/class_tally.h"

_Static_assert(sizeof(struct class_tally) % sizeof(tally_count) == 0,
               "the structure is an array of counts");

void class_tally_merge(struct class_tally *into, const struct class_tally *from)
{
    tally_add_all((tally_count *)into, (const tally_count *)from,
                  sizeof *into / sizeof(tally_count));
}

static const char *broken_by_class(const struct class_tally *c, const struct class_values *values)
{
    const struct tally_queries *measured = &c->queries[TALLY_MEASURED];
    const char *law = NULL;

    if (tally_get(&c->attempted) != tally_get(&c->ended))
        return "connections of a class attempted = ended";
    for (int purpose = 0; purpose < TALLY_N_CLASSES && law == NULL; purpose++)
        law = tally_check_queries(&c->queries[purpose]);
    if (law != NULL)
        return law;
    if (tally_get(&measured->answered) != values->count)
        return "answered queries of a class = values in its response histogram";
    if (tally_get(&measured->scheduled) - tally_get(&measured->answered) != values->beyond)
        return "unanswered queries of a class = samples beyond its response histogram";
    return NULL;
}

static bool is_sum(const struct tally_queries *all, const struct tally_queries *sum)
{
    const tally_count *a = (const tally_count *)all, *b = (const tally_count *)sum;

    for (size_t i = 0; i < sizeof *all / sizeof *a; i++)
        if (tally_get(&a[i]) != tally_get(&b[i]))
            return false;
    return true;
}

static uint64_t refused(const struct tally *t)
{
    return tally_connections_by_reason(t, REASON_REFUSED) +
           tally_connections_by_reason(t, REASON_SELF);
}

static const char *broken_by_sum(const struct class_tally *sum, const struct tally *t)
{
    if (tally_get(&sum->attempted) != tally_get(&t->connections.attempted) ||
        tally_get(&sum->connected) != tally_get(&t->connections.connected) ||
        tally_get(&sum->secured) != tally_get(&t->connections.secured) ||
        tally_get(&sum->proven) != tally_get(&t->connections.proven) ||
        tally_get(&sum->refused) != refused(t))
        return "connections of all classes = connections";
    for (int purpose = 0; purpose < TALLY_N_CLASSES; purpose++)
        if (!is_sum(&t->queries[purpose], &sum->queries[purpose]))
            return "queries of all classes = queries";
    return NULL;
}

const char *class_tally_check(const struct class_tally *classes, const struct class_values *values,
                              size_t n, const struct tally *t)
{
    struct class_tally sum = {0};
    const char *law = NULL;

    for (size_t i = 0; i < n && law == NULL; i++) {
        law = broken_by_class(&classes[i], &values[i]);
        class_tally_merge(&sum, &classes[i]);
    }
    return law != NULL ? law : broken_by_sum(&sum, t);
}
