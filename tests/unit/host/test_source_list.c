/* SPDX-License-Identifier: MIT
 * test_source_list: sources from files and interfaces. */
#include "host/source_list.h"

#include "file_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char error[SOURCE_LIST_ERROR_BYTES];
static struct srcplan plan;

/* Adds a list that begins with a file of these bytes. */
static int add(const char *text, size_t n_bytes, const char *behind)
{
    char list[100];
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n_bytes, f), n_bytes);
    assert_int_equal(fclose(f), 0);
    snprintf(list, sizeof list, "@%s%s", path, behind);
    srcplan_free(&plan);
    return source_list_add(&plan, list, error);
}

static void a_file_has_one_item_per_line(void **state)
{
    static const char text[] = "# ours\n10.0.0.1\n\n  10.0.1.{1,2} # two\r\n10.0.2.0/24,10.0.3.1";

    (void)state;
    assert_int_equal(add(text, strlen(text), ",10.0.4.{1,2}"), 0);
    assert_int_equal(plan.n_addresses, 1 + 2 + 256 + 1 + 2);
    assert_int_equal(srcplan_family(&plan), AF_INET);
}

static void a_long_line_is_one_line(void **state)
{
    char text[3000];

    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text, "10.0.0.1 #", 10);
    assert_int_equal(add(text, sizeof text, ""), 0);
    assert_int_equal(plan.n_addresses, 1);
}

static void a_file_without_addresses_is_refused(void **state)
{
    (void)state;
    assert_int_equal(add("# none\n", 7, ""), -1);
    assert_non_null(strstr(error, "no address"));
    assert_int_equal(add("10.0.0.1\0\n", 10, ""), -1);
    assert_non_null(strstr(error, "not a text file"));
    assert_int_equal(add("10.0.0.1\nhost\n", 14, ""), -1);
    assert_non_null(strstr(error, "'host'"));
    assert_int_equal(source_list_add(&plan, "@/", error), -1);
    assert_non_null(strstr(error, "'@/': Is a directory"));
    assert_int_equal(source_list_add(&plan, "@/nonexistent/file", error), -1);
    assert_non_null(strstr(error, "No such file"));
}

static void an_error_in_a_file_names_its_line(void **state)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"# ours\n10.0.0.1\nhost # not an address\n", ":3: 'host': expected ADDRESS, "},
        {"fe80::1%none\r\n", ":1: invalid value 'fe80::1%none': expected an interface"},
    };
    char expected[256];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(add(bad[i].text, strlen(bad[i].text), ",10.0.0.2"), -1);
        snprintf(expected, sizeof expected, "%s%s", path, bad[i].error);
        if (strncmp(error, expected, strlen(expected)) != 0)
            fail_msg("'%s', not '%s'", error, expected);
    }
}

static void an_interface_has_its_addresses(void **state)
{
    struct srcplan_tuple t;

    (void)state;
    srcplan_free(&plan);
    assert_int_equal(source_list_add(&plan, "iface:lo", error), 0);
    assert_true(plan.n_addresses >= 1);
    srcplan_at(&plan, 0, &t);
    assert_true(t.address.family == AF_INET || t.address.family == AF_INET6);
    assert_int_equal(source_list_add(&plan, "iface:none", error), -1);
    assert_non_null(strstr(error, "no such interface"));
    srcplan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_one_item_per_line),
        cmocka_unit_test(a_long_line_is_one_line),
        cmocka_unit_test(a_file_without_addresses_is_refused),
        cmocka_unit_test(an_error_in_a_file_names_its_line),
        cmocka_unit_test(an_interface_has_its_addresses),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
