/* SPDX-License-Identifier: MIT
 * violation: see violation.h. */
#include "violation.h"

#include "world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void violation(const char *format, ...)
{
    va_list arguments;

    fflush(stdout);
    fprintf(stderr, "VIOLATION at %" PRIu64 " ns: ", world_since_begin_ns());
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    fflush(stderr);
    _Exit(VIOLATION_EXIT);
}
