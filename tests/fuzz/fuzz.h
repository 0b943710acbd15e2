/* SPDX-License-Identifier: MIT
 * fuzz: shared by the fuzz targets.
 *
 * A target is one file, fuzz_NAME.c.  It feeds arbitrary input to a part of the programs and checks
 * what the part promises.  Its seeds are in corpus/NAME, inputs that once broke it in
 * regressions/NAME.
 *
 * With libFuzzer: the CMake preset "fuzz" (clang); tests/fuzz/run builds and runs it.
 * Without, as a test: runs every file named on the command line once (fuzz_main.c). */
#ifndef TCPSCALER_FUZZ_H
#define TCPSCALER_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FUZZ_MOST_BYTES = 1 << 20 };

#define REQUIRE(condition) ((condition) ? (void)0 : fuzz_fail(#condition))

/* Writes to the descriptor, because a target may have redirected the stream. */
static inline void fuzz_fail(const char *condition)
{
    dprintf(STDERR_FILENO, "not so: %s\n", condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
