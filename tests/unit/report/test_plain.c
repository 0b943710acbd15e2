/* SPDX-License-Identifier: MIT
 * test_plain: what a terminal would obey is not printed. */
#include "report/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void control_characters_are_replaced(void **state)
{
    char copy[PLAIN_BYTES];

    (void)state;
    assert_string_equal(plain(copy, "unsent: 3 \xc2\xb5s"), "unsent: 3 \xc2\xb5s");
    assert_string_equal(plain(copy, "a\x1b[2J\nVerdict VALID\x7f"), "a?[2J?Verdict VALID?");
    assert_string_equal(plain(copy, NULL), "-");
    assert_true(plain_is("response:gold") && plain_is(""));
    assert_false(plain_is("response\n"));
}

static void long_text_is_cut(void **state)
{
    char copy[PLAIN_BYTES], text[2 * PLAIN_BYTES];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(strlen(plain(copy, text)), PLAIN_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(long_text_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
