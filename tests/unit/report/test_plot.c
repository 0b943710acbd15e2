/* SPDX-License-Identifier: MIT
 * test_plot: the data in a script, and quoting of names. */
#include "report/plot.h"

#include "interval_steps.h"
#include "plot_steps.h"
#include "report/plot_script.h"
#include "report/recordings.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *script_of_metric(const char *metric, enum plot_kind kind, enum plot_form form)
{
    assert_int_equal(plot_print(print_open(), &one, kind, metric, form), 0);
    return print_close();
}

static char *script_of(enum plot_kind kind, enum plot_form form)
{
    return script_of_metric("response", kind, form);
}

static void percentiles_are_those_of_the_values(void **state)
{
    char *text = script_of(PLOT_LATENCY, PLOT_PNG);

    (void)state;
    assert_non_null(strstr(text, "$d0 << EOD\n"
                                 "1 1e-06\n"
                                 "1.33333333 1e-06\n" /* 25 % */
                                 "2 2e-06\n"          /* 50 % */
                                 "4 3.001e-06\n"      /* 75 %, highest of its bucket */
                                 "4 4e-06\n"          /* the maximum: the last of 4 */
                                 "EOD\n"));
    assert_non_null(strstr(text, "set terminal pngcairo"));
    assert_non_null(strstr(text, "title 'run'"));
    free(text);
}

static void each_of_many_curves_has_a_style_of_its_own(void **state)
{
    struct recording runs[9];
    char *text;

    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        runs[i] = run;
    assert_int_equal(
        plot_print(print_open(), &(struct recordings){runs, 9}, PLOT_LATENCY, "response", PLOT_PNG),
        0);
    text = print_close();
    assert_non_null(strstr(text, "set linetype 8 lc rgb '#000000' lw 2"));
    assert_non_null(strstr(text, "set linetype cycle 8\n"));
    assert_non_null(strstr(text, "fsteps lt 8 title 'run'"));
    assert_non_null(strstr(text, "fsteps lt 9 dt 2 title 'run'")); /* as the first, but dashed */
    free(text);
}

static void curve_ends_where_the_unanswered_begin(void **state)
{
    char *text;

    (void)state;
    metrics_get(&run.metrics, "response")->hist.beyond = 4;
    text = script_of(PLOT_LATENCY, PLOT_SVG);
    assert_non_null(strstr(text, "2 4e-06\nEOD\n")); /* half of them were not answered */
    free(text);
    metrics_get(&run.metrics, "response")->hist.beyond = 0;
}

/* As times below 0, of two hosts whose clocks disagree: a logarithmic axis has no 0. */
static void values_of_0_are_in_the_lowest_bucket(void **state)
{
    struct metric *metric = metrics_get(&run.metrics, "net");
    char *text;

    (void)state;
    assert_non_null(metric);
    for (int i = 0; i < 2; i++)
        hist_record(&metric->hist, 0);
    text = script_of_metric("net", PLOT_LATENCY, PLOT_SVG);
    assert_non_null(strstr(text, "$d0 << EOD\n1 1e-09\n2 1e-09\nEOD\n"));
    assert_non_null(strstr(text, "set yrange [1e-10:1e-08]\n"));
    free(text);
}

/* A curve of one point could not be seen. */
static void a_single_value_is_a_point_beside_the_frame(void **state)
{
    static struct recording both[2];
    struct metric *metric;
    char *text;

    (void)state;
    for (int i = 0; i < 2; i++) {
        both[i].name = (char *)"run";
        metric = metrics_get(&both[i].metrics, "response");
        assert_non_null(metric);
        hist_record(&metric->hist, 1000);
    }
    for (int has_curve = 0; has_curve <= 1; has_curve++) {
        assert_int_equal(plot_print(print_open(), &(struct recordings){both, 2}, PLOT_LATENCY,
                                    "response", PLOT_PNG),
                         0);
        text = print_close();
        assert_has(text, has_curve ? "set xrange [0.9:*]\n" : "set xrange [0.9:10]\n");
        assert_has(text, "plot $d0 using 1:2 with points ");
        assert_has(text, has_curve ? "$d1 using 1:2 with fsteps " : "$d1 using 1:2 with points ");
        free(text);
        hist_record(&metric->hist, 2000);
    }
    text = script_of(PLOT_LATENCY, PLOT_PNG);
    assert_null(strstr(text, "set xrange"));
    free(text);
    for (int i = 0; i < 2; i++)
        metrics_free(&both[i].metrics);
}

static void curves_of_two_runs_have_their_colours_and_names(void **state)
{
    static struct recording both[2];
    uint64_t times_ns[] = {1000000, 2000000};
    const struct recordings all = {both, 2};
    char *text;

    (void)state;
    both[0].name = (char *)"a";
    both[1].name = (char *)"b";
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < CONNECTIONS_N_COLUMNS; k++)
            both[i].connections.times[k] = (struct connection_times){times_ns, 2};
    assert_int_equal(plot_print(print_open(), &all, PLOT_RECOVERY, "response", PLOT_PNG), 0);
    text = print_close();
    assert_has(text, "set title 'Recovery'");
    assert_has(text, "set xlabel 'time since the first loss, s'\nset ylabel 'connections'\n");
    assert_has(text, "\nplot $l0 using 1:2 with steps lt 1 dt 2 title 'a'.' lost', "
                     "$d0 using 1:2 with steps lt 1 title 'a'.' back', \\\n"
                     "     $l1 using 1:2 with steps lt 2 dt 2 title 'b'.' lost', "
                     "$d1 using 1:2 with steps lt 2 title 'b'.' back'\n");
    free(text);
    assert_int_equal(plot_print(print_open(), &all, PLOT_CONNECT, "response", PLOT_PNG), 0);
    text = print_close();
    assert_has(text, "set title 'Connect ramp'");
    assert_has(text, "set xlabel 'time since connecting began, s'\n"
                     "set ylabel 'connections established'\n");
    assert_has(text, "2\nEOD\n$d1 << EOD\n");
    assert_has(text, "\nplot $d0 using 1:2 with steps ");
    free(text);
}

static void names_stay_names(void **state)
{
    char *text;

    (void)state;
    run.name = (char *)"a'; system 'x'\nquit";
    text = script_of(PLOT_LATENCY, PLOT_TERM);
    assert_non_null(strstr(text, "title 'a''; system ''x''?quit'\n"));
    free(text);
    /* not UTF-8, not allowed in XML, controls of the terminal */
    run.name = (char *)"\u65e5\xff'\x80.\uffff\xc2\x9bm\x7f \xfc";
    text = script_of(PLOT_LATENCY, PLOT_TERM);
    assert_non_null(strstr(text, "title '\u65e5?''?.?\?m? ?'\n"));
    free(text);
    run.name = (char *)"run";
}

static void long_names_leave_the_picture_its_size(void **state)
{
    static const char below[] = "set key below";
    char *text, name[70 + 1];

    (void)state;
    memset(name, 'x', sizeof name);
    name[30] = '\0';
    run.name = name;
    text = script_of(PLOT_LATENCY, PLOT_SVG);
    assert_null(strstr(text, below));
    free(text);
    name[30] = 'x';
    name[70] = '\0';
    memcpy(&name[6], "\u65e5", 3); /* one column */
    text = script_of(PLOT_LATENCY, PLOT_SVG);
    assert_non_null(strstr(text, below));
    assert_non_null(strstr(text, " title '...'.'xxxxxxxx"));
    assert_int_equal(strlen(strrchr(text, '.')), strlen(".''\n") + 61);
    free(text);
    text = script_of(PLOT_LATENCY, PLOT_TERM);
    assert_null(strstr(text, "set key below left"));
    free(text);
    run.name = (char *)"run";
}

static void metric_stays_a_name(void **state)
{
    static const char name[] = "a'; system 'x'\nquit";
    struct metric *metric = metrics_get(&run.metrics, name);
    char *text;

    (void)state;
    assert_non_null(metric);
    hist_record(&metric->hist, 1000);
    text = script_of_metric(name, PLOT_LATENCY, PLOT_TERM);
    assert_non_null(strstr(text, "set ylabel 'a''; system ''x''?quit'.' time' noenhanced\n"));
    assert_null(strstr(text, "\nquit"));
    free(text);
}

static void ramp_has_every_connection(void **state)
{
    uint64_t established_ns[] = {1000000, 2000000, 500000000};
    char *text;

    (void)state;
    run.connections.times[CONNECTIONS_ESTABLISHED] = (struct connection_times){established_ns, 3};
    text = script_of(PLOT_CONNECT, PLOT_PNG);
    assert_non_null(strstr(text, "$d0 << EOD\n0 0\n0.001000 1\n0.002000 2\n0.500000 3\n"));
    free(text);
    run.connections = (struct connections){0};
}

static void recovery_counts_from_the_first_loss(void **state)
{
    uint64_t lost_ns[] = {30000000000, 30100000000, 30200000000};
    uint64_t back_ns[] = {32000000000, 33500000000};
    char *text;

    (void)state;
    run.connections.times[CONNECTIONS_LOST] = (struct connection_times){lost_ns, 3};
    run.connections.times[CONNECTIONS_BACK] = (struct connection_times){back_ns, 2};
    text = script_of(PLOT_RECOVERY, PLOT_PNG);
    /* both end with the last event: one never came back */
    assert_non_null(strstr(text, "$l0 << EOD\n0 0\n0.000000 1\n0.100000 2\n0.200000 3\n"
                                 "0.200000 3\n3.500000 3\nEOD\n"));
    assert_non_null(strstr(text, "$d0 << EOD\n0 0\n2.000000 1\n3.500000 2\n3.500000 2\n"
                                 "3.500000 2\nEOD\n"));
    assert_non_null(strstr(text, "title 'run'.' lost'"));
    assert_non_null(strstr(text, "set xrange [0:*]\n"));
    free(text);
    run.connections.times[CONNECTIONS_BACK].n = 0; /* none came back */
    text = script_of(PLOT_RECOVERY, PLOT_PNG);
    assert_non_null(strstr(text, "$d0 << EOD\n0 0\n0.200000 0\nEOD\n"));
    free(text);
    run.connections.times[CONNECTIONS_LOST].n = 1; /* gnuplot warns of an empty range */
    text = script_of(PLOT_RECOVERY, PLOT_PNG);
    assert_non_null(strstr(text, "set xrange [0:1]\n"));
    free(text);
    run.connections = (struct connections){0};
}

/* Both over the time that sending took, 10 s, although the schedule lasted 8. */
static void answers_are_as_many_per_second_as_what_was_sent(void **state)
{
    char *text;

    (void)state;
    run.result =
        json_tokener_parse("{\"verdict\":\"VALID\",\"queries\":{\"sent\":900,\"answered\":900},"
                           "\"rate\":{\"asked_qps\":112.5,\"achieved_qps\":90,\"duration_s\":8}}");
    text = script_of(PLOT_RATE, PLOT_PNG);
    assert_non_null(strstr(text, "NaN NaN NaN\n112.5 90 90\nEOD\n"));
    assert_has(text, "set title 'Achieved and requested rate'");
    assert_has(text, "set xlabel 'requested, queries/s'\nset ylabel 'queries/s'\n");
    assert_null(strstr(text, "$d2 "));
    free(text);
    json_object_put(run.result);
    run.result = NULL;
}

static void runs_that_are_not_valid_have_points_of_their_own(void **state)
{
    char *text;

    (void)state;
    run.result =
        json_tokener_parse("{\"rate\":{\"asked_qps\":200,\"achieved_qps\":150},"
                           "\"queries\":{\"sent\":300,\"answered\":100},\"verdict\":\"SUSPECT\"}");
    assert_non_null(run.result);
    text = script_of(PLOT_RATE, PLOT_PNG);
    assert_non_null(strstr(text, "$d0 << EOD\nNaN NaN NaN\n200 150 50\nEOD\n"));
    assert_non_null(strstr(text, "$d1 << EOD\nNaN NaN NaN\nEOD\n"));
    free(text);
    json_object_put(run.result);
    run.result = NULL;
}

/* The capacity with its bounds; or the only bound; or both, without a capacity. */
static void points_of_a_sweep_have_what_is_known(void **state)
{
    struct json_object *sweep = json_tokener_parse(
        "{\"points\":[{\"at\":1,\"search\":{\"capacity\":90,\"lower\":80,\"upper\":100}},"
        "{\"at\":2,\"search\":{\"capacity\":null,\"lower\":50,\"upper\":200}},"
        "{\"at\":4,\"search\":{\"capacity\":null,\"lower\":70,\"upper\":null}},"
        "{\"at\":8,\"search\":{\"capacity\":null,\"lower\":null,\"upper\":null}}]}");
    char *text;

    (void)state;
    assert_non_null(sweep);
    assert_int_equal(plot_script_sweep(print_open(), sweep, NULL), 3);
    text = print_close();
    assert_string_equal(text, "1 90 80 100 nan nan nan\n"
                              "2 nan 50 200 nan nan 100\n"
                              "4 nan 70 nan 70 nan nan\n"
                              "8 nan nan nan nan nan nan\n");
    free(text);
    json_object_put(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_those_of_the_values),
        cmocka_unit_test(each_of_many_curves_has_a_style_of_its_own),
        cmocka_unit_test(curve_ends_where_the_unanswered_begin),
        cmocka_unit_test(values_of_0_are_in_the_lowest_bucket),
        cmocka_unit_test(a_single_value_is_a_point_beside_the_frame),
        cmocka_unit_test(curves_of_two_runs_have_their_colours_and_names),
        cmocka_unit_test(names_stay_names),
        cmocka_unit_test(long_names_leave_the_picture_its_size),
        cmocka_unit_test(metric_stays_a_name),
        cmocka_unit_test(ramp_has_every_connection),
        cmocka_unit_test(recovery_counts_from_the_first_loss),
        cmocka_unit_test(answers_are_as_many_per_second_as_what_was_sent),
        cmocka_unit_test(runs_that_are_not_valid_have_points_of_their_own),
        cmocka_unit_test(points_of_a_sweep_have_what_is_known),
    };

    return cmocka_run_group_tests(tests, start, end);
}
