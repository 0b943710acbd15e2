/* SPDX-License-Identifier: MIT
 * options_conflict: see config/options_conflict.h. */
#include "config/options_conflict.h"

#include "config/options.h"

#include <stdio.h>

int options_refuse_conflicts(const char *subject, const struct options_conflict *rows,
                             size_t n_rows, char *error)
{
    for (size_t i = 0; i < n_rows; i++)
        if (rows[i].is_used) {
            snprintf(error, OPTIONS_ERROR_BYTES, "%s conflicts with %s: %s", subject, rows[i].name,
                     rows[i].reason);
            return -1;
        }
    return 0;
}

int options_refuse_without(const char *option, const char *required,
                           const struct options_conflict *rows, size_t n_rows, char *error)
{
    char subject[OPTIONS_ERROR_BYTES];

    snprintf(subject, sizeof subject, "%s: requires %s, which", option, required);
    if (options_refuse_conflicts(subject, rows, n_rows, error) == 0)
        snprintf(error, OPTIONS_ERROR_BYTES, "%s: requires %s", option, required);
    return -1;
}
