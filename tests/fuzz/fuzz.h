/* SPDX-License-Identifier: MIT
 * fuzz: what the fuzz targets share.
 *
 * A target is one file, fuzz_NAME.c: it feeds a part of the programs with anything and requires
 * what the part promises.  What it is fed with first lies in corpus/NAME, what once broke it in
 * regressions/NAME.
 *
 * With libFuzzer:  the CMake preset "fuzz" (clang); tests/fuzz/run builds and runs it.
 * Without, as a test: every file named on the command line is taken once (fuzz_main.c). */
#ifndef TCPSCALER_FUZZ_H
#define TCPSCALER_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FUZZ_MOST_BYTES = 1 << 20 };

#define REQUIRE(condition) ((condition) ? (void)0 : fuzz_fail(#condition))

/* Past stderr, which a target may have turned elsewhere. */
static inline void fuzz_fail(const char *condition)
{
    dprintf(STDERR_FILENO, "not so: %s\n", condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
