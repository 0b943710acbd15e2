/* SPDX-License-Identifier: MIT
 * test_large_blocks: of a large block, only touched pages are resident, even after others of its
 * size were written and freed. */
#include "base/large_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The allocators of sanitizers map large blocks anyway. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CONTROL 1
#endif

enum { N_BLOCKS = 20, BLOCK_BYTES = 270000, MOST_PAGES = 128 };

static size_t resident_pages(const char *block)
{
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)block + page_bytes - 1) / page_bytes * page_bytes;
    const size_t n_bytes = BLOCK_BYTES - page_bytes;
    unsigned char is_resident[MOST_PAGES];
    size_t n = 0;

    assert_true(n_bytes / page_bytes + 1 <= MOST_PAGES);
    assert_int_equal(mincore((void *)begin, n_bytes, is_resident), 0);
    for (size_t i = 0; i < n_bytes / page_bytes; i++)
        n += is_resident[i] & 1;
    return n;
}

/* Measures blocks that follow others, which were written and freed.  Freeing a larger one raises
 * glibc's threshold; a small one after them keeps the heap from shrinking. */
static size_t resident_pages_of_later_blocks(void)
{
    char *blocks[N_BLOCKS], *small;
    char *volatile larger = malloc(4 * BLOCK_BYTES);
    size_t n = 0;

    free(larger);
    for (int i = 0; i < N_BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    small = malloc(64);
    for (int i = 0; i < N_BLOCKS; i++)
        free(blocks[i]);
    for (int i = 0; i < N_BLOCKS; i++) {
        blocks[i] = calloc(1, BLOCK_BYTES);
        assert_non_null(blocks[i]);
        n += resident_pages(blocks[i]);
    }
    for (int i = 0; i < N_BLOCKS; i++)
        free(blocks[i]);
    free(small);
    return n;
}

/* In a process of its own: the setting cannot be undone. */
static bool are_few_resident(bool map)
{
    int status = 0;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        if (map)
            large_blocks_map();
        _exit(resident_pages_of_later_blocks() <= N_BLOCKS ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
}

static void untouched_pages_are_not_resident(void **state)
{
    (void)state;
    assert_true(are_few_resident(true));
}

#ifdef CONTROL
static void without_the_setting_blocks_are_reused(void **state)
{
    (void)state;
    assert_false(are_few_resident(false));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untouched_pages_are_not_resident),
#ifdef CONTROL
        cmocka_unit_test(without_the_setting_blocks_are_reused),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
