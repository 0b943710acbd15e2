/* SPDX-License-Identifier: MIT
 * test_query_file: the lines of a file of queries. */
#include "protocol/query_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_TEXT = 400 };

/* Returns every line with a query as "NUMBER:NAME/TYPE "; "NUMBER:! " for an invalid one. */
static const char *lines_of(const char *text)
{
    static char found[MOST_TEXT];
    struct query_file file = {text, strlen(text), 0};
    struct query_line line;
    int result;
    size_t n = 0;

    found[0] = '\0';
    while ((result = query_file_next(&file, &line)) != 0) {
        if (result < 0)
            n += (size_t)snprintf(found + n, sizeof found - n, "%zu:! ", file.line);
        else
            n += (size_t)snprintf(found + n, sizeof found - n, "%zu:%.*s/%.*s ", file.line,
                                  (int)line.n_name, line.name, (int)line.n_type, line.type);
    }
    assert_int_equal(file.n_bytes, 0);
    return found;
}

static void a_line_has_a_name_and_a_type(void **state)
{
    (void)state;
    assert_string_equal(lines_of("a.com A\nb.com MX\n"), "1:a.com/A 2:b.com/MX ");
    assert_string_equal(lines_of("a.com\tA\nb.com  \t MX"), "1:a.com/A 2:b.com/MX ");
    assert_string_equal(lines_of("a.com A\r\nb.com MX\r\n"), "1:a.com/A 2:b.com/MX ");
    assert_string_equal(lines_of("  a.com A  \n"), "1:a.com/A ");
}

static void a_line_may_do_without_a_type(void **state)
{
    (void)state;
    assert_string_equal(lines_of("a.com\n b.com \r\nc"), "1:a.com/ 2:b.com/ 3:c/ ");
}

static void empty_lines_and_comments_count_as_lines_alone(void **state)
{
    (void)state;
    assert_string_equal(lines_of(""), "");
    assert_string_equal(lines_of("\n\r\n \t\n; a.com A\n;\n ; b A\n"), "");
    assert_string_equal(lines_of("\n; x\na.com A\n\nb.com A ; y\nc.com ;z\n"),
                        "3:a.com/A 5:b.com/A 6:c.com/ ");
    assert_string_equal(lines_of("a;b.com A;B\n#c A\n"), "1:a;b.com/A;B 2:#c/A ");
}

static void a_third_word_is_refused(void **state)
{
    (void)state;
    assert_string_equal(lines_of("a.com IN A\nb.com A\n"), "1:! 2:b.com/A ");
}

static void an_escaped_blank_belongs_to_the_name(void **state)
{
    (void)state;
    assert_string_equal(lines_of("a\\ b.com A\n\\; A\nc\\\\ A\nd\\"),
                        "1:a\\ b.com/A 2:\\;/A 3:c\\\\/A 4:d\\/ ");
    assert_string_equal(lines_of("a\\\nb A"), "1:a\\/ 2:b/A ");
}

static void text_ends_where_it_is_said_to(void **state)
{
    struct query_file file = {"a.com AAAA", 7, 0};
    struct query_line line;

    (void)state;
    assert_int_equal(query_file_next(&file, &line), 1);
    assert_int_equal(line.n_name, 5);
    assert_int_equal(line.n_type, 1);
    assert_int_equal(query_file_next(&file, &line), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_a_name_and_a_type),
        cmocka_unit_test(a_line_may_do_without_a_type),
        cmocka_unit_test(empty_lines_and_comments_count_as_lines_alone),
        cmocka_unit_test(a_third_word_is_refused),
        cmocka_unit_test(an_escaped_blank_belongs_to_the_name),
        cmocka_unit_test(text_ends_where_it_is_said_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
