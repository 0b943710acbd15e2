/* SPDX-License-Identifier: MIT
 * test_utf8: which bytes are a character. */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static uint32_t character;

static unsigned take(const char *text)
{
    return utf8_take((const unsigned char *)text, &character);
}

static void a_character_has_one_to_four_bytes(void **state)
{
    (void)state;
    assert_int_equal(take("a\u00fc"), 1);
    assert_int_equal(character, 'a');
    assert_int_equal(take("\u00fca"), 2);
    assert_int_equal(character, 0xfc);
    assert_int_equal(take("\u65e5\u672c"), 3);
    assert_int_equal(character, 0x65e5);
    assert_int_equal(take("\U0010ffff"), 4);
    assert_int_equal(character, 0x10ffff);
}

static void other_bytes_are_none(void **state)
{
    static const char *const texts[] = {
        "\xfc",             /* Latin-1 */
        "\x80",             /* in the middle of one */
        "\xc0\xbc",         /* longer than necessary */
        "\xe0\x80\xbc",     /* likewise */
        "\xed\xa0\x80",     /* a surrogate */
        "\xe6\x97",         /* cut off */
        "\xf4\x90\x80\x80", /* above U+10FFFF */
        "\xff",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(take(texts[i]), 0);
}

static const char *without_controls(const char *text)
{
    static char copy[64];

    snprintf(copy, sizeof copy, "%s", text);
    utf8_replace_controls(copy);
    return copy;
}

static void control_characters_are_replaced(void **state)
{
    (void)state;
    assert_string_equal(without_controls(""), "");
    assert_string_equal(without_controls("\x1b[2J\n\t\x7f."), "?[2J???.");
    /* U+0080 to U+009F, and their neighbours */
    assert_string_equal(without_controls("\xc2\x80\xc2\x9bm\xc2\x9f"), "??m?");
    assert_string_equal(without_controls("~\xc2\xa0\xc3\x9b"), "~\xc2\xa0\xc3\x9b");
    assert_string_equal(without_controls("\xc2"), "\xc2"); /* cut off */
}

static void byte_order_mark_is_at_the_start(void **state)
{
    (void)state;
    assert_int_equal(utf8_mark_bytes("\xef\xbb\xbf", 3), 3);
    assert_int_equal(utf8_mark_bytes("\xef\xbb\xbf.", 4), 3);
    assert_int_equal(utf8_mark_bytes("\xef\xbb\xbf", 2), 0); /* cut off */
    assert_int_equal(utf8_mark_bytes(".\xef\xbb\xbf", 4), 0);
    assert_int_equal(utf8_mark_bytes("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_has_one_to_four_bytes),
        cmocka_unit_test(other_bytes_are_none),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(byte_order_mark_is_at_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
