/* SPDX-License-Identifier: MIT
 * suggest: the name that a mistyped word most likely stands for.  Pure. */
#ifndef TCPSCALER_CONFIG_SUGGEST_H
#define TCPSCALER_CONFIG_SUGGEST_H

#include <stddef.h>

/* Insertions, deletions, substitutions and swaps of neighbours that turn a into b, both of n_a and
 * n_b bytes (optimal string alignment distance).  Beyond SUGGEST_NAME_BYTES: the longer length. */
unsigned suggest_distance(const char *a, size_t n_a, const char *b, size_t n_b);

#define SUGGEST_NAME_BYTES 48u

/* The best of several names for one word; to be filled with {0} but for the word. */
struct suggest {
    const char *word;
    size_t n_word;
    const char *name; /* NULL: none is near enough */
    unsigned distance;
};

/* Considers a name: near enough is a third of the word's length, at least 1.  Of equals the first
 * stays. */
void suggest_consider(struct suggest *s, const char *name);

#endif
