/* SPDX-License-Identifier: MIT
 * preflight_line: the lines of a plan, one limit each: what is available, what is needed, what to
 * do.  Pure. */
#ifndef TCPSCALER_HOST_PREFLIGHT_LINE_H
#define TCPSCALER_HOST_PREFLIGHT_LINE_H

#include <stdint.h>

#define PREFLIGHT_LINES      28
#define PREFLIGHT_TEXT_BYTES 200

enum preflight_level {
    PREFLIGHT_OK,
    PREFLIGHT_WARN, /* works, but with restrictions */
    PREFLIGHT_STOP  /* N connections are impossible */
};

struct preflight_line {
    const char *name; /* name of the limit, stable: a value in JSON */
    enum preflight_level level;
    uint64_t available, needed;     /* HOST_LIMITS_UNKNOWN: unknown, or not applicable */
    char fix[PREFLIGHT_TEXT_BYTES]; /* a command or an option; "" if nothing needs to be done */
};

struct preflight {
    struct preflight_line lines[PREFLIGHT_LINES];
    unsigned n_lines;
};

struct preflight_line *preflight_line_add(struct preflight *p, const char *name, uint64_t available,
                                          uint64_t needed);

__attribute__((format(printf, 3, 4))) void preflight_line_fix(struct preflight_line *line,
                                                              enum preflight_level level,
                                                              const char *format, ...);

/* Adds the line; returns it if the value is known and too small, otherwise NULL. */
struct preflight_line *preflight_line_add_short(struct preflight *p, const char *name,
                                                uint64_t available, uint64_t needed);

/* Adds a limit that one sysctl raises. */
void preflight_line_add_sysctl(struct preflight *p, const char *name, uint64_t available,
                               uint64_t needed, enum preflight_level level);

/* The worst level of all lines. */
enum preflight_level preflight_worst(const struct preflight *p);

const char *preflight_level_name(enum preflight_level level); /* "ok", "warn", "stop" */

#endif
