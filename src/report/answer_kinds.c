/* SPDX-License-Identifier: MIT
 * answer_kinds: see report/answer_kinds.h. */
#include "report/answer_kinds.h"

#include "report/plain.h"
#include "report/result.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Returns the position of a kind, or kinds->n. */
static size_t position_of(const struct answer_kinds *kinds, const char *name)
{
    size_t i = 0;

    while (i < kinds->n && strcmp(kinds->items[i].name, name) != 0)
        i++;
    return i;
}

static void add(struct answer_kinds *kinds, const char *name, uint64_t n_answers)
{
    const size_t i = position_of(kinds, name);

    if (i == ANSWER_KINDS_MOST) /* another program wrote the file */
        return;
    if (i == kinds->n)
        kinds->items[kinds->n++].name = name;
    kinds->items[i].n_answers += (double)n_answers;
    kinds->n_answers += (double)n_answers;
}

struct addition {
    struct answer_kinds *kinds;
    const struct json_object *rcodes;
};

static void add_rcode(void *arg, const char *name)
{
    const struct addition *addition = arg;
    uint64_t n_answers;

    if (result_u64(addition->rcodes, name, &n_answers))
        add(addition->kinds, name, n_answers);
}

void answer_kinds_add(struct answer_kinds *kinds, const struct json_object *result)
{
    struct addition addition = {kinds, result_find(result, "answers.rcodes")};
    uint64_t n_echoed;

    result_each_key(addition.rcodes, add_rcode, &addition);
    if (result_u64(result, "answers.echoed", &n_echoed))
        add(kinds, "echoed", n_echoed);
}

static double share_of(const struct answer_kinds *kinds, const char *name)
{
    const size_t i = position_of(kinds, name);

    return i < kinds->n ? kinds->items[i].n_answers / kinds->n_answers : 0;
}

bool answer_kinds_differ(const struct answer_kinds *a, const struct answer_kinds *b,
                         char text[ANSWER_KINDS_TEXT_BYTES])
{
    double gained = 0, most = 0;
    char name[PLAIN_BYTES];

    if (!(a->n_answers > 0) || !(b->n_answers > 0))
        return false;
    for (size_t i = 0; i < b->n; i++) {
        const double from = share_of(a, b->items[i].name), to = share_of(b, b->items[i].name);

        if (to <= from)
            continue;
        gained += to - from;
        if (to - from <= most)
            continue;
        most = to - from;
        snprintf(text, ANSWER_KINDS_TEXT_BYTES, "%.40s %.1f %% and %.1f %%",
                 plain(name, b->items[i].name), 100 * from, 100 * to);
    }
    return gained > ANSWER_KINDS_SHARE;
}
