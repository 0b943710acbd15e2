/* SPDX-License-Identifier: MIT
 * test_server_cost_reader: what is written is read again. */
#include "report/server_cost_reader.h"

#include "measure/server_cost_report.h"
#include "print_steps.h"
#include "report/result.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct json_object *parse(const char *text)
{
    char error[RESULT_ERROR_BYTES];
    struct json_object *object = result_parse_any(text, strlen(text), error);

    assert_non_null(object);
    return object;
}

static struct watch_series series_of(uint64_t n)
{
    struct watch_series s = {0};

    for (uint64_t i = 0; i < n; i++) {
        struct watch_sample sample;

        watch_sample_init(&sample);
        for (int f = 0; f < WATCH_N_FIGURES - 1; f++)
            sample.at[f] = 1000 * i + (uint64_t)f * i;
        assert_int_equal(watch_series_add(&s, &sample), 0);
    }
    return s;
}

static struct json_object *written(const struct server_cost *c, const struct watch_series *s,
                                   size_t most_rows)
{
    struct json_object *object;
    struct json j;
    char *text;

    json_init(&j, print_open());
    server_cost_report_json(&j, NULL, c, s, most_rows);
    text = print_close();
    object = parse(text);
    free(text);
    return object;
}

static void assert_same_slope(struct slope a, struct slope b)
{
    assert_int_equal(a.n, b.n);
    assert_true(a.per_x == b.per_x && a.low == b.low && a.high == b.high);
}

static void figures_survive(void **state)
{
    const struct server_cost c = {
        .name = "a \"server\" <b>",
        .end = "gone",
        .n_samples = 20,
        .user = {.n = 21, .per_x = 22.5, .low = 21.5, .high = 23.5},
        .kernel = {.n = 24, .per_x = 25.5, .low = 24.5, .high = 26.5},
        .user_source = SERVER_COST_RSS,
        .buffer_bytes = 27.5,
        .queries = 28,
        .user_ns = 29.5,
        .system_ns = 30.5,
        .cpus = 0.5,
        .rss_bytes = 32,
        .pss_bytes = 33,
        .cgroup_bytes = 34,
        .fds = 35,
        .processes = 36,
        .listen_queue = 37,
        .listen_backlog = 38,
        .listen_overflows = 39,
        .listen_drops = 40,
    };
    struct watch_series s = series_of(20);
    struct json_object *object = written(&c, &s, 100);
    struct server_cost again;

    (void)state;
    assert_int_equal(server_cost_read(&again, object), 0);
    assert_string_equal(again.name, c.name);
    assert_string_equal(again.end, c.end);
    assert_int_equal(again.n_samples, c.n_samples);
    assert_same_slope(again.user, c.user);
    assert_same_slope(again.kernel, c.kernel);
    assert_int_equal(again.user_source, c.user_source);
    assert_true(again.buffer_bytes == c.buffer_bytes);
    assert_int_equal(again.queries, c.queries);
    assert_true(again.user_ns == c.user_ns && again.system_ns == c.system_ns);
    assert_true(again.cpus == c.cpus);
    assert_memory_equal(&again.rss_bytes, &c.rss_bytes,
                        sizeof c - offsetof(struct server_cost, rss_bytes));
    result_free(object);
    watch_series_free(&s);
}

/* The kernel has not counted the drops. */
static void unknown_figures_survive(void **state)
{
    struct watch_series s = series_of(20);
    struct server_cost c = {.name = "a server"}, again;
    struct json_object *object;

    (void)state;
    server_cost_compute(&c, &s, 5000, 15000);
    c.listen_drops = WATCH_UNKNOWN;
    object = written(&c, &s, 100);
    assert_int_equal(server_cost_read(&again, object), 0);
    assert_int_equal(again.listen_overflows, c.listen_overflows);
    assert_int_equal(again.listen_drops, WATCH_UNKNOWN);
    result_free(object);
    watch_series_free(&s);
}

static void figures_beyond_all_bounds_are_unknown(void **state)
{
    static const char *const texts[] = {
        "{\"user_ns_per_query\": 5, \"system_ns_per_query\": null, \"cpus\": 1}",
        "{\"user_ns_per_query\": -5, \"system_ns_per_query\": 5, \"cpus\": 1}",
        "{\"user_ns_per_query\": 1e300, \"system_ns_per_query\": 5, \"cpus\": 1}",
        "{\"user_bytes_per_connection\": {\"value\": null, \"high\": 2, \"samples\": 9}}"};
    struct server_cost c;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json_object *object = parse(texts[i]);

        assert_int_equal(server_cost_read(&c, object), 0);
        assert_true(isnan(c.user_ns));
        assert_int_equal(c.user.n, 0);
        result_free(object);
    }
}

static void samples_survive_or_are_thinned(void **state)
{
    struct watch_series s = series_of(100), again;
    const struct server_cost c = {.name = ""};
    struct json_object *object = written(&c, &s, 100);

    (void)state;
    assert_int_equal(server_cost_read_samples(&again, object, 0, UINT64_MAX), 0);
    assert_int_equal(again.n, 100);
    assert_memory_equal(again.items, s.items, 100 * sizeof *s.items);
    watch_series_free(&again);
    result_free(object);
    object = written(&c, &s, 30);
    assert_int_equal(server_cost_read_samples(&again, object, 0, UINT64_MAX), 0);
    assert_int_equal(again.n, 26); /* every fourth, and the last */
    assert_int_equal(again.items[25].at[0], s.items[99].at[0]);
    watch_series_free(&again);
    result_free(object);
    watch_series_free(&s);
}

static void missing_figures_are_unknown(void **state)
{
    struct json_object *object = parse("{\"user_bytes_per_connection\": 5, \"fds\": \"x\"}");
    struct server_cost c;

    (void)state;
    assert_int_equal(server_cost_read(&c, NULL), -1);
    assert_int_equal(server_cost_read(&c, object), 0);
    assert_int_equal(c.kernel.n, 0);
    assert_int_equal(c.fds, WATCH_UNKNOWN);
    assert_true(isnan(c.user_ns));
    result_free(object);
}

static void wrong_samples_are_refused(void **state)
{
    static const char *const wrong[] = {
        "[5]",
        "{\"samples\": []}",
        "{\"columns\": [\"epoch_ns\"], \"samples\": [[2], [1]]}",
        "{\"columns\": [\"fds\"], \"samples\": [[2]]}",
        "{\"columns\": [\"epoch_ns\"], \"samples\": [[null]]}",
        "{\"columns\": [\"epoch_ns\"], \"samples\": [5]}",
        "{\"columns\": [\"epoch_ns\"], \"samples\": [[\"x\"]]}",
    };
    struct watch_series s;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct json_object *object = parse(wrong[i]);

        assert_int_equal(server_cost_read_samples(&s, object, 0, UINT64_MAX), -1);
        watch_series_free(&s);
        result_free(object);
    }
}

static void other_columns_are_left_out(void **state)
{
    struct json_object *object =
        parse("{\"columns\": [\"moon\", \"fds\", \"epoch_ns\"], \"samples\": [[1, 2, 3, 4], [5, "
              "null, 7]]}");
    struct watch_series s;

    (void)state;
    assert_int_equal(server_cost_read_samples(&s, object, 0, UINT64_MAX), 0);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.items[0].at[WATCH_FDS], 2);
    assert_int_equal(s.items[1].at[WATCH_FDS], WATCH_UNKNOWN);
    assert_int_equal(s.items[1].at[WATCH_EPOCH_NS], 7);
    watch_series_free(&s);
    result_free(object);
}

/* Reading has its own limit: with one more sample, every other one is dropped. */
static void highest_values_are_those_of_all_samples_of_the_time(void **state)
{
    static struct watch_sample items[WATCH_SERIES_MOST];
    const struct watch_series all = {.items = items, .n = WATCH_SERIES_MOST};
    const struct server_cost c = {.name = ""};
    struct json_object *object;
    struct watch_series s;

    (void)state;
    for (size_t i = 0; i < all.n; i++) {
        watch_sample_init(&items[i]);
        items[i].at[WATCH_EPOCH_NS] = 1000 + i;
    }
    items[1].at[WATCH_LISTEN_QUEUE] = 500;
    items[3].at[WATCH_LISTEN_QUEUE] = 300;
    object = written(&c, &all, all.n);
    assert_int_equal(server_cost_read_samples(&s, object, 1001, UINT64_MAX), 0);
    assert_int_equal(s.items[0].at[WATCH_EPOCH_NS], 1001);
    assert_int_equal(s.n, WATCH_SERIES_MOST - 1);
    watch_series_free(&s);
    assert_int_equal(server_cost_read_samples(&s, object, 0, UINT64_MAX), 0);
    assert_true(s.n < WATCH_SERIES_MOST - 1);
    assert_int_equal(watch_series_most(&s, WATCH_LISTEN_QUEUE), 500);
    watch_series_free(&s);
    assert_int_equal(server_cost_read_samples(&s, object, 1002, 1010), 0);
    assert_int_equal(s.n, 9);
    assert_int_equal(watch_series_most(&s, WATCH_LISTEN_QUEUE), 300);
    watch_series_free(&s);
    assert_int_equal(server_cost_read_samples(&s, object, 0, 999), 0);
    assert_int_equal(s.n, 0);
    watch_series_free(&s);
    result_free(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_survive),
        cmocka_unit_test(unknown_figures_survive),
        cmocka_unit_test(figures_beyond_all_bounds_are_unknown),
        cmocka_unit_test(samples_survive_or_are_thinned),
        cmocka_unit_test(missing_figures_are_unknown),
        cmocka_unit_test(wrong_samples_are_refused),
        cmocka_unit_test(other_columns_are_left_out),
        cmocka_unit_test(highest_values_are_those_of_all_samples_of_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
