/* SPDX-License-Identifier: MIT
 * output_steps: files in a directory of their own. */
#ifndef TCPSCALER_TESTS_UNIT_BASE_OUTPUT_STEPS_H
#define TCPSCALER_TESTS_UNIT_BASE_OUTPUT_STEPS_H

#include "directory_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 128 };

static inline const char *path_of(char *path, const char *name)
{
    snprintf(path, PATH_BYTES, "%s/%s", directory, name);
    return path;
}

static inline void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static inline void assert_content(const char *path, const char *expected)
{
    char text[256] = "";
    FILE *in = fopen(path, "r");

    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    assert_string_equal(text, expected);
}

static inline int remove_files(void **state)
{
    static const char *const names[] = {"a", "b", "c", "a.tmp", "-"};
    char path[PATH_BYTES];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(path, names[i]));
    return remove_directory(state);
}

#endif
