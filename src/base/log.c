/* SPDX-License-Identifier: MIT
 * log: see base/log.h. */
#include "base/log.h"

#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = PATH_MAX + 1024 }; /* a path, and what is wrong with it */

static FILE *replacement; /* of stderr; NULL: none */

FILE *log_stream(void)
{
    return replacement != NULL ? replacement : stderr;
}

void log_set_stream(FILE *stream)
{
    replacement = stream;
}

bool log_can_erase(void)
{
    const char *terminal = getenv("TERM");

    return isatty(STDERR_FILENO) == 1 && terminal != NULL && *terminal != '\0' &&
           strcmp(terminal, "dumb") != 0;
}

int log_error(const char *format, ...)
{
    const int error = errno;
    char line[LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    utf8_replace_controls(line);
    /* on a terminal, the line may hold a progress line */
    fprintf(log_stream(), "%s%s: %s\n", log_can_erase() ? "\r\033[K" : "",
            program_invocation_short_name, line);
    errno = error;
    return -1;
}
