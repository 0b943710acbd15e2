/* SPDX-License-Identifier: MIT
 * server_tally: see server/tally.h. */
#include "server/tally.h"

#include <errno.h>

_Static_assert(sizeof(struct server_tally) % sizeof(tally_count) == 0,
               "the structure is an array of counts");

const char *server_refusal_name(enum server_refusal r)
{
#define NAME(id, name) name,
    static const char *const names[] = {SERVER_REFUSALS(NAME)};
#undef NAME

    return names[r];
}

enum server_refusal server_refusal_of_errno(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
        return SERVER_REFUSED_FDS;
    case ENOSPC:
        return SERVER_REFUSED_WATCHES;
    default:
        return SERVER_REFUSED_MEMORY;
    }
}

void server_tally_merge(struct server_tally *into, const struct server_tally *from)
{
    tally_add_all((tally_count *)into, (const tally_count *)from,
                  sizeof *into / sizeof(tally_count));
}
