/* SPDX-License-Identifier: MIT
 * test_text_stream: text of all lengths, and memory that runs out while it is collected.
 * Linked with --wrap=realloc. */
#include "base/text_stream.h"

#include "memory_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void all_text_is_collected_and_terminated(void **state)
{
    static const size_t lengths[] = {0, 1, 4095, 4096, 4097, 1000000};

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct text_stream t;
        size_t n_bytes;
        char *text;

        assert_int_equal(text_stream_open(&t), 0);
        for (size_t k = 0; k < lengths[i]; k++)
            fputc('a' + (int)(k % 23), t.out);
        text = text_stream_close(&t, &n_bytes);
        assert_non_null(text);
        assert_int_equal(n_bytes, lengths[i]);
        for (size_t k = 0; k < lengths[i]; k++)
            assert_int_equal(text[k], 'a' + (int)(k % 23));
        assert_int_equal(text[n_bytes], '\0');
        free(text);
    }
}

/* Writes 16 times 1,000 bytes; memory is short for a part of them. */
static char *text_with_short_memory(unsigned from, unsigned to)
{
    char thousand[1000];
    struct text_stream t;
    size_t n_bytes;
    char *text;

    memset(thousand, 'x', sizeof thousand);
    assert_int_equal(text_stream_open(&t), 0);
    for (unsigned i = 0; i < 16; i++) {
        memory_largest_bytes = i >= from && i < to ? 0 : SIZE_MAX;
        fwrite(thousand, 1, sizeof thousand, t.out);
        fflush(t.out);
    }
    text = text_stream_close(&t, &n_bytes);
    memory_largest_bytes = SIZE_MAX;
    assert_int_equal(n_bytes, text != NULL ? 16000 : 0);
    return text;
}

static void text_that_lacks_a_part_is_refused(void **state)
{
    char *whole = text_with_short_memory(0, 0);

    (void)state;
    assert_non_null(whole);
    free(whole);
    assert_null(text_with_short_memory(0, 16));
    assert_null(text_with_short_memory(0, 1));
    assert_null(text_with_short_memory(1, 16));
    assert_null(text_with_short_memory(2, 3));
}

static void a_stream_that_could_not_be_opened_has_no_text(void **state)
{
    struct text_stream t = {.out = NULL};
    size_t n_bytes = 1;

    (void)state;
    assert_null(text_stream_close(&t, &n_bytes));
    assert_int_equal(n_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_text_is_collected_and_terminated),
        cmocka_unit_test(text_that_lacks_a_part_is_refused),
        cmocka_unit_test(a_stream_that_could_not_be_opened_has_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
