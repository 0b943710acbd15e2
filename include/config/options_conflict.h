/* SPDX-License-Identifier: MIT
 * options_conflict: options that another one excludes, one row each.  Pure. */
#ifndef TCPSCALER_CONFIG_OPTIONS_CONFLICT_H
#define TCPSCALER_CONFIG_OPTIONS_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>

struct options_conflict {
    const char *name; /* as given: "--tls", "--loop closed" */
    bool is_used;
    const char *reason;
};

/* Returns 0, or -1 with "SUBJECT conflicts with NAME: REASON" of the first row in use in error
 * (OPTIONS_ERROR_BYTES).  subject: the option that excludes them: "--push:", "--transport: 'udp'".
 */
int options_refuse_conflicts(const char *subject, const struct options_conflict *rows,
                             size_t n_rows, char *error);

/* Refuses an option that requires another one, which was not given.  If that one conflicts with an
 * option in use, says that, too: no message asks for an option that the next message refuses.
 * Returns -1 with "OPTION: requires REQUIRED, which conflicts with NAME: REASON" of the first row
 * in use, otherwise with "OPTION: requires REQUIRED", in error (OPTIONS_ERROR_BYTES). */
int options_refuse_without(const char *option, const char *required,
                           const struct options_conflict *rows, size_t n_rows, char *error);

#endif
