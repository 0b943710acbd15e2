/* SPDX-License-Identifier: MIT
 * start_gate_steps: the files of --start-file, for the tests of the gate. */
#ifndef TCPSCALER_TEST_START_GATE_STEPS_H
#define TCPSCALER_TEST_START_GATE_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* A directory with the files of --start-file, and one that has nothing to do with them. */
struct start_files {
    char directory[32], start[48], ready[64], new[64], other[48];
};

static inline struct start_files make_start_files(void)
{
    struct start_files p = {.directory = "/tmp/test_start_gate_XXXXXX"};

    assert_non_null(mkdtemp(p.directory));
    snprintf(p.start, sizeof p.start, "%s/start", p.directory);
    snprintf(p.ready, sizeof p.ready, "%s.ready", p.start);
    snprintf(p.new, sizeof p.new, "%s.ready.new", p.start);
    snprintf(p.other, sizeof p.other, "%s/other", p.directory);
    return p;
}

static inline void remove_start_files(const struct start_files *p)
{
    (void)unlink(p->start);
    (void)unlink(p->ready);
    (void)unlink(p->new);
    (void)unlink(p->other);
    assert_int_equal(rmdir(p->directory), 0);
}

static inline void write_text(const char *name, const char *text)
{
    FILE *out = fopen(name, "w");

    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

#endif
