/* SPDX-License-Identifier: MIT
 * test_html_text: whatever a text contains, it stays text. */
#include "report/html_text.h"

#include "base/rng.h"
#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANDOM_TEXTS = 20000, RANDOM_BYTES = 40 };

static char *written_by(void (*write)(FILE *out, const char *text), const char *text)
{
    char *html;

    write(print_open(), text);
    html = print_close();
    assert_int_equal(strlen(html), memory_stream.n_bytes);
    return html;
}

static char *written(const char *text)
{
    return written_by(html_text, text);
}

static void assert_written(const char *text, const char *wanted)
{
    char *html = written(text);

    assert_string_equal(html, wanted);
    free(html);
}

static void markup_becomes_text(void **state)
{
    (void)state;
    assert_written("<script>alert('x')</script>",
                   "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
    assert_written("\" onload=\"x", "&quot; onload=&quot;x");
    assert_written("&lt;", "&amp;lt;");
    assert_written("plain 1,234 us", "plain 1,234 us");
    assert_written(NULL, "");
}

static void quotes_stay_in_the_content_of_an_element(void **state)
{
    char *html = written_by(html_content, "{\"it's\": \"<b>&\x1b\"}");

    (void)state;
    assert_string_equal(html, "{\"it's\": \"&lt;b&gt;&amp;\ufffd\"}");
    free(html);
}

static void characters_of_utf_8_stay(void **state)
{
    (void)state;
    assert_written("Z\u00fcrich \u65e5\u672c \U0001d11e", "Z\u00fcrich \u65e5\u672c \U0001d11e");
    assert_written("a\tb\nc", "a\tb\nc");
}

static void bytes_that_are_not_utf_8_are_replaced(void **state)
{
    (void)state;
    assert_written("a\xff"
                   "b",
                   "a\ufffdb");
    assert_written("\xc0\xbc", "\ufffd\ufffd"); /* '<' in two bytes */
    assert_written("\xe0\x80\xbc", "\ufffd\ufffd\ufffd");
    assert_written("\xed\xa0\x80", "\ufffd\ufffd\ufffd");           /* a surrogate */
    assert_written("\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"); /* above U+10FFFF */
    assert_written("\xe2\x82<", "\ufffd\ufffd&lt;");                /* cut off in front of markup */
    assert_written("\xe2\x82", "\ufffd\ufffd");
}

static void control_and_direction_characters_are_replaced(void **state)
{
    (void)state;
    assert_written("a\x1b[2Jb\r", "a\ufffd[2Jb\ufffd");
    assert_written("\x7f\xc2\x85", "\ufffd\ufffd");
    assert_written("exe.\u202egnp", "exe.\ufffdgnp");
    assert_written("\u2066\ufffe", "\ufffd\ufffd");
    assert_written("\u061c\u200e\u200f\u2069", "\ufffd\ufffd\ufffd\ufffd");
    assert_written("\u061b\u061d\u200d\u2010", "\u061b\u061d\u200d\u2010");
}

static void formatted_text_is_escaped_as_a_whole(void **state)
{
    char *html;

    (void)state;
    html_printf(print_open(), "%s & %d", "<b>", 7);
    html = print_close();
    assert_string_equal(html, "&lt;b&gt; &amp; 7");
    free(html);
}

/* Whether HTML has characters that begin or end markup, in content or in a quoted attribute. */
static bool has_markup(const char *html)
{
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

    for (; *html != '\0'; html++) {
        bool is_reference = false;

        if (strchr("<>\"'", *html) != NULL ||
            ((unsigned char)*html < 0x20 && *html != '\t' && *html != '\n'))
            return true;
        for (size_t i = 0; *html == '&' && i < sizeof references / sizeof *references; i++)
            is_reference |= strncmp(html, references[i], strlen(references[i])) == 0;
        if (*html == '&' && !is_reference)
            return true;
    }
    return false;
}

static void no_bytes_become_markup(void **state)
{
    static const char dangerous[] = "<>&\"'/=\x80\xc0\xe2\xf0\xbc";
    struct rng rng;

    (void)state;
    rng_seed(&rng, 1, 0);
    for (int i = 0; i < RANDOM_TEXTS; i++) {
        char text[RANDOM_BYTES + 1] = "", *html;
        const uint64_t n = rng_next(&rng) % RANDOM_BYTES;

        for (uint64_t k = 0; k < n; k++)
            text[k] = rng_next(&rng) % 2 ? dangerous[rng_next(&rng) % (sizeof dangerous - 1)]
                                         : (char)(1 + rng_next(&rng) % 255);
        html = written(text);
        assert_false(has_markup(html));
        free(html);
    }
    /* the control: the check finds what html_text must not let through */
    assert_true(has_markup("a<b"));
    assert_true(has_markup("a & b"));
    assert_true(has_markup("&lt"));
    assert_true(has_markup("it's"));
    assert_true(has_markup("\x1b"));
    assert_false(has_markup("&lt;&amp;"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_becomes_text),
        cmocka_unit_test(quotes_stay_in_the_content_of_an_element),
        cmocka_unit_test(characters_of_utf_8_stay),
        cmocka_unit_test(bytes_that_are_not_utf_8_are_replaced),
        cmocka_unit_test(control_and_direction_characters_are_replaced),
        cmocka_unit_test(formatted_text_is_escaped_as_a_whole),
        cmocka_unit_test(no_bytes_become_markup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
