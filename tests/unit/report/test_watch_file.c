/* SPDX-License-Identifier: MIT
 * test_watch_file: samples of a file, and the queries of a run by then. */
#include "report/watch_file.h"

#include "base/log.h"
#include "measure/server_cost_report.h"
#include "print_steps.h"
#include "report/result.h"
#include "report/server_cost_reader.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define S        1000000000ull
#define BEGIN_NS (1000000000 * S) /* 2001-09-09T01:46:40Z */

enum { N_BEFORE = 4, N_S = 10, QUERIES = 2000, US_PER_S = 60000 };

static char path[] = "/tmp/tcpscaler_watch_file.XXXXXX";

static int make_file(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* A sample per second from 4 s before the measurement to `last_s` after its begin. */
static void write_file_that_ends(int last_s, const char *why)
{
    struct watch_series s = {0};
    struct server_cost c = {.name = "server"};
    FILE *out = fopen(path, "we");
    struct json j;

    assert_non_null(out);
    snprintf(c.end, sizeof c.end, "%s", why);
    for (int i = -N_BEFORE; i <= last_s; i++) {
        struct watch_sample sample;

        watch_sample_init(&sample);
        sample.at[WATCH_EPOCH_NS] = BEGIN_NS + (uint64_t)((int64_t)i * (int64_t)S);
        sample.at[WATCH_USER_US] = (uint64_t)(i + N_BEFORE) * US_PER_S;
        sample.at[WATCH_SYSTEM_US] = 7;
        assert_int_equal(watch_series_add(&s, &sample), 0);
    }
    server_cost_compute(&c, &s, BEGIN_NS, BEGIN_NS + N_S * S);
    json_init(&j, out);
    server_cost_report_json(&j, NULL, &c, &s, 100);
    watch_series_free(&s);
    assert_int_equal(fclose(out), 0);
}

static void write_file(int last_s)
{
    write_file_that_ends(last_s, "gone");
}

/* Returns the JSON value of the text, to be freed. */
static struct json_object *parse(const char *text)
{
    char error[RESULT_ERROR_BYTES] = "";
    struct json_object *result = result_parse_any(text, strlen(text), error);

    assert_string_equal(error, "");
    return result;
}

/* Joins a run of 10 s whose program was started 2 s before. */
static struct json_object *join(const char *more)
{
    char text[512];
    struct json_object *result;

    snprintf(text, sizeof text,
             "{\"started\":\"2001-09-09T01:46:38.000Z\","
             "\"measured_from\":\"2001-09-09T01:46:40.000Z\",\"rate\":{\"duration_s\":%d},"
             "\"queries\":{\"sent\":%d}%s}",
             N_S, QUERIES, more);
    result = parse(text);
    assert_int_equal(watch_file_join(result, path), 0);
    return result;
}

static struct server_cost joined(const char *more)
{
    struct json_object *result = join(more);
    struct server_cost c;

    assert_int_equal(server_cost_read(&c, result_find(result, "server_cost")), 0);
    result_free(result);
    return c;
}

static void cpu_time_is_that_of_the_queries_meanwhile(void **state)
{
    (void)state;
    write_file(N_S + 4);
    assert_int_equal(joined("").queries, QUERIES);
    assert_true(fabs(joined("").user_ns - 1e3 * US_PER_S * N_S / QUERIES) <= 1e-6);
    /* those of a search that no trial counts cost as much */
    assert_int_equal(joined(",\"warmup\":{\"sent\":400}").queries, QUERIES);
    assert_int_equal(joined(",\"warmup\":{\"sent\":400},\"search\":{}").queries, QUERIES + 400);
}

static void samples_around_the_run_belong_to_it(void **state)
{
    struct watch_series s = {0};
    struct json_object *result;

    (void)state;
    write_file(N_S + 4);
    result = join("");
    assert_int_equal(
        server_cost_read_samples(&s, result_find(result, "server_cost"), 0, UINT64_MAX), 0);
    assert_int_equal(s.n, 3 + N_S + 2); /* from 1.5 s before the start to 1.5 s after the end */
    for (int i = -3; i <= N_S + 1; i++)
        assert_int_equal(s.items[i + 3].at[WATCH_QUERIES], i < 0     ? 0
                                                           : i > N_S ? QUERIES
                                                                     : i * QUERIES / N_S);
    watch_series_free(&s);
    result_free(result);
}

static void an_end_after_the_run_does_not_matter(void **state)
{
    (void)state;
    write_file(N_S - 1); /* the last sample: within its margin */
    assert_string_equal(joined("").end, "");
    write_file(N_S - 2);
    assert_string_equal(joined("").end, "gone");
    write_file_that_ends(N_S - 2, "");
    assert_string_equal(joined("").end, "watching was stopped");
}

static void a_run_without_queries_has_no_cost_per_query(void **state)
{
    struct json_object *result = parse("{\"started\":\"2001-09-09T01:46:38.000Z\","
                                       "\"measured_from\":\"2001-09-09T01:46:40.000Z\","
                                       "\"rate\":{\"duration_s\":10}}");
    struct server_cost c;

    (void)state;
    write_file(N_S);
    assert_int_equal(watch_file_join(result, path), 0);
    assert_int_equal(server_cost_read(&c, result_find(result, "server_cost")), 0);
    assert_true(c.queries == WATCH_UNKNOWN);
    result_free(result);
}

static void assert_refused(const char *run, const char *file, const char *wanted)
{
    struct json_object *result = parse(run);
    char *said;

    log_set_stream(print_open());
    assert_int_equal(watch_file_join(result, file), -1);
    log_set_stream(NULL);
    said = print_close();
    assert_has(said, wanted);
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1); /* a single line */
    free(said);
    assert_null(result_find(result, "server_cost"));
    result_free(result);
}

static void files_that_do_not_match_the_run_are_refused_with_one_line(void **state)
{
    static const char run[] = "{\"started\":\"2001-09-09T01:46:38.000Z\",\"measured_from\":"
                              "\"2001-09-09T01:46:40.000Z\",\"rate\":{\"duration_s\":10}}",
                      later[] = "{\"started\":\"2001-09-10T01:46:38.000Z\",\"measured_from\":"
                                "\"2001-09-10T01:46:40.000Z\",\"rate\":{\"duration_s\":10}}",
                      unmeasured[] = "{\"started\":\"2001-09-09T01:46:38.000Z\"}";
    FILE *out;

    (void)state;
    write_file(N_S);
    assert_refused(run, "/nonexistent", "--watch: /nonexistent: cannot read: No such file");
    assert_refused(later, path, ": no samples from the time of the run\n");
    assert_refused(unmeasured, path, "--watch: the result does not say when its measurement began");
    out = fopen(path, "we");
    assert_non_null(out);
    fputs("{\"watched\":", out);
    assert_int_equal(fclose(out), 0);
    assert_refused(run, path, "--watch: /tmp/tcpscaler_watch_file.");
    out = fopen(path, "we");
    assert_non_null(out);
    fputs("{}", out);
    assert_int_equal(fclose(out), 0);
    assert_refused(run, path, ": expected a file of tcpreport watch --json\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_time_is_that_of_the_queries_meanwhile),
        cmocka_unit_test(samples_around_the_run_belong_to_it),
        cmocka_unit_test(an_end_after_the_run_does_not_matter),
        cmocka_unit_test(a_run_without_queries_has_no_cost_per_query),
        cmocka_unit_test(files_that_do_not_match_the_run_are_refused_with_one_line),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
