/* SPDX-License-Identifier: MIT
 * test_html_plots: the data in the scripts; gaps where nothing is known, and only there. */
#include "report/html_plots.h"
#include "report/recordings.h"

#include "print_steps.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_COLUMNS = 4, ROW = 6 * HISTORY_ROWS_PER_DECADE }; /* 1 ms */

static struct history_column columns[N_COLUMNS];
static struct history history;

/* Seconds 0 and 1 have an interval each, the one of second 1 reaches to 3; nothing happens then. */
static int start(void **state)
{
    (void)state;
    memset(columns, 0, sizeof columns);
    for (int i = 0; i < N_COLUMNS; i++) {
        columns[i].begin_s = i;
        columns[i].p50_ns = columns[i].p99_ns = columns[i].max_ns = LATENCY_UNKNOWN;
    }
    columns[0].length_s = 1;
    columns[0].n_sent = columns[0].n_answered = columns[0].counts[ROW] = 100;
    columns[0].p50_ns = columns[0].p99_ns = 1000000;
    columns[1].length_s = 2;
    columns[1].n_sent = 50;
    columns[1].n_answered = 40;
    columns[1].counts[ROW + 1] = 20;
    columns[1].p50_ns = 1000000;
    columns[1].p99_ns = HIST_BEYOND;
    history = (struct history){.columns = columns,
                               .n = N_COLUMNS,
                               .column_s = 1,
                               .first_row = ROW,
                               .end_rows = ROW + 2,
                               .most = 100};
    return 0;
}

static char *text_of_history(void (*print)(FILE *script, const struct history *h))
{
    print(print_open(), &history);
    return print_close();
}

static void cell_is_the_more_opaque_the_more_answers(void **state)
{
    char *text = text_of_history(html_plots_heat_map);

    (void)state;
    /* per column and row: place, colour, opacity */
    assert_has(text, "$cells << EOD\n"
                     "0.5 -2.95833333 68 119 170 255\n"
                     "0.5 -2.875 68 119 170 0\n"
                     "1.5 -2.95833333 68 119 170 0\n"
                     "1.5 -2.875 68 119 170 181\n"
                     "2.5 -2.95833333 68 119 170 0\n" /* the same interval */
                     "2.5 -2.875 68 119 170 181\n"
                     "3.5 -2.95833333 68 119 170 0\n" /* nothing */
                     "3.5 -2.875 68 119 170 0\n"
                     "EOD\n");
    free(text);
}

/* The times of a steady server may lie between two decades. */
static void axis_of_times_has_marks(void **state)
{
    static const struct {
        unsigned first_row, end_rows;
        const char *marks;
    } cases[] = {
        {ROW - 2, ROW + 26, "'' -4.16666667, '1 ms' -3, '10 ms' -2, '100 ms' -1)\n"},
        {ROW + 1, ROW + 14, "'' -3.91666667, '2 ms' -2.69897, '5 ms' -2.30103, '10 ms' -2)\n"},
        {ROW + 3, ROW + 5, "'' -3.75, '1.78 ms' -2.75, '2.61 ms' -2.58333333)\n"},
        {ROW + 1, ROW + 3, "'' -3.91666667, '1.21 ms' -2.91666667, '1.78 ms' -2.75)\n"},
        {HISTORY_ROWS - 13, HISTORY_ROWS, "'1000 s' 3, '10000 s' 4)\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;

        history.first_row = cases[i].first_row;
        history.end_rows = cases[i].end_rows;
        text = text_of_history(html_plots_heat_map);
        assert_has(text, cases[i].marks);
        free(text);
    }
}

static void percentile_that_is_unknown_or_unanswered_is_a_gap(void **state)
{
    char *text = text_of_history(html_plots_heat_map);

    (void)state;
    assert_has(text, "$lines << EOD\n0 -3 -3\n1 -3 -3\n1 -3 NaN\n2 -3 NaN\n2 -3 NaN\n3 -3 NaN\n"
                     "3 NaN NaN\n4 NaN NaN\nEOD\n");
    assert_has(text,
               "title 'p50', $lines using 1:3 with lines lw 1.5 lc rgb 'black' title 'p99'\n");
    free(text);
    columns[0].p99_ns = LATENCY_UNKNOWN; /* of too few answers */
    text = text_of_history(html_plots_heat_map);
    assert_has(text, "title 'p50'\n");
    free(text);
    columns[0].p50_ns = columns[1].p50_ns = HIST_BEYOND;
    text = text_of_history(html_plots_heat_map);
    assert_has(text, "with rgbalpha notitle\n");
    free(text);
}

static void print_rates(FILE *out, const struct history *h)
{
    html_plots_rates(out, h, 100);
}

static void rates_are_those_of_what_a_column_covers(void **state)
{
    char *text;

    (void)state;
    text = text_of_history(print_rates);
    assert_has(text, "$d << EOD\n0 100 0 100\n1 100 1 100\n1 20 1 25\n3 20 3 25\nEOD\n");
    assert_has(text, "plot 100 with lines");
    assert_has(text, "lt 1 lw 4 title 'sent', $d using 1:2 with lines lt 3 title"); /* both seen */
    free(text);
    columns[1].length_s = 0; /* nothing known from 1 to 3, after which a part of a second */
    columns[3].length_s = 0.4;
    columns[3].n_sent = 1000;
    text = text_of_history(print_rates);
    assert_has(text, "$d << EOD\n0 100 0 100\n1 100 1 100\nEOD\n");
    free(text);
    columns[3].length_s = 1;
    text = text_of_history(print_rates);
    assert_has(text, "1 100 1 100\n1 NaN NaN NaN\n3 0 3 1000\n4 0 4 1000\nEOD\n");
    free(text);
    columns[2].begin_s = 1.999; /* a second less a millisecond */
    columns[2].length_s = 1;
    text = text_of_history(print_rates);
    assert_has(text, "1 100 1 100\n1 NaN NaN NaN\n1.999 0 1.999 0\n");
    free(text);
}

/* Of intervals that begin before it and end after it: the last query was due at its end, and was
 * answered a quarter of a second later, if at all. */
static void rates_are_those_of_the_measurement(void **state)
{
    char *text;

    (void)state;
    history.from_s = 0.2;
    history.to_s = 2.25;
    text = text_of_history(print_rates);
    assert_has(text, "$d << EOD\n0.2 125 0.2 125\n1 125 1 125\n1 32 1 40\n2.25 32 2.25 40\nEOD\n");
    free(text);
    columns[1].max_ns = 350000000;
    text = text_of_history(print_rates);
    assert_has(text, "1 125 1 125\n1 25 1 40\n2.6 25 2.25 40\nEOD\n");
    free(text);
    history.to_s = 1.25; /* a quarter of a second says little */
    text = text_of_history(print_rates);
    assert_has(text, "1 125 1 125\n1 66.6666667 1 nan\n1.6 66.6666667 1.25 nan\nEOD\n");
    free(text);
    columns[1].max_ns = 150000000;
    text = text_of_history(print_rates);
    assert_has(text, "1 125 1 125\nEOD\n");
    free(text);
    columns[1].n_sent = 0; /* only answers */
    history.to_s = 1;
    text = text_of_history(print_rates);
    assert_has(text, "1 125 1 125\n1 20 1 0\n3 20 3 0\nEOD\n");
    free(text);
    history.n = 1;
    history.from_s = 0.6;
    assert_false(html_plots_has_rates(&history));
}

/* The seconds of several instances begin at different times: columns overlap. */
static void rates_of_several_instances_never_go_back_in_time(void **state)
{
    char *text;

    (void)state;
    columns[0].length_s = 1.25;
    columns[1].begin_s = 0.75;
    text = text_of_history(print_rates);
    assert_has(text,
               "$d << EOD\n0 80 0 80\n1.25 80 1.25 80\n1.25 20 1.25 25\n2.75 20 2.75 25\nEOD\n");
    free(text);
    columns[0].length_s = 4; /* one of them was stopped for a while */
    text = text_of_history(print_rates);
    assert_has(text, "$d << EOD\n0 25 0 25\n4 25 4 25\n4 20 4 25\n4 20 4 25\nEOD\n");
    free(text);
}

/* A listener waits for messages of the measurement until its drain has passed. */
static void messages_of_the_last_second_are_not_spread_over_the_drain(void **state)
{
    char *text;

    (void)state;
    history.to_s = 2;
    columns[1].max_ns = 1000;
    text = text_of_history(html_plots_message_rate);
    assert_has(text, "0 100 0 100\n1 100 1 100\n1 39.99996 1 50\n2.000001 39.99996 2 50\nEOD\n");
    free(text);
}

static void picture_needs_more_than_a_cell_and_half_a_second(void **state)
{
    (void)state;
    assert_true(html_plots_has_rates(&history) && html_plots_has_heat_map(&history));
    for (int i = 0; i < N_COLUMNS; i++)
        columns[i].length_s = 0.4;
    assert_false(html_plots_has_rates(&history));
    history.n = 1;
    assert_false(html_plots_has_heat_map(&history));
    history.n = N_COLUMNS;
    history.end_rows = history.first_row + 1;
    assert_false(html_plots_has_heat_map(&history));
    history.end_rows++;
    history.most = 0;
    assert_false(html_plots_has_heat_map(&history));
}

static void messages_are_received_and_not_sent(void **state)
{
    char *text = text_of_history(html_plots_message_rate);

    (void)state;
    assert_has(text, "messages/s");
    assert_has(text, "plot $d using 1:2 with lines lt 1 title 'received'");
    assert_null(strstr(text, "sent"));
    free(text);
}

static void axis_of_time_has_few_marks(void **state)
{
    static const struct {
        double column_s;
        const char *marks;
    } cases[] = {{0.25, "set xtics 0.5\n"}, {1, "set xtics 1\n"},   {3, "set xtics 5\n"},
                 {10, "set xtics 10\n"},    {15, "set xtics 20\n"}, {900, "set xtics 1000\n"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;

        history.column_s = cases[i].column_s;
        text = text_of_history(print_rates);
        assert_has(text, cases[i].marks);
        free(text);
    }
}

static void trials_that_the_host_limited_are_left_out(void **state)
{
    struct json_object *search = json_tokener_parse(
        "{\"find\": \"rate\", \"lower\": 200, \"upper\": null, \"trials\": ["
        "{\"class\": \"good\", \"load\": 100, \"p50_ns\": 1000, \"p99_ns\": null},"
        "{\"class\": \"void\", \"load\": 300, \"p50_ns\": 1000, \"p99_ns\": 2000},"
        "{\"class\": null, \"load\": 900, \"p50_ns\": 1000, \"p99_ns\": 2000},"
        "{\"class\": \"bad\", \"load\": 400, \"p50_ns\": 3000, \"p99_ns\": 5000}]}");
    char *text;

    (void)state;
    assert_true(html_plots_has_trials(search));
    assert_false(html_plots_has_trials(NULL));
    html_plots_trials(print_open(), search);
    text = print_close();
    assert_has(text, "$p50 << EOD\nNaN NaN\n100 1e-06\n400 3e-06\nEOD\n");
    assert_has(text, "$p99 << EOD\nNaN NaN\n400 5e-06\nEOD\n");
    assert_has(text, "from first 200, graph 0 to first 200, graph 1");
    assert_has(text, "'load, queries/s'");
    free(text);
    json_object_put(search);
}

/* As after the doubling that overloads a server: the loads below it are tried in between. */
static void trial_without_a_p99_does_not_split_the_curve(void **state)
{
    struct json_object *search = json_tokener_parse(
        "{\"find\": \"rate\", \"trials\": ["
        "{\"class\": \"good\", \"load\": 100, \"p50_ns\": 1000, \"p99_ns\": 2000},"
        "{\"class\": \"bad\", \"load\": 200, \"p50_ns\": 9000, \"p99_ns\": null},"
        "{\"class\": \"good\", \"load\": 150, \"p50_ns\": 1000, \"p99_ns\": 3000}]}");
    char *text;

    (void)state;
    html_plots_trials(print_open(), search);
    text = print_close();
    assert_has(text, "$p50 << EOD\nNaN NaN\n100 1e-06\n200 9e-06\n150 1e-06\nEOD\n");
    assert_has(text, "$p99 << EOD\nNaN NaN\n100 2e-06\n150 3e-06\nEOD\n");
    assert_has(text, "title 'p50', $p99 using");
    free(text);
    json_object_put(search);
    search = json_tokener_parse("{\"find\": \"rate\", \"trials\": ["
                                "{\"class\": \"bad\", \"load\": 100, \"p50_ns\": 1000},"
                                "{\"class\": \"bad\", \"load\": 50, \"p50_ns\": 1000}]}");
    html_plots_trials(print_open(), search);
    text = print_close();
    assert_null(strstr(text, "title 'p99'")); /* it would be in the key, without a line */
    free(text);
    json_object_put(search);
}

/* As where most queries had no answer: gnuplot would leave out the line. */
static void axis_reaches_a_bound_without_a_time(void **state)
{
    struct json_object *search = json_tokener_parse(
        "{\"find\": \"rate\", \"lower\": 200, \"upper\": 800, \"trials\": ["
        "{\"class\": \"good\", \"load\": 100, \"p50_ns\": 1000, \"p99_ns\": 2000},"
        "{\"class\": \"good\", \"load\": 200, \"p50_ns\": 1000, \"p99_ns\": 2000},"
        "{\"class\": \"bad\", \"load\": 800, \"p50_ns\": null, \"p99_ns\": null}]}");
    char *text;

    (void)state;
    html_plots_trials(print_open(), search);
    text = print_close();
    assert_has(text, "200 2e-06\nEOD\n");
    assert_has(text, "from first 800, graph 0 to first 800, graph 1");
    assert_has(text, "$reach << EOD\nNaN NaN\n100 1e-06\n800 1e-06\nEOD\n");
    assert_has(text, ", $reach using 1:2:('') with labels notitle\n");
    free(text);
    json_object_put(search);
}

static void memory_is_drawn_in_mib(void **state)
{
    struct watch_sample items[2];
    const struct watch_series samples = {.items = items, .n = 2};
    char *text;

    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        watch_sample_init(&items[i]);
        items[i].at[WATCH_CONNECTIONS] = 1000 * i;
        items[i].at[WATCH_RSS_BYTES] = (i + 1) << 19;
    }
    assert_true(html_plots_has_memory(&samples, WATCH_RSS_BYTES));
    assert_false(html_plots_has_memory(&samples, WATCH_PSS_BYTES));
    html_plots_memory(print_open(), &samples, WATCH_RSS_BYTES);
    text = print_close();
    assert_has(text, "'memory of the server, MiB'");
    assert_has(text, "$user << EOD\nNaN NaN\n0 0.5\n1000 1\nEOD\n");
    assert_has(text, "$kernel << EOD\nNaN NaN\nEOD\n");
    assert_has(text, "set xrange [0:1000]\nset xtics ('0' 0, '500' 500, '1k' 1000)\n"
                     "set yrange [0:*]\nset ytics 0.5\n");
    assert_has(text, "title 'user'\n"); /* a curve without points would be in the key */
    free(text);
    items[0].at[WATCH_CONNECTIONS] = 1600000;
    items[1].at[WATCH_CONNECTIONS] = 7;
    items[1].at[WATCH_RSS_BYTES] = (uint64_t)900 << 20;
    items[1].at[WATCH_CGROUP_KERNEL_BYTES] = 1 << 20;
    html_plots_memory(print_open(), &samples, WATCH_RSS_BYTES);
    text = print_close();
    assert_has(text, "set xtics ('0' 0, '500k' 500000, '1M' 1000000, '1.5M' 1500000)\n"
                     "set yrange [0:*]\nset ytics 200\n");
    assert_has(text, "$kernel << EOD\nNaN NaN\n7 1\nEOD\n");
    assert_has(text, "title 'user', $kernel with lines lt 2 title 'kernel'\n");
    free(text);
}

/* A clock tick of 10 ms, 100 ms after the sample before: not a tenth of a CPU. */
static void cpu_time_of_a_moment_is_left_out(void **state)
{
    struct watch_sample items[3];
    struct watch_series samples = {.items = items, .n = 3};
    char *text;

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        watch_sample_init(&items[i]);
        items[i].at[WATCH_EPOCH_NS] = i < 2 ? i * 1000000000 : 1100000000;
        items[i].at[WATCH_USER_US] = items[i].at[WATCH_SYSTEM_US] = 10000 * i;
    }
    html_plots_cpu(print_open(), &samples);
    text = print_close();
    assert_has(text, "$d << EOD\n1 0.01 0.01\nEOD\n");
    free(text);
    assert_true(html_plots_has_cpu(&samples));
    samples.items++;
    samples.n = 2;
    assert_false(html_plots_has_cpu(&samples));
}

/* gnuplot warns of an empty range, whatever the least end of it is. */
static void server_that_seems_idle_has_ranges(void **state)
{
    struct watch_sample items[3];
    const struct watch_series samples = {.items = items, .n = 3};
    char *text;

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        watch_sample_init(&items[i]);
        items[i].at[WATCH_EPOCH_NS] = i * 1000000000;
        items[i].at[WATCH_CONNECTIONS] = items[i].at[WATCH_RSS_BYTES] = 0;
        items[i].at[WATCH_USER_US] = items[i].at[WATCH_SYSTEM_US] = 70000;
    }
    html_plots_memory(print_open(), &samples, WATCH_RSS_BYTES);
    text = print_close();
    assert_has(text, "set xrange [0:1]\nset xtics ('0' 0, '1' 1)\nset yrange [0:0.001]\n");
    free(text);
    html_plots_cpu(print_open(), &samples);
    text = print_close();
    assert_has(
        text,
        "$d << EOD\n1 0 0\n2 0 0\nEOD\nset xrange [0:2]\nset xtics 0.5\nset yrange [0:0.01]\n");
    free(text);
    items[2].at[WATCH_SYSTEM_US] = 270000;
    html_plots_cpu(print_open(), &samples);
    text = print_close();
    assert_has(
        text,
        "$d << EOD\n1 0 0\n2 0 0.2\nEOD\nset xrange [0:2]\nset xtics 0.5\nset yrange [0:*]\n");
    free(text);
}

/* Like the memory of a large server, with shared parts counted once. */
static void memory_that_is_in_few_samples_is_drawn(void **state)
{
    enum { SAMPLES = 250 };
    static struct watch_sample items[SAMPLES];
    const struct watch_series samples = {.items = items, .n = SAMPLES};
    char *text;

    (void)state;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        watch_sample_init(&items[i]);
        items[i].at[WATCH_CONNECTIONS] = i;
        if (i % 2 == 1)
            items[i].at[WATCH_PSS_BYTES] = 1 << 20;
    }
    html_plots_memory(print_open(), &samples, WATCH_PSS_BYTES);
    text = print_close();
    assert_has(text, "$user << EOD\nNaN NaN\n1 1\n3 1\n5 1\n");
    free(text);
}

static void sweep_needs_two_searches_with_a_mark(void **state)
{
    static const struct {
        const char *first, *second;
        bool has;
    } cases[] = {
        {"\"capacity\":110", "\"capacity\":90", true},
        {"\"capacity\":110", "\"lower\":80,\"upper\":100", true},
        {"\"capacity\":110", "\"upper\":100", false},
        {"\"upper\":100", "\"upper\":100", false}, /* both less than that */
        {"\"lower\":80", "\"lower\":80", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        struct json_object *sweep;

        snprintf(text, sizeof text,
                 "{\"points\":[{\"at\":1,\"search\":{%s}},{\"at\":10,\"search\":{%s}},"
                 "{\"at\":100,\"search\":null}]}",
                 cases[i].first, cases[i].second);
        sweep = json_tokener_parse(text);
        assert_non_null(sweep);
        assert_int_equal(html_plots_has_sweep(sweep), cases[i].has);
        json_object_put(sweep);
    }
}

static void recovery_ends_with_the_last_connection_that_is_back(void **state)
{
    uint64_t lost_ns[] = {5000000000, 6000000000}, back_ns[] = {7000000000, 9000000000};
    struct recording run = {.name = (char *)"run"};
    const struct recordings one = {&run, 1};
    char *text;

    (void)state;
    assert_false(html_plots_has_recovery(&one));
    run.connections.times[CONNECTIONS_LOST] = (struct connection_times){lost_ns, 2};
    run.connections.times[CONNECTIONS_BACK] = (struct connection_times){back_ns, 2};
    assert_true(html_plots_has_recovery(&one));
    html_plots_recovery(print_open(), &one);
    text = print_close();
    assert_has(text, "$l0 << EOD\n0 0\n0.000000 1\n1.000000 2\n1.000000 2\n4.000000 2\nEOD\n");
    assert_has(text, "$d0 << EOD\n0 0\n2.000000 1\n4.000000 2\n4.000000 2\n4.000000 2\nEOD\n");
    assert_has(text, "set xrange [0:4]");
    free(text);
}

/* gnuplot warns of an empty one. */
static void axis_of_equal_times_has_a_range(void **state)
{
    struct metrics metrics = {0};
    struct metric *m = metrics_get(&metrics, "response");
    char *text;

    (void)state;
    assert_non_null(m);
    for (int i = 0; i < 2; i++)
        hist_record(&m->hist, 2000);
    html_plots_percentiles(print_open(), &metrics);
    text = print_close();
    assert_has(text, "set yrange [1e-06:1e-05]\n");
    free(text);
    hist_record(&m->hist, 3000);
    html_plots_percentiles(print_open(), &metrics);
    text = print_close();
    assert_null(strstr(text, "set yrange"));
    free(text);
    metrics_free(&metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(cell_is_the_more_opaque_the_more_answers, start),
        cmocka_unit_test_setup(axis_of_times_has_marks, start),
        cmocka_unit_test_setup(percentile_that_is_unknown_or_unanswered_is_a_gap, start),
        cmocka_unit_test_setup(rates_are_those_of_what_a_column_covers, start),
        cmocka_unit_test_setup(rates_are_those_of_the_measurement, start),
        cmocka_unit_test_setup(rates_of_several_instances_never_go_back_in_time, start),
        cmocka_unit_test_setup(messages_of_the_last_second_are_not_spread_over_the_drain, start),
        cmocka_unit_test_setup(picture_needs_more_than_a_cell_and_half_a_second, start),
        cmocka_unit_test_setup(messages_are_received_and_not_sent, start),
        cmocka_unit_test_setup(axis_of_time_has_few_marks, start),
        cmocka_unit_test(trials_that_the_host_limited_are_left_out),
        cmocka_unit_test(trial_without_a_p99_does_not_split_the_curve),
        cmocka_unit_test(axis_reaches_a_bound_without_a_time),
        cmocka_unit_test(axis_of_equal_times_has_a_range),
        cmocka_unit_test(memory_is_drawn_in_mib),
        cmocka_unit_test(cpu_time_of_a_moment_is_left_out),
        cmocka_unit_test(server_that_seems_idle_has_ranges),
        cmocka_unit_test(memory_that_is_in_few_samples_is_drawn),
        cmocka_unit_test(sweep_needs_two_searches_with_a_mark),
        cmocka_unit_test(recovery_ends_with_the_last_connection_that_is_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
