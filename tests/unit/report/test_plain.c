/* SPDX-License-Identifier: MIT
 * test_plain: what a terminal would obey is not printed. */
#include "report/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void control_characters_are_replaced(void **state)
{
    char copy[PLAIN_BYTES];

    (void)state;
    assert_string_equal(plain(copy, "unsent: 3 \xc2\xb5s"), "unsent: 3 \xc2\xb5s");
    assert_string_equal(plain(copy, "a\x1b[2J\nVerdict VALID\x7f"), "a?[2J?Verdict VALID?");
    assert_string_equal(plain(copy, "\xc2\x9bm\xc2\x85."), "?m?.");
    assert_string_equal(plain(copy, NULL), "-");
    assert_true(plain_is("response:gold") && plain_is(""));
    assert_false(plain_is("response\n"));
    assert_false(plain_is("response\xc2\x85"));
}

static void long_text_is_cut(void **state)
{
    char copy[PLAIN_BYTES], text[2 * PLAIN_BYTES];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(strlen(plain(copy, text)), PLAIN_BYTES - 1);
}

static void check_printed(const char *text, int columns, const char *expected)
{
    char *printed = NULL;
    size_t n_bytes;
    FILE *out = open_memstream(&printed, &n_bytes);

    assert_non_null(out);
    plain_print(out, text, columns);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(printed, expected);
    free(printed);
}

static void text_is_padded_by_its_characters(void **state)
{
    (void)state;
    check_printed("m\xc3\xbcller", 8, "m\xc3\xbcller  ");
    check_printed("a\nb\x1b", 5, "a?b? ");
    check_printed("a\xc2\x9bm", 5, "a?m  ");
    check_printed("longer", 3, "longer");
    check_printed("", 2, "  ");
    assert_int_equal(plain_columns("\xe2\x82\xac 5"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(long_text_is_cut),
        cmocka_unit_test(text_is_padded_by_its_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
