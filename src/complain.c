/* SPDX-License-Identifier: MIT
 * complain: see complain.h. */
#include "complain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

enum { LINE_BYTES = 1024 };

int complain(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
    return -1;
}
