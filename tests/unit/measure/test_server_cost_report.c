/* SPDX-License-Identifier: MIT
 * test_server_cost_report: every figure of a made-up server is in its place. */
#include "measure/server_cost_report.h"

#include "print_steps.h"

#include <math.h>
#include <stdlib.h>

enum { N_SAMPLES = 5 };

static struct watch_sample samples[N_SAMPLES];
static const struct watch_series series = {.items = samples, .n = N_SAMPLES};
static const struct server_cost known = {
    .name = "nsd (process 12)",
    .end = "no process is left",
    .n_samples = 30,
    .user = {.n = 11, .per_x = 1500.25, .low = -1480.5, .high = 1520.75},
    .kernel = {.n = 2, .per_x = 4200, .low = NAN, .high = NAN},
    .user_source = SERVER_COST_PSS,
    .buffer_bytes = 0.5,
    .queries = 100,
    .user_ns = 30000.75,
    .system_ns = 70000.75,
    .cpus = 1.25,
    .rss_bytes = 101,
    .pss_bytes = 102,
    .cgroup_bytes = 103,
    .fds = 104,
    .processes = 105,
    .listen_queue = 7,
    .listen_backlog = 4096,
    .listen_overflows = 1,
    .listen_drops = 2,
};
static const struct server_cost unknown = {
    .name = "nsd (process 12)",
    .buffer_bytes = NAN,
    .queries = WATCH_UNKNOWN,
    .user_ns = NAN,
    .system_ns = NAN,
    .cpus = NAN,
    .rss_bytes = WATCH_UNKNOWN,
    .pss_bytes = WATCH_UNKNOWN,
    .cgroup_bytes = WATCH_UNKNOWN,
    .fds = WATCH_UNKNOWN,
    .processes = WATCH_UNKNOWN,
    .listen_queue = WATCH_UNKNOWN,
    .listen_backlog = WATCH_UNKNOWN,
    .listen_overflows = WATCH_UNKNOWN,
    .listen_drops = WATCH_UNKNOWN,
};

static int make_samples(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < N_SAMPLES; i++) {
        watch_sample_init(&samples[i]);
        samples[i].at[WATCH_EPOCH_NS] = 10 + i;
        samples[i].at[WATCH_LISTEN_DROPS] = 20 + i;
    }
    return 0;
}

static char *text_of(const struct server_cost *c)
{
    server_cost_report_text(print_open(), c);
    return print_close();
}

static char *json_of(const struct server_cost *c, size_t most_rows)
{
    struct json j;

    json_init(&j, print_open());
    server_cost_report_json(&j, NULL, c, &series, most_rows);
    return print_close();
}

static void summary_has_every_figure(void **state)
{
    char *text = text_of(&known);

    (void)state;
    assert_string_equal(
        text,
        "Server cost  nsd (process 12)\n"
        "             1,500 B (-1,481 B to 1,521 B at 95 % confidence) of user memory (pss) per "
        "connection\n"
        "             no clear growth of user memory: if the server reuses memory of earlier "
        "connections, restart it before a run\n"
        "             4,200 B of kernel memory (cgroup) per connection\n"
        "             100 us of CPU time per query: 30.0 us user, 70.0 us system; 1.25 CPUs busy\n"
        "             listen queue: longest seen 7 of 4,096, 1 overflow, 2 drops\n"
        "             samples end early: no process is left\n");
    free(text);
}

static void user_memory_without_clear_growth_may_be_reused(void **state)
{
    static const struct {
        double bytes, low;
        bool says_so;
    } slopes[] = {{-400000, NAN, true}, {0.4, NAN, true}, {0.5, NAN, false}, {222, NAN, false},
                  {0, -2, true},        {7, -9, true},    {7, 0.4, true},    {222, 186, false}};
    struct server_cost c = known;

    (void)state;
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        char *text;

        c.user.per_x = slopes[i].bytes;
        c.user.low = slopes[i].low;
        text = text_of(&c);
        assert_int_equal(strstr(text, "             no clear growth of user memory: if the server "
                                      "reuses memory of earlier connections, restart it before a "
                                      "run\n") != NULL,
                         slopes[i].says_so);
        free(text);
    }
}

static void cpu_time_of_less_than_a_tick_is_not_called_0(void **state)
{
    struct server_cost c = known;
    char *text;

    (void)state;
    c.queries = 388;
    c.user_ns = c.system_ns = c.cpus = 0;
    text = text_of(&c);
    assert_non_null(strstr(text, "             CPU time per query unknown: less than a clock tick "
                                 "for 388 queries: use a longer run or a higher rate\n"));
    assert_null(strstr(text, "CPUs busy"));
    free(text);
}

static void a_part_of_the_cpu_time_below_a_tick_is_not_called_0(void **state)
{
    static const struct {
        double user_ns, system_ns;
        const char *says;
    } parts[] = {{30000, 70000, "100 us of CPU time per query: 30.0 us user, 70.0 us system;"},
                 {0, 70000, "70.0 us of CPU time per query: all system;"},
                 {30000, 0, "30.0 us of CPU time per query: all user;"}};
    struct server_cost c = known;

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *text;

        c.user_ns = parts[i].user_ns;
        c.system_ns = parts[i].system_ns;
        text = text_of(&c);
        assert_non_null(strstr(text, parts[i].says));
        free(text);
    }
}

static void summary_leaves_out_what_is_unknown(void **state)
{
    char *text = text_of(&unknown);

    (void)state;
    assert_string_equal(
        text, "Server cost  nsd (process 12)\n"
              "             memory per connection unknown: needs samples taken while at least "
              "100 connections open\n");
    free(text);
}

static void kernel_memory_may_be_unknown_alone(void **state)
{
    struct server_cost c = known;
    char *text;

    (void)state;
    c.kernel.n = 0;
    text = text_of(&c);
    assert_has(text, " of user memory (pss) per connection\n");
    assert_has(text, "\n             kernel memory unknown: needs a control group of the server's "
                     "own\n");
    free(text);
}

static void memory_is_not_unknown_where_the_kernel_has_some(void **state)
{
    struct server_cost c = known;
    char *text;

    (void)state;
    c.user.n = 0;
    text = text_of(&c);
    assert_has(text, "4,200 B of kernel memory (cgroup) per connection\n");
    assert_null(strstr(text, "unknown: needs"));
    free(text);
}

static void memory_that_was_freed_is_negative(void **state)
{
    static const struct {
        double bytes;
        const char *text;
    } slopes[] = {{-0.4, "0 B"}, {-0.5, "-1 B"}, {0.5, "1 B"}, {-1234.4, "-1,234 B"}};
    char text[SERVER_COST_SLOPE_BYTES];
    struct slope s = {.n = 0, .per_x = NAN, .low = NAN, .high = NAN};

    (void)state;
    assert_null(server_cost_slope_text(text, &s));
    s.n = 2;
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        s.per_x = slopes[i].bytes;
        assert_string_equal(server_cost_slope_text(text, &s), slopes[i].text);
    }
}

static void json_has_every_figure(void **state)
{
    char *text = json_of(&known, N_SAMPLES);

    (void)state;
    assert_has(text, "{\n  \"watched\": \"nsd (process 12)\",\n  \"end\": \"no process is left\",\n"
                     "  \"user_bytes_per_connection\": {\n    \"value\": 1500.25,\n"
                     "    \"low\": -1480.5,\n    \"high\": 1520.75,\n    \"samples\": 11,\n"
                     "    \"source\": \"pss\"\n  },\n"
                     "  \"kernel_bytes_per_connection\": {\n    \"value\": 4200,\n"
                     "    \"low\": null,\n    \"high\": null,\n    \"samples\": 2,\n"
                     "    \"source\": \"cgroup\"\n  },\n"
                     "  \"buffer_bytes_per_connection\": 0.5,\n  \"queries\": 100,\n"
                     "  \"user_ns_per_query\": 30000.75,\n  \"system_ns_per_query\": 70000.75,\n"
                     "  \"cpus\": 1.25,\n  \"rss_bytes\": 101,\n  \"pss_bytes\": 102,\n"
                     "  \"cgroup_bytes\": 103,\n  \"fds\": 104,\n  \"processes\": 105,\n"
                     "  \"listen_queue\": {\n    \"longest\": 7,\n    \"backlog\": 4096,\n"
                     "    \"overflows\": 1,\n    \"drops\": 2\n  },\n  \"n_samples\": 30,\n"
                     "  \"columns\": [\n    \"epoch_ns\",\n    \"connections\",\n");
    assert_has(text, "    \"listen_drops\"\n  ],\n  \"samples\": [\n    [10,null,null,");
    assert_has(text, ",null,null,24]\n  ]\n}\n");
    free(text);
}

static void json_has_null_for_what_is_unknown(void **state)
{
    char *text = json_of(&unknown, N_SAMPLES);

    (void)state;
    assert_has(text, "\"end\": null,\n  \"user_bytes_per_connection\": null,\n"
                     "  \"kernel_bytes_per_connection\": null,\n"
                     "  \"buffer_bytes_per_connection\": null,\n  \"queries\": null,\n");
    assert_has(text, "\"longest\": null,\n    \"backlog\": null,\n    \"overflows\": null,\n"
                     "    \"drops\": null\n");
    free(text);
}

/* Those written of five samples, by the numbers 0 to 4. */
static void samples_are_at_equal_distances_and_include_the_last(void **state)
{
    static const struct {
        size_t most_rows;
        const char *written;
    } limits[] = {{5, "01234"}, {4, "024"}, {3, "024"}, {2, "034"}, {1, "04"}};

    (void)state;
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        char *text = json_of(&known, limits[l].most_rows);

        for (char i = 0; i < N_SAMPLES; i++) {
            const char row[] = {'[', '1', (char)('0' + i), ',', '\0'};

            assert_int_equal(strstr(text, row) != NULL, strchr(limits[l].written, '0' + i) != NULL);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_has_every_figure),
        cmocka_unit_test(user_memory_without_clear_growth_may_be_reused),
        cmocka_unit_test(cpu_time_of_less_than_a_tick_is_not_called_0),
        cmocka_unit_test(a_part_of_the_cpu_time_below_a_tick_is_not_called_0),
        cmocka_unit_test(summary_leaves_out_what_is_unknown),
        cmocka_unit_test(kernel_memory_may_be_unknown_alone),
        cmocka_unit_test(memory_is_not_unknown_where_the_kernel_has_some),
        cmocka_unit_test(memory_that_was_freed_is_negative),
        cmocka_unit_test(json_has_every_figure),
        cmocka_unit_test(json_has_null_for_what_is_unknown),
        cmocka_unit_test(samples_are_at_equal_distances_and_include_the_last),
    };

    return cmocka_run_group_tests(tests, make_samples, NULL);
}
