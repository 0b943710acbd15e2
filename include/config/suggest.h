/* SPDX-License-Identifier: MIT
 * suggest: finds the name that a mistyped word most likely means.  Pure. */
#ifndef TCPSCALER_CONFIG_SUGGEST_H
#define TCPSCALER_CONFIG_SUGGEST_H

#include <stddef.h>

/* The number of insertions, deletions, substitutions and swaps of neighbours that turn a (n_a
 * bytes) into b (n_b bytes): optimal string alignment distance.  Beyond SUGGEST_NAME_BYTES: the
 * longer length. */
unsigned suggest_distance(const char *a, size_t n_a, const char *b, size_t n_b);

#define SUGGEST_NAME_BYTES 48u

/* The best of several names for one word; initialise with {0} except for the word. */
struct suggest {
    const char *word;
    size_t n_word;
    const char *name; /* NULL: none is close enough */
    unsigned distance;
};

/* Considers a name: it is close enough within a third of the word's length, at least 1.  On a tie
 * the first one stays. */
void suggest_consider(struct suggest *s, const char *name);

#endif
