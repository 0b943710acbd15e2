/* SPDX-License-Identifier: MIT
 * test_plot_lacks: which runs have the data for a picture, and what the others lack. */
#include "report/plot.h"

#include "interval_steps.h"
#include "plot_steps.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* gnuplot fails if all of its points are undefined. */
static void a_run_without_an_answer_has_no_times_to_draw(void **state)
{
    static struct recording both[2];
    struct metric *metric;
    const char *name = NULL;
    struct hist h;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record_beyond(&h, 30);
    add_interval(&run.timeline, NULL, 0, 0, 1000000000, &h);
    both[0] = (struct recording){.name = (char *)"silent", .timeline = run.timeline};
    both[1] = run;
    metric = metrics_get(&both[0].metrics, "response");
    assert_non_null(metric);
    hist_record_beyond(&metric->hist, 30);
    assert_non_null(plot_lacks(&(struct recordings){both, 1}, PLOT_TIME, "response", &name));
    assert_string_equal(name, "silent");
    assert_null(plot_lacks(&(struct recordings){both, 2}, PLOT_TIME, "response", &name));
    metrics_free(&both[0].metrics);
    timeline_free(&run.timeline);
    hist_free(&h);
}

static void missing_data_is_named(void **state)
{
    const char *name = NULL;

    (void)state;
    assert_null(plot_lacks(&one, PLOT_LATENCY, "response", &name));
    assert_string_equal(plot_lacks(&one, PLOT_LATENCY, "service", &name),
                        "no values of this metric: expected an --hlog file or the rows of -R");
    run.has_values = true; /* such a file was given */
    assert_string_equal(plot_lacks(&one, PLOT_LATENCY, "service", &name),
                        "no values of this metric in its log or rows");
    assert_string_equal(name, "run");
    assert_non_null(plot_lacks(&one, PLOT_TIME, "response", &name));
    assert_non_null(plot_lacks(&one, PLOT_CONNECT, "response", &name));
    assert_non_null(plot_lacks(&one, PLOT_RECOVERY, "response", &name));
    assert_non_null(plot_lacks(&one, PLOT_RATE, "response", &name));
    assert_has(plot_lacks(&one, PLOT_CAPACITY, "response", &name), "no trials with a p99: ");
}

/* A file that was given is not asked for: it has no such values. */
static void a_file_without_values_is_not_missing(void **state)
{
    struct recording nothing = {.name = (char *)"nothing",
                                .result = json_tokener_parse("{\"rate\":{\"asked_qps\":100,"
                                                             "\"achieved_qps\":null}}"),
                                .has_log = true,
                                .has_connections = true};
    const struct recordings all = {&nothing, 1};
    const struct {
        enum plot_kind kind;
        const char *lacks;
    } pictures[] = {
        {PLOT_TIME, "no intervals of this metric in its log"},
        {PLOT_CONNECT, "no connection was established"},
        {PLOT_RECOVERY, "no lost connections: the run lost none, or had no --reconnect"},
        {PLOT_RATE, "no rates in its result: "},
    };
    const char *name;

    (void)state;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        assert_has(plot_lacks(&all, pictures[i].kind, "response", &name), pictures[i].lacks);
    json_object_put(nothing.result);
}

static char left_out[200];

static void note(const char *name, const char *why)
{
    snprintf(left_out + strlen(left_out), sizeof left_out - strlen(left_out), "%s: %s\n", name,
             why);
}

static void a_run_with_nothing_to_draw_is_left_out(void **state)
{
    struct recording items[] = {{.name = (char *)"refused", .has_values = true}, run};
    struct recording copies[2];
    struct recordings drawn = {.items = copies};

    (void)state;
    left_out[0] = '\0';
    plot_select(&drawn, &(struct recordings){items, 2}, PLOT_LATENCY, "response", note);
    assert_int_equal(drawn.n, 1);
    assert_string_equal(drawn.items[0].name, run.name);
    assert_string_equal(left_out, "refused: no values of this metric in its log or rows\n");
    left_out[0] = '\0';
    plot_select(&drawn, &(struct recordings){items, 1}, PLOT_LATENCY, "response", note);
    assert_int_equal(drawn.n, 1); /* nothing would be left */
    items[0].has_values = false;  /* its file is missing */
    plot_select(&drawn, &(struct recordings){items, 2}, PLOT_LATENCY, "response", note);
    assert_int_equal(drawn.n, 2);
    assert_string_equal(left_out, "");
}

static struct recording searched(const char *result)
{
    const struct recording r = {.name = (char *)"run", .result = json_tokener_parse(result)};

    assert_non_null(r.result);
    return r;
}

static void searches_in_one_picture_are_alike(void **state)
{
    static const char
        rates[] = "{\"search\":{\"unit\":\"q/s\",\"trials\":[{\"p99_ns\":1}]}}",
        connections[] = "{\"search\":{\"unit\":\"connections\",\"trials\":"
                        "[{\"p99_ns\":1}]}}",
        sweep[] = "{\"sweep\":{\"over\":\"connections\",\"points\":[{\"at\":1,"
                  "\"search\":{\"unit\":\"q/s\",\"capacity\":9,\"lower\":8,\"upper\":10}}]}}",
        other[] = "{\"sweep\":{\"over\":\"size\",\"points\":[{\"at\":1,"
                  "\"search\":{\"unit\":\"q/s\",\"capacity\":9,\"lower\":8,\"upper\":10}}]}}",
        stopped[] = "{\"search\":{\"unit\":\"q/s\",\"trials\":[]}}",
        no_answer[] = "{\"sweep\":{\"over\":\"connections\",\"points\":[{\"at\":1,"
                      "\"search\":{\"unit\":\"q/s\",\"capacity\":null}}]}}";
    const struct {
        const char *results[2], *lacks;
    } pictures[] = {
        {{rates, rates}, NULL},
        {{rates, connections}, "not all searches have the same unit"},
        {{sweep, sweep}, NULL},
        {{sweep, other}, "not all sweeps are over the same option with searches in the same unit"},
        {{sweep, rates}, "no trials with a p99: "},
        {{rates, stopped}, "no trial of this search has a p99"},
        {{sweep, no_answer}, "no search of this sweep has an answer or a bound"},
    };
    const char *name;

    (void)state;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        struct recording both[2] = {searched(pictures[i].results[0]),
                                    searched(pictures[i].results[1])};
        const char *lacks =
            plot_lacks(&(struct recordings){both, 2}, PLOT_CAPACITY, "response", &name);

        if (pictures[i].lacks == NULL)
            assert_null(lacks);
        else
            assert_has(lacks, pictures[i].lacks);
        for (int k = 0; k < 2; k++)
            json_object_put(both[k].result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_an_answer_has_no_times_to_draw),
        cmocka_unit_test(missing_data_is_named),
        cmocka_unit_test(a_file_without_values_is_not_missing),
        cmocka_unit_test(a_run_with_nothing_to_draw_is_left_out),
        cmocka_unit_test(searches_in_one_picture_are_alike),
    };

    return cmocka_run_group_tests(tests, start, end);
}
