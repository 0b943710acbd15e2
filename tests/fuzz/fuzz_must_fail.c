/* SPDX-License-Identifier: MIT
 * fuzz_must_fail: the control of the replay: a target that fails on must_fail/bad. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    REQUIRE(n_bytes == 0 || data[0] != 'b');
    return 0;
}
