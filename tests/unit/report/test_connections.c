/* SPDX-License-Identifier: MIT
 * test_connections: the times in rows of --connections-out. */
#include "report/connections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S_NS 1000000000ull

static void times_are_in_order_of_time(void **state)
{
    struct connections c = {0};
    const struct connection_times *t = c.times;

    (void)state;
    assert_null(connections_begin(&c, "connection_id,source,established_s,x,lost_s,back_s\n"));
    assert_null(connections_add(&c, "0,::1,3.5,a,9,12\n"));
    assert_null(connections_add(&c, "1,::1,1,a,8.25,\n")); /* never came back */
    assert_null(connections_add(&c, "2,::1,2,a,,\n"));     /* was not lost */
    assert_null(connections_add(&c, "3,::1,,a,,\n"));      /* was never established */
    connections_sort(&c);
    assert_int_equal(t[CONNECTIONS_ESTABLISHED].n, 3);
    assert_int_equal(t[CONNECTIONS_ESTABLISHED].ns[0], S_NS);
    assert_int_equal(t[CONNECTIONS_ESTABLISHED].ns[2], 3 * S_NS + S_NS / 2);
    assert_int_equal(t[CONNECTIONS_LOST].n, 2);
    assert_int_equal(t[CONNECTIONS_LOST].ns[0], 8 * S_NS + S_NS / 4);
    assert_int_equal(t[CONNECTIONS_BACK].n, 1);
    assert_int_equal(t[CONNECTIONS_BACK].ns[0], 12 * S_NS);
    connections_free(&c);
}

static void file_of_an_earlier_version_has_no_losses(void **state)
{
    struct connections c = {0};

    (void)state;
    assert_null(connections_begin(&c, "connection_id,source,established_s\n"));
    assert_null(connections_add(&c, "0,::1,3.5\n"));
    assert_int_equal(c.times[CONNECTIONS_ESTABLISHED].n, 1);
    assert_int_equal(c.times[CONNECTIONS_LOST].n, 0);
    connections_free(&c);
}

static void connections_of_all_slots_are_counted(void **state)
{
    struct connections c = {0};

    (void)state;
    assert_null(connections_begin(&c, "connection_id,source,connections,established_s\n"));
    assert_true(c.has_count && c.n_attempted == 0);
    assert_null(connections_add(&c, "0,::1,1,3.5\n"));
    assert_null(connections_add(&c, "1,::1,3,\n"));
    assert_int_equal(c.n_attempted, 4);
    assert_int_equal(c.n_reused, 1);
    assert_string_equal(connections_add(&c, "2,::1,,1\n"), "connections: not a number");
    assert_string_equal(connections_add(&c, "2,::1,1x,1\n"), "connections: not a number");
    connections_free(&c);
    assert_null(connections_begin(&c, "connection_id,source,established_s\n"));
    assert_false(c.has_count);
}

/* As of --queries-per-conn: the file has the last connections of the run, not the first ones. */
static void most_connections_may_be_later_ones(void **state)
{
    struct connections c = {0};

    (void)state;
    assert_null(connections_begin(&c, "connection_id,source,connections,established_s\n"));
    assert_false(connections_are_mostly_replacements(&c));
    assert_null(connections_add(&c, "0,::1,1,0.5\n"));
    assert_null(connections_add(&c, "1,::1,2,9.5\n"));
    assert_false(connections_are_mostly_replacements(&c)); /* half of them */
    assert_null(connections_add(&c, "2,::1,2,9.6\n"));
    assert_true(connections_are_mostly_replacements(&c));
    connections_free(&c);
}

static void bad_rows_are_named(void **state)
{
    struct connections c = {0};

    (void)state;
    assert_string_equal(connections_begin(&c, "connection_id,source\n"),
                        "missing column established_s");
    assert_null(connections_begin(&c, "connection_id,source,established_s,lost_s,back_s\n"));
    assert_string_equal(connections_add(&c, "0,::1\n"), "missing columns");
    assert_string_equal(connections_add(&c, "0,::1,1,x,2\n"), "lost_s: not a number");
    assert_string_equal(connections_add(&c, "0,::1,1,2.5x,3\n"), "lost_s: not a number");
    connections_free(&c);
}

static void columns_are_found_by_their_whole_names(void **state)
{
    struct connections c = {0};

    (void)state;
    assert_null(connections_begin(&c, "connection_id,source,established_s_old,was_lost_s,"
                                      "established_s,lost_s\r\n"));
    assert_null(connections_add(&c, "0,::1,5,6,1,2\r\n"));
    assert_int_equal(c.times[CONNECTIONS_ESTABLISHED].ns[0], S_NS);
    assert_int_equal(c.times[CONNECTIONS_LOST].ns[0], 2 * S_NS);
    connections_free(&c);
}

static void header_is_recognized(void **state)
{
    (void)state;
    assert_true(connections_is_header("connection_id,source,source_port\n"));
    assert_false(connections_is_header("type,timestamp\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_in_order_of_time),
        cmocka_unit_test(file_of_an_earlier_version_has_no_losses),
        cmocka_unit_test(connections_of_all_slots_are_counted),
        cmocka_unit_test(most_connections_may_be_later_ones),
        cmocka_unit_test(bad_rows_are_named),
        cmocka_unit_test(columns_are_found_by_their_whole_names),
        cmocka_unit_test(header_is_recognized),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
