/* SPDX-License-Identifier: MIT
 * strays: see measure/strays.h. */
#include "measure/strays.h"

const char *strays_include(bool has_warmup, bool proofs_timed_out)
{
    if (!has_warmup)
        return proofs_timed_out ? " (queries that prove connections included)" : "";
    return proofs_timed_out ? " (warm-up and queries that prove connections included)"
                            : " (warm-up included)";
}
