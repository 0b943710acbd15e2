/* SPDX-License-Identifier: MIT
 * server_tally: see server_tally.h. */
#include "server_tally.h"

#include <stddef.h>

_Static_assert(sizeof(struct server_tally) % sizeof(tally_count) == 0,
               "the structure is an array of counts");

void server_tally_merge(struct server_tally *into, const struct server_tally *from)
{
    tally_count *to = (tally_count *)into;
    const tally_count *add = (const tally_count *)from;

    for (size_t i = 0; i < sizeof *into / sizeof *to; i++)
        tally_add(&to[i], tally_get(&add[i]));
}
