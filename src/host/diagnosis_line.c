/* SPDX-License-Identifier: MIT
 * diagnosis_line: see host/diagnosis_line.h. */
#include "host/diagnosis_line.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

uint64_t diagnosis_line_count(const struct diagnosis_input *in, enum outcome_reason reason)
{
    return tally_connections_by_reason(in->tally, reason);
}

uint64_t diagnosis_line_count_stalled(const struct diagnosis_input *in)
{
    return tally_get(&in->tally->connections.ended[PHASE_CONNECT][REASON_TIMEOUT]);
}

struct diagnosis_line *diagnosis_line_add(struct diagnosis *d, const char *limit,
                                          uint64_t connections)
{
    struct diagnosis_line *line = &d->lines[d->n_lines++];

    assert(d->n_lines <= DIAGNOSIS_LINES);
    *line = (struct diagnosis_line){.limit = limit, .connections = connections};
    return line;
}

void diagnosis_line_say(char *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, DIAGNOSIS_TEXT_BYTES, format, args);
    va_end(args);
}
