/* SPDX-License-Identifier: MIT
 * test_report_sweep: the table of a sweep's answers, as text, JSON and CSV. */
#include "client/report_sweep.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct client_sweep sweep;
static char *text;

/* Each of n loads was tried often enough. */
static void try_load(struct client_find *f, double load, enum trial_class class)
{
    for (int i = 0; i < 11; i++)
        f->search.trials[f->search.n++] =
            (struct search_trial){{SEARCH_BISECT, load, 2000000000},
                                  {class, class == TRIAL_BAD ? TRIAL_GOAL : TRIAL_NO_REASON, 0},
                                  2000000000};
}

/* 100 connections: found.  1,000: interrupted.  10,000: not reached. */
static int setup(void **state)
{
    struct client_opts o = {.find = CLIENT_FIND_RATE,
                            .find_min = 10,
                            .find_max = 2000,
                            .find_part = 0.02,
                            .sweep_axis = CLIENT_SWEEP_CONNECTIONS,
                            .n_sweep = 3,
                            .sweep_values = {100, 1000, 10000}};
    char error[SLO_ERROR_BYTES];

    (void)state;
    if (slo_parse(&o.goals, "p99<10ms,lost=0", error) != 0 || client_sweep_prepare(&sweep, &o) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        struct client_find *f = sweep.points[i].find;

        f->search.config = (struct search_config){.min = 10, .max = 2000, .width = 0.02};
        f->search.round = 3;
        try_load(f, 1000 - 100 * i, TRIAL_GOOD);
        try_load(f, 1020 - 100 * i, TRIAL_BAD);
        f->search.status = i == 0 ? SEARCH_FOUND : SEARCH_INCONCLUSIVE;
    }
    sweep.points[1].find->search.reason = SEARCH_STOPPED;
    sweep.n_begun = 2;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    client_sweep_free(&sweep);
    free(text);
    text = NULL;
    return 0;
}

static void print_json(const struct client_sweep *s)
{
    struct json j;

    free(text);
    json_init(&j, print_open());
    json_object_begin(&j, NULL);
    report_sweep_json(&j, s);
    json_object_end(&j);
    text = print_close();
}

static void every_value_has_a_row(void **state)
{
    (void)state;
    report_sweep_text(print_open(), &sweep);
    text = print_close();
    assert_has(text, "service level p99<10ms,lost=0; loads in q/s\n");
    assert_has(text,
               "             100          1,010          1,000          1,020  found: p99<10ms\n");
    assert_has(text, "           1,000              -            900            920  inconclusive, "
                     "stopped: p99<10ms\n");
    assert_has(text, "          10,000              -              -              -  not reached\n"
                     "  stopped: the run ended before the search began\n");
    assert_string_equal(strrchr(text, ':'), ": the run ended before the search began\n");
}

static void assert_explained(enum search_reason first, enum search_reason second,
                             const char *expected)
{
    for (int i = 0; i < 2; i++) {
        sweep.points[i].find->search.status = SEARCH_INCONCLUSIVE;
        sweep.points[i].find->search.reason = i == 0 ? first : second;
        sweep.points[i].find->search.void_load = 500 + i;
    }
    free(text);
    report_sweep_text(print_open(), &sweep);
    text = print_close();
    assert_string_equal(strstr(text, "not reached\n") + strlen("not reached\n"), expected);
}

static void a_reason_is_explained_once_and_what_voids_trials_for_each_value(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct search *s = &sweep.points[i].find->search;

        s->trials[s->n++] = (struct search_trial){{SEARCH_BISECT, 500 + i, 2000000000},
                                                  {TRIAL_VOID, TRIAL_GENERATOR_LIMITED, 0},
                                                  2000000000};
    }
    assert_explained(SEARCH_TIME, SEARCH_TIME,
                     "  time: not enough time was left for another trial: use a "
                     "longer --find-time\n");
    assert_explained(SEARCH_TIME, SEARCH_UNCONNECTED,
                     "  time: not enough time was left for another trial: use a "
                     "longer --find-time\n"
                     "  no-connection: no connection became usable (see the connection "
                     "outcomes)\n");
    assert_explained(SEARCH_VOID, SEARCH_VOID,
                     "  connections 100: this host, not the server, was the limit at "
                     "500 q/s: generator-limited (see docs/capacity.md)\n"
                     "  connections 1,000: this host, not the server, was the limit "
                     "at 501 q/s: generator-limited (see docs/capacity.md)\n");
}

/* One of two failed at the start of the range, which no time cures. */
static void what_helps_is_said_for_each_value_if_it_differs(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct search *s = &sweep.points[0].find->search;

        s->trials[s->n++] = (struct search_trial){
            {SEARCH_CONFIRM, 10, 2000000000}, {TRIAL_BAD, TRIAL_GOAL, 0}, 2000000000};
    }
    assert_explained(SEARCH_UNCONFIRMED, SEARCH_UNCONFIRMED,
                     "  connections 100: short trials were good, but no long one confirmed them, "
                     "down to the start of the range: use a smaller MIN in --find-range\n"
                     "  connections 1,000: short trials were good, but no long one confirmed them: "
                     "use a longer --find-time\n");
    sweep.points[0].find->search.n -= 2;
    assert_explained(SEARCH_UNCONFIRMED, SEARCH_UNCONFIRMED,
                     "  unconfirmed: short trials were good, but no long one confirmed them: use a "
                     "longer --find-time\n");
}

static void a_run_that_ended_before_its_load_reached_none(void **state)
{
    struct search *first = &sweep.points[0].find->search;

    (void)state;
    sweep.n_begun = 0;
    first->n = 0;
    first->status = SEARCH_INCONCLUSIVE;
    first->reason = SEARCH_STOPPED;
    report_sweep_text(print_open(), &sweep);
    text = print_close();
    assert_has(text, "100              -              -              -  not reached\n");
    assert_null(strstr(text, "stopped"));
}

static void small_loads_keep_their_digits(void **state)
{
    struct client_find *f = sweep.points[0].find;

    (void)state;
    f->search.n = 0;
    f->search.config.min = 1;
    try_load(f, 1.25, TRIAL_GOOD);
    try_load(f, 1.275, TRIAL_BAD);
    f = sweep.points[1].find;
    f->search.n = 0;
    try_load(f, 123.4, TRIAL_GOOD);
    try_load(f, 123.5, TRIAL_BAD);
    report_sweep_text(print_open(), &sweep);
    text = print_close();
    assert_has(text, "          1.262           1.25          1.275  found");
    assert_has(text, "              -          123.4          123.5  inconclusive");
}

static void each_value_has_its_search(void **state)
{
    (void)state;
    print_json(&sweep);
    assert_has(text, "\"search\": null,");
    assert_has(text, "\"over\": \"connections\"");
    assert_has(text, "\"at\": 100,");
    assert_has(text, "\"reason\": \"stopped\"");
    assert_has(text, "\"at\": 10000,\n        \"search\": null\n      }\n    ]\n  }\n}");
    assert_false(client_sweep_is_conclusive(&sweep));
}

static void a_single_search_is_no_sweep(void **state)
{
    (void)state;
    sweep.axis = CLIENT_SWEEP_NONE;
    print_json(&sweep);
    assert_has(text, "\"search\": {");
    assert_has(text, "\"sweep\": null");
    print_json(NULL);
    assert_has(text, "\"search\": null,\n  \"sweep\": null");
}

static void values_that_were_reached_are_rows(void **state)
{
    (void)state;
    sweep.points[0].find->search.confirmed = true;
    sweep.points[0].find->elapsed_ns = 150250000000;
    sweep.points[1].find->elapsed_ns = 7000000;
    report_sweep_csv(print_open(), &sweep);
    text = print_close();
    assert_has(text,
               "connections,status,capacity,lower,upper,limited_by,bound_by,confirmed,elapsed_s\n"
               "100,found,1010,1000,1020,p99<10ms,server,1,150.250000\n"
               "1000,inconclusive,,900,920,p99<10ms,server,0,0.007000\n");
    assert_null(strstr(text, "10000,"));
    free(text);
    sweep.points[1].find->search.n = 0;
    report_sweep_csv(print_open(), &sweep);
    text = print_close();
    assert_has(text, "\n1000,inconclusive,,,,,,0,0.007000\n");
}

static void trials_of_all_values_are_rows_of_one_file(void **state)
{
    const char *row;
    int n = 0;

    (void)state;
    report_sweep_trials_csv(print_open(), &sweep);
    text = print_close();
    assert_memory_equal(text, "step,load,", 10);
    for (row = text; (row = strchr(row, '\n') + 1)[0] != '\0'; n++)
        assert_memory_equal(row, n < 22 ? "bisect,10" : "bisect,9", 8);
    assert_int_equal(n, 2 * 22);
    assert_non_null(strstr(text, ",100,0,0\nbisect"));
    assert_non_null(strstr(text, ",1000,0,0\nbisect"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_value_has_a_row),
        TEST(a_reason_is_explained_once_and_what_voids_trials_for_each_value),
        TEST(what_helps_is_said_for_each_value_if_it_differs),
        TEST(a_run_that_ended_before_its_load_reached_none),
        TEST(small_loads_keep_their_digits),
        TEST(each_value_has_its_search),
        TEST(a_single_search_is_no_sweep),
        TEST(values_that_were_reached_are_rows),
        TEST(trials_of_all_values_are_rows_of_one_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
