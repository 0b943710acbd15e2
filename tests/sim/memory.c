/* SPDX-License-Identifier: MIT
 * memory: see memory.h. */
#include "memory.h"

#include "fiber.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <event2/event.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t n_bytes);
void *__real_calloc(size_t n, size_t n_bytes);
void *__real_realloc(void *old, size_t n_bytes);
void *__real_aligned_alloc(size_t alignment, size_t n_bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t n_bytes);
void *__wrap_calloc(size_t n, size_t n_bytes);
void *__wrap_realloc(void *old, size_t n_bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t n_bytes);
void __wrap_free(void *memory);

enum { MMAP_THRESHOLD_BYTES = 128 * 1024 };

static int64_t n_live, live_bytes, most_bytes;
static uint64_t refused_ppm;

void memory_begin(void)
{
    n_live = live_bytes = most_bytes = 0;
    refused_ppm = 0;
}

void memory_refuse(uint64_t ppm)
{
    refused_ppm = ppm;
}

int64_t memory_n_live(void)
{
    return n_live;
}

int64_t memory_live_bytes(void)
{
    return live_bytes;
}

int64_t memory_most_bytes(void)
{
    return most_bytes;
}

bool memory_is_refused(void)
{
    if (refused_ppm == 0 || rng_below(&world.dice, 1000000) >= refused_ppm)
        return false;
    world.n_faults++;
    fiber_n_refusals[fiber_current()]++;
    world_trace("no memory", 0, 0, 0);
    errno = ENOMEM;
    return true;
}

static void *count(void *memory)
{
    if (memory == NULL)
        return NULL;
    n_live++;
    live_bytes += (int64_t)malloc_usable_size(memory);
    if (live_bytes > most_bytes)
        most_bytes = live_bytes;
    return memory;
}

static void forget(void *memory)
{
    if (memory == NULL)
        return;
    n_live--;
    live_bytes -= (int64_t)malloc_usable_size(memory);
}

void *__wrap_malloc(size_t n_bytes)
{
    return memory_is_refused() ? NULL : count(__real_malloc(n_bytes));
}

void *__wrap_calloc(size_t n, size_t n_bytes)
{
    return memory_is_refused() ? NULL : count(__real_calloc(n, n_bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t n_bytes)
{
    return memory_is_refused() ? NULL : count(__real_aligned_alloc(alignment, n_bytes));
}

void *__wrap_realloc(void *old, size_t n_bytes)
{
    const int64_t old_bytes = old != NULL ? (int64_t)malloc_usable_size(old) : 0;
    void *memory;

    if (memory_is_refused() || (memory = __real_realloc(old, n_bytes)) == NULL)
        return NULL;
    n_live -= old != NULL;
    live_bytes -= old_bytes;
    return count(memory);
}

void __wrap_free(void *memory)
{
    forget(memory);
    __real_free(memory);
}

static void drop_line(int severity, const char *line)
{
    (void)severity;
    (void)line;
}

void memory_prepare(void)
{
    event_set_log_callback(drop_line);
    /* otherwise the C library raises the threshold, and each histogram has to be cleared again:
     * four times the CPU time */
    mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
    event_set_mem_functions(__wrap_malloc, __wrap_realloc, __wrap_free);
}

void *memory_own(void *old, size_t n_bytes)
{
    void *memory = __real_realloc(old, n_bytes);

    LAW(memory != NULL, "the simulation is out of memory");
    return memory;
}

void memory_disown(void *own)
{
    __real_free(own);
}
