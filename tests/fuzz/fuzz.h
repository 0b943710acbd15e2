/* SPDX-License-Identifier: MIT
 * fuzz: what the fuzz targets share.
 *
 * With libFuzzer:  the CMake preset "fuzz" (clang), then build/fuzz/tests/fuzz_NAME DIRECTORY with
 *                  one of the corpora here.
 * Without, as a test: every file named on the command line is run once (fuzz_main.c). */
#ifndef TCPSCALER_FUZZ_H
#define TCPSCALER_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUZZ_MOST_BYTES = 1 << 20 };

#define REQUIRE(condition) ((condition) ? (void)0 : fuzz_fail(#condition))

static inline void fuzz_fail(const char *condition)
{
    fprintf(stderr, "not so: %s\n", condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
