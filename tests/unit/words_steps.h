/* SPDX-License-Identifier: MIT
 * words_steps: a command line given as one text. */
#ifndef TCPSCALER_TESTS_UNIT_WORDS_STEPS_H
#define TCPSCALER_TESTS_UNIT_WORDS_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MOST = 32, WORDS_BYTES = 512 };

struct words {
    char text[WORDS_BYTES];
    char *argv[WORDS_MOST + 1];
    int argc;
};

/* Splits the line at single blanks, after the program's name; NULL: the line has it. */
static inline void words_split(struct words *w, const char *program, const char *line)
{
    char *rest = w->text;

    assert_in_range(snprintf(w->text, sizeof w->text, "%s%s%s", program != NULL ? program : "",
                             program != NULL && *line != '\0' ? " " : "", line),
                    0, WORDS_BYTES - 1);
    for (w->argc = 0; rest != NULL && w->argc < WORDS_MOST;)
        w->argv[w->argc++] = strsep(&rest, " ");
    assert_null(rest);
    w->argv[w->argc] = NULL;
}

#endif
