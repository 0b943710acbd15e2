/* SPDX-License-Identifier: MIT
 * print_steps: what functions print to a stream, as text. */
#ifndef TCPSCALER_TESTS_UNIT_PRINT_STEPS_H
#define TCPSCALER_TESTS_UNIT_PRINT_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct {
    FILE *out;
    char *text;
    size_t n_bytes;
} memory_stream;

/* Opens a stream into memory, one at a time. */
static inline FILE *print_open(void)
{
    memory_stream.out = open_memstream(&memory_stream.text, &memory_stream.n_bytes);
    assert_non_null(memory_stream.out);
    return memory_stream.out;
}

/* Closes it.  Returns its text, to be freed by the caller. */
static inline char *print_close(void)
{
    assert_int_equal(fclose(memory_stream.out), 0);
    return memory_stream.text;
}

static inline void assert_has(const char *text, const char *wanted)
{
    if (strstr(text, wanted) == NULL)
        fail_msg("'%s' is not in:\n%s", wanted, text);
}

#endif
