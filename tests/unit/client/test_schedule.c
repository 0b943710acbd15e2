/* SPDX-License-Identifier: MIT
 * test_client_schedule: schedules from options and files. */
#include "client/schedule.h"

#include "base/log.h"
#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define S 1000000000ull

static char path[64], at_path[sizeof path + 1];

static int create_file(void **state)
{
    int fd;

    (void)state;
    strcpy(path, "/tmp/test_schedule_XXXXXX");
    fd = mkstemp(path);
    if (fd < 0)
        return -1;
    snprintf(at_path, sizeof at_path, "@%s", path);
    return close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const char *text, size_t n_bytes)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n_bytes, f), n_bytes);
    assert_int_equal(fclose(f), 0);
}

static void a_schedule_is_read_from_the_option_or_from_its_file(void **state)
{
    static const char text[] = "# evening\n10s:0-5000\n60s:5000\n";
    struct schedule a, b;

    (void)state;
    write_file(text, sizeof text - 1);
    assert_int_equal(
        client_schedule_read(&a, &(struct client_opts){.schedule = "10s:0-5000,60s:5000"}), 0);
    assert_int_equal(client_schedule_read(&b, &(struct client_opts){.schedule = at_path}), 0);
    assert_int_equal(schedule_duration_ns(&a), 70 * S);
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        assert_int_equal(a.segments[i].duration_ns, b.segments[i].duration_ns);
        assert_true(a.segments[i].rate_begin_qps == b.segments[i].rate_begin_qps);
        assert_true(a.segments[i].rate_end_qps == b.segments[i].rate_end_qps);
    }
}

static void invalid_schedules_are_refused(void **state)
{
    struct schedule s;

    (void)state;
    assert_int_equal(client_schedule_read(&s, &(struct client_opts){.schedule = "10s"}), -1);
    assert_int_equal(client_schedule_read(&s, &(struct client_opts){.schedule = "@/nonexistent"}),
                     -1);
    write_file("", 0);
    assert_int_equal(client_schedule_read(&s, &(struct client_opts){.schedule = at_path}), -1);
    write_file("10s:5\n\0", 7); /* not a text file */
    assert_int_equal(client_schedule_read(&s, &(struct client_opts){.schedule = at_path}), -1);
}

static void an_error_in_a_file_names_the_file(void **state)
{
    const struct client_opts opts = {.schedule = at_path, .conn_schedule = at_path};
    struct schedule s;
    char expected[128], *text;

    (void)state;
    write_file("10s:5\n10s:5x\n", 13);
    log_set_stream(print_open());
    assert_int_equal(client_schedule_read(&s, &opts), -1);
    assert_int_equal(client_schedule_read_connections(&s, &opts), -1);
    log_set_stream(NULL);
    text = print_close();
    snprintf(expected, sizeof expected, ": --schedule: '%s': line 2: invalid step '10s:5x'", path);
    assert_has(text, expected);
    snprintf(expected, sizeof expected, ": --conn-schedule: '%s': line 2: invalid step '10s:5x'",
             path);
    assert_has(text, expected);
    free(text);
}

static void a_connection_schedule_has_a_peak_of_at_least_one_connection(void **state)
{
    static const struct {
        const char *steps;
        int result;
    } cases[] = {
        {"10s:0-500", 0}, {"10s:0-1", 0}, {"10s:0-0.5", -1}, {"10s:0", -1}, {"10s:100M", -1},
    };
    struct schedule s;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (client_schedule_read_connections(
                &s, &(struct client_opts){.conn_schedule = cases[i].steps}) != cases[i].result)
            fail_msg("'%s'", cases[i].steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_schedule_is_read_from_the_option_or_from_its_file,
                                        create_file, remove_file),
        cmocka_unit_test_setup_teardown(invalid_schedules_are_refused, create_file, remove_file),
        cmocka_unit_test_setup_teardown(an_error_in_a_file_names_the_file, create_file,
                                        remove_file),
        cmocka_unit_test(a_connection_schedule_has_a_peak_of_at_least_one_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
