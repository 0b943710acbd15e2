/* SPDX-License-Identifier: MIT
 * preflight_line: see host/preflight_line.h. */
#include "host/preflight_line.h"

#include "host/limits.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct preflight_line *preflight_line_add(struct preflight *p, const char *name, uint64_t available,
                                          uint64_t needed)
{
    struct preflight_line *line = &p->lines[p->n_lines++];

    assert(p->n_lines <= PREFLIGHT_LINES);
    *line = (struct preflight_line){.name = name, .available = available, .needed = needed};
    return line;
}

void preflight_line_fix(struct preflight_line *line, enum preflight_level level, const char *format,
                        ...)
{
    va_list args;

    line->level = level;
    va_start(args, format);
    vsnprintf(line->fix, sizeof line->fix, format, args);
    va_end(args);
}

struct preflight_line *preflight_line_add_short(struct preflight *p, const char *name,
                                                uint64_t available, uint64_t needed)
{
    struct preflight_line *line = preflight_line_add(p, name, available, needed);

    return available != HOST_LIMITS_UNKNOWN && available < needed ? line : NULL;
}

void preflight_line_add_sysctl(struct preflight *p, const char *name, uint64_t available,
                               uint64_t needed, enum preflight_level level)
{
    struct preflight_line *line = preflight_line_add_short(p, name, available, needed);

    if (line != NULL)
        preflight_line_fix(line, level, "sysctl -w %s=%" PRIu64, name, needed);
}

enum preflight_level preflight_worst(const struct preflight *p)
{
    enum preflight_level worst = PREFLIGHT_OK;

    for (unsigned i = 0; i < p->n_lines; i++)
        if (p->lines[i].level > worst)
            worst = p->lines[i].level;
    return worst;
}

const char *preflight_level_name(enum preflight_level level)
{
    static const char *const names[] = {"ok", "warn", "stop"};

    return names[level];
}
