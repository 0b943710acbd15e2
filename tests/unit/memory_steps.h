/* SPDX-License-Identifier: MIT
 * memory_steps: realloc(3) of the rooms, which can run out of memory.  Tests that include this are
 * linked with --wrap=realloc. */
#ifndef TCPSCALER_TESTS_UNIT_MEMORY_STEPS_H
#define TCPSCALER_TESTS_UNIT_MEMORY_STEPS_H

#include <stddef.h>
#include <stdint.h>

static size_t memory_largest_bytes = SIZE_MAX; /* larger blocks are refused */

void *__real_realloc(void *block, size_t n_bytes);
void *__wrap_realloc(void *block, size_t n_bytes);

void *__wrap_realloc(void *block, size_t n_bytes)
{
    return n_bytes <= memory_largest_bytes ? __real_realloc(block, n_bytes) : NULL;
}

#endif
