/* SPDX-License-Identifier: MIT
 * id_set: a set of 16-bit ids that finds the next id not in it in constant time: a bitmap, with
 * bitmaps of its full words above.  Pure; one owner.  8.1 KiB. */
#ifndef TCPSCALER_WORKLOAD_ID_SET_H
#define TCPSCALER_WORKLOAD_ID_SET_H

#include <stdint.h>

enum { ID_SET_WORDS = 65536 / 64, ID_SET_GROUPS = ID_SET_WORDS / 64 };

/* All zero: empty. */
struct id_set {
    uint64_t words[ID_SET_WORDS];   /* bit i % 64 of word i / 64: id i is in the set */
    uint64_t groups[ID_SET_GROUPS]; /* likewise: word i is full */
    uint64_t full;                  /* group i is full */
};

void id_set_add(struct id_set *s, uint16_t id);
void id_set_remove(struct id_set *s, uint16_t id);

/* Returns the first id from `from` on, wrapping around, that is not in the set.  There must be one.
 */
uint16_t id_set_next_free(const struct id_set *s, uint16_t from);

#endif
