/* SPDX-License-Identifier: MIT
 * search_names: see client/search/search_names.h. */
#include "client/search/search_names.h"

#include <stddef.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

const char *search_status_name(enum search_status status)
{
    static const char *const names[] = {"running", "found", "at-least", "less-than",
                                        "inconclusive"};

    _Static_assert(N_OF(names) == SEARCH_N_STATUSES, "one for each");
    return names[status];
}

const char *search_reason_name(enum search_reason reason)
{
    static const char *const names[] = {
        NULL,      "void-trials",   "time",       "unconfirmed", "too-many-trials",
        "stopped", "no-connection", "server-gone"};

    _Static_assert(N_OF(names) == SEARCH_N_REASONS, "one for each");
    return names[reason];
}

const char *search_step_name(enum search_step step)
{
    static const char *const names[] = {"double", "bisect", "confirm", "overload", "recover"};

    _Static_assert(N_OF(names) == SEARCH_N_STEPS, "one for each");
    return names[step];
}
