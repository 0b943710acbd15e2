/* SPDX-License-Identifier: MIT
 * suggest: see config/suggest.h. */
#include "config/suggest.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned suggest_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned rows[3][SUGGEST_NAME_BYTES + 1]; /* rows for the last two letters of a, and for this
                                               * one */
    unsigned *before = rows[0], *previous = rows[1], *row = rows[2];

    if (n_a > SUGGEST_NAME_BYTES || n_b > SUGGEST_NAME_BYTES)
        return (unsigned)(n_a > n_b ? n_a : n_b);
    for (unsigned j = 0; j <= n_b; j++)
        row[j] = j;
    for (unsigned i = 1; i <= n_a; i++) {
        unsigned *oldest = before;

        before = previous;
        previous = row;
        row = oldest;
        row[0] = i;
        for (unsigned j = 1; j <= n_b; j++) {
            row[j] =
                least(least(previous[j], row[j - 1]) + 1, previous[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[n_b];
}

void suggest_consider(struct suggest *s, const char *name)
{
    const unsigned distance = suggest_distance(s->word, s->n_word, name, strlen(name));
    const size_t most = s->n_word >= 6 ? s->n_word / 3 : 1;

    if (distance > most || (s->name != NULL && distance >= s->distance))
        return;
    s->name = name;
    s->distance = distance;
}
