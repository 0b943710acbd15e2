/* SPDX-License-Identifier: MIT
 * test_report_search: the answer of a search in words, as JSON and as CSV. */
#include "client/report_search.h"
#include "client/report_search_csv.h"
#include "client/report_search_json.h"
#include "client/report_search_text.h"

#include "measure/latency.h"
#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S_NS 1000000000ull

static struct client_find_settings settings;
static const struct client_config config = {.timeout_ns = 5 * S_NS};
static struct client_find find;
static char *text;

static void add(enum search_step step, double load, enum trial_class class,
                enum trial_reason reason)
{
    const size_t i = find.search.n++;

    find.search.trials[i] =
        (struct search_trial){{step, load, 2 * S_NS}, {class, reason, 0}, 2 * S_NS};
    find.trials[i] =
        (struct client_find_trial){.begin_ns = i * 3 * S_NS,
                                   .live = 10,
                                   .figures = {.n_due = 2000, .goals = {{.n = 7, .of = 2000}}},
                                   .p50_ns = 1000000,
                                   .p99_ns = LATENCY_UNKNOWN,
                                   .connect_p99_ns = LATENCY_UNKNOWN,
                                   .overflows = HOST_COUNTERS_UNKNOWN,
                                   .handshakes = UINT64_MAX,
                                   .resumed = UINT64_MAX,
                                   .drained = true};
}

/* 11 trials at 1,000 q/s were good, 11 at 1,020 bad. */
static int setup(void **state)
{
    char error[SLO_ERROR_BYTES];

    (void)state;
    settings = (struct client_find_settings){
        .what = CLIENT_FIND_RATE, .min = 10, .max = 2000, .width = 0.02, .time_ns = 300 * S_NS};
    memset(&find, 0, sizeof find);
    find.settings = &settings;
    find.config = &config;
    find.elapsed_ns = 150 * S_NS;
    find.search.config = (struct search_config){.min = 10, .max = 2000, .width = 0.02};
    find.search.round = 3;
    for (int i = 0; i < 11; i++)
        add(SEARCH_BISECT, 1000, TRIAL_GOOD, TRIAL_NO_REASON);
    for (int i = 0; i < 11; i++)
        add(SEARCH_BISECT, 1020, TRIAL_BAD, TRIAL_GOAL);
    return slo_parse(&settings.slo, "p99<10ms,lost=0", error);
}

static int teardown(void **state)
{
    (void)state;
    free(text);
    text = NULL;
    return 0;
}

static void print_text(void)
{
    free(text);
    report_search_text(print_open(), &find);
    text = print_close();
}

static void print_json(const struct client_find *f)
{
    struct json j;

    free(text);
    json_init(&j, print_open());
    json_object_begin(&j, NULL);
    report_search_json(&j, f);
    json_object_end(&j);
    text = print_close();
}

static void a_capacity_lies_between_its_bounds(void **state)
{
    (void)state;
    find.search.status = SEARCH_FOUND;
    find.search.confirmed = find.search.recovery_known = true;
    find.search.recovery_ns = 2 * S_NS;
    add(SEARCH_CONFIRM, 950, TRIAL_GOOD, TRIAL_NO_REASON);
    add(SEARCH_OVERLOAD, 1500, TRIAL_VOID, TRIAL_NOTHING_MEASURED);
    print_text();
    assert_has(text, "Capacity     1,010 q/s: 1,000 q/s sustained, 1,020 q/s not (2.0 % apart)\n");
    assert_has(text, "service level p99<10ms,lost=0; limited by p99<10ms\n");
    assert_has(text, "2.00 s at 950 q/s: confirmed\n");
    assert_null(strstr(text, "2.00 s at 1,000 q/s")); /* not a confirmation */
    assert_has(text, "recovers from an overload within 3 s\n");
    find.search.recovery_ns = 29 * S_NS;
    print_text();
    assert_has(text, "recovers from an overload within 30 s\n");
    find.search.recovery_ns = 2 * S_NS;
    assert_has(text, "24 trials in 150 s, 0 void\n");
    print_json(&find);
    assert_has(text, "\"status\": \"found\"");
    assert_has(text, "\"lower\": 1000,");
    assert_has(text, "\"upper\": 1020,");
    assert_has(text, "\"elapsed_s\": 150,");
    assert_has(text, "\"confirmed\": true,");
    assert_null(strstr(text, "\"ended_early\": true"));
    assert_has(text, "\"limited_by\": \"p99<10ms\"");
    assert_has(text, "\"recovery_s\": 2,");
    assert_has(text, "\"class\": null");
}

static void settings_and_figures_of_a_trial_are_under_their_keys(void **state)
{
    (void)state;
    find.search.n = 0;
    add(SEARCH_BISECT, 1000, TRIAL_BAD, TRIAL_GOAL);
    find.trials[0] = (struct client_find_trial){
        .begin_ns = 3 * S_NS,
        .live = 101,
        .figures = {.n_due = 102,
                    .goals = {{.n = 103, .of = 102}, {.n = 104, .of = 102}},
                    .n_behind = 105,
                    .grew = true,
                    .n_not_opened = 106},
        .n_lost = 107,
        .p50_ns = 108,
        .p99_ns = HIST_BEYOND,
        .connect_p99_ns = 109,
        .syn_retransmits = 110,
        .overflows = 111,
        .handshakes = 112,
        .resumed = 113,
    };
    find.search.trials[0].order.duration_ns = 4 * S_NS;
    print_json(&find);
    assert_has(text, "\"find\": \"rate\",\n    \"unit\": \"q/s\",\n    \"slo\": [\n"
                     "      \"p99<10ms\",\n      \"lost=0\"\n    ],\n    \"min\": 10,\n"
                     "    \"max\": 2000,\n    \"width\": 0.02,\n    \"time_s\": 300,\n");
    assert_has(text, "\"step\": \"bisect\",\n        \"load\": 1000,\n        \"begin_s\": 3,\n"
                     "        \"duration_s\": 2,\n        \"ended_early\": true,\n"
                     "        \"class\": \"bad\",\n        \"reason\": \"p99<10ms\",\n"
                     "        \"scheduled\": 102,\n        \"lost\": 107,\n"
                     "        \"exceeding\": [\n          103,\n          104\n        ],\n"
                     "        \"behind\": 105,\n        \"grew\": true,\n"
                     "        \"p50_ns\": 108,\n        \"p99_ns\": null,\n"
                     "        \"connect_p99_ns\": 109,\n        \"syn_retransmits\": 110,\n"
                     "        \"listen_overflows\": 111,\n        \"not_opened\": 106,\n"
                     "        \"handshakes\": 112,\n        \"resumed\": 113,\n"
                     "        \"live\": 101,\n        \"drained\": false\n");
}

/* The bounds are 1.96 % apart. */
static void a_search_cut_short_says_whether_its_bounds_are_narrow(void **state)
{
    (void)state;
    find.search.status = SEARCH_FOUND;
    find.search.cut_by = SEARCH_TIME;
    print_text();
    assert_null(strstr(text, "recover")); /* it was not to be tried */
    assert_has(text, "time ran out before all trials at these bounds were done;");
    find.search.config.min = 10;
    find.search.config.max = 10000;
    find.search.config.width = 0.019;
    print_text();
    assert_has(text, "time ran out before the bounds were within 1.9 %; a longer --find-time");
    find.search.config.width = 0.0009;
    for (size_t i = 0; i < find.search.n; i++)
        if (find.search.trials[i].order.load == 1020)
            find.search.trials[i].order.load = 1001;
    print_text(); /* no load lies between the bounds, so no time narrows them */
    assert_has(text, "1,000 q/s sustained, 1,001 q/s not (0.1 % apart)\n");
    assert_has(text, "time ran out before all trials at these bounds were done;");
}

static void an_answer_that_was_not_narrowed_says_why(void **state)
{
    (void)state;
    find.search.status = SEARCH_FOUND;
    find.search.confirmed = true;
    print_text();
    assert_null(strstr(text, "narrowed"));
    find.search.void_load = 1010;
    for (int i = 0; i < 4; i++)
        add(SEARCH_CONFIRM, 1010, TRIAL_VOID, TRIAL_HOST_NOISE);
    find.search.cut_by = SEARCH_VOID;
    print_text();
    assert_has(text,
               "apart)\n             not narrowed further: the trials at 1,010 q/s stayed void "
               "(host-noise)\n");
    print_json(&find);
    assert_has(text, "\"cut_by\": \"void-trials\"");
    find.search.cut_by = SEARCH_STOPPED;
    print_text();
    assert_has(text, "apart)\n             not narrowed further: stopped by a signal or through "
                     "--control\n");
    find.search.status = SEARCH_AT_LEAST;
    find.search.cut_by = SEARCH_SERVER_GONE;
    print_text();
    assert_has(text, "             after this was confirmed, the server stopped answering (see the "
                     "limiting factors)\n");
    find.search.status = SEARCH_INCONCLUSIVE; /* has its own reason */
    print_text();
    assert_null(strstr(text, "confirmed, the server"));
    print_json(&find);
    assert_has(text, "\"cut_by\": null");
}

/* As many values claimed as measured: of an overload none, and of a recovery never tried neither.
 */
static void what_was_not_measured_has_no_figures(void **state)
{
    (void)state;
    find.search.status = SEARCH_FOUND;
    find.search.confirmed = find.search.config.tries_recovery = true;
    find.search.n = 0;
    add(SEARCH_OVERLOAD, 1500, TRIAL_VOID, TRIAL_NOTHING_MEASURED);
    find.trials[0].figures = (struct trial_figures){0};
    find.trials[0].overflows = find.trials[0].handshakes = find.trials[0].resumed =
        5; /* it did not begin */
    print_json(&find);
    assert_has(text, "\"listen_overflows\": null,");
    assert_has(text, "\"handshakes\": null,");
    assert_has(text, "\"resumed\": null,");
    assert_has(text, "\"recovers\": null,");
    assert_has(text, "\"recovery_s\": null,");
    assert_has(text, "\"scheduled\": null,");
    assert_has(text, "\"lost\": null,");
    assert_has(text, "\"behind\": null,");
    assert_has(text, "\"grew\": null,");
    assert_has(text, "\"syn_retransmits\": null,");
    assert_has(text, "\"not_opened\": null,");
    assert_null(strstr(text, "  0"));
    print_text();
    assert_has(text, "recovery from an overload not measured\n");
    assert_null(strstr(text, "does not recover"));
    free(text);
    report_search_csv(print_open(), &find, 0);
    text = print_close();
    assert_has(text, "overload,1500,0.000000,2.000000,,,,,1000000,,10,,,,,,,\n");
    find.search.recovery_known = true;
    find.search.recovery_ns = SEARCH_NEVER;
    print_json(&find);
    assert_has(text, "\"recovers\": false,");
    print_text();
    assert_has(text, "does not recover from an overload in time\n");
}

static void other_answers_say_what_is_known(void **state)
{
    (void)state;
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_TIME;
    print_text();
    assert_has(text, "Capacity     INCONCLUSIVE\n");
    assert_has(text, "lost=0; limited by p99<10ms\n");
    assert_has(text, "not enough time was left for another trial: use a longer --find-time; so far "
                     "1,000 q/s sustained, 1,020 "
                     "q/s not sustained\n");
    settings.what = CLIENT_FIND_CONNECTIONS; /* opening them takes time, too */
    print_text();
    assert_has(text, "use a longer --find-time, or a higher --connect-rate; so far");
    settings.what = CLIENT_FIND_RATE;
    print_json(&find);
    assert_has(text, "\"capacity\": null");
    assert_has(text, "\"reason\": \"time\"");
    find.search.reason = SEARCH_UNCONFIRMED;
    for (int i = 0; i < 3; i++) /* the last bad one counts, not the most frequent reason */
        add(SEARCH_CONFIRM, 950, TRIAL_BAD, i < 2 ? TRIAL_GOAL : TRIAL_QUEUE);
    add(SEARCH_CONFIRM, 950, TRIAL_VOID, TRIAL_HOST_NOISE);
    print_json(&find);
    assert_has(text, "\"limited_by\": \"queue\"");
    find.search.trials[find.search.n - 2].judgment.reason = TRIAL_IN_DOUBT;
    print_json(&find);
    assert_has(text, "\"limited_by\": \"p99<10ms\""); /* the goal in doubt */
    assert_has(text, "\"reason\": \"in-doubt\"");
    print_text();
    assert_has(text, "no long one confirmed them: use a longer --find-time; so far");
    find.search.n -= 4;
    find.search.reason = SEARCH_VOID;
    find.search.void_load = 1010;
    add(SEARCH_BISECT, 1010, TRIAL_VOID, TRIAL_HOST_NOISE);
    print_text();
    assert_has(text, "this host, not the server, was the limit at 1,010 q/s: host-noise (see "
                     "docs/capacity.md); so far");
    assert_null(strstr(text, "limited by"));
    assert_has(text, "23 trials in 150 s, 1 void\n");
    find.search.trials[find.search.n - 1].judgment.reason = TRIAL_CONNECTIONS;
    print_text();
    assert_has(text, "connections were missing before the trials at 1,010 q/s (see the "
                     "connection outcomes); so far");
    find.search.reason = SEARCH_TOO_MANY;
    print_text();
    assert_has(text, "no answer after 512 trials: use a larger --find-width; so far");
    find.search.reason = SEARCH_UNCONNECTED;
    print_text();
    assert_has(text, "no connection became usable (see the connection outcomes); so far");
    find.search.reason = SEARCH_SERVER_GONE;
    print_text();
    assert_has(text, "the server does not answer (see the limiting factors); so far");
    assert_null(strstr(text, "limited by"));
    find.search.config.tries_recovery = true;
    find.search.n = 11;
    find.search.status = SEARCH_AT_LEAST;
    find.search.reason = SEARCH_NO_REASON;
    print_text();
    assert_has(text, "Capacity     at least 1,000 q/s, the end of the range\n             service "
                     "level p99<10ms,lost=0\n             11 trials");
    find.search.cut_by = SEARCH_TIME;
    print_text();
    assert_has(text,
               "Capacity     at least 1,000 q/s, the end of the range\n             time ran out "
               "before all trials at this load were done; a longer --find-time");
    find.search.descended_to = 950;
    print_text();
    assert_has(text, "Capacity     at least 950 q/s: no higher load was confirmed\n             "
                     "service level");
}

static void a_trial_that_did_not_begin_lasted_no_seconds(void **state)
{
    (void)state;
    find.search.status = SEARCH_INCONCLUSIVE;
    add(SEARCH_CONFIRM, 975, TRIAL_VOID, TRIAL_CONNECTIONS);
    find.search.trials[find.search.n - 1].measured_ns = 0;
    print_text();
    assert_has(text, "             0 s at 975 q/s: connections\n");
    assert_has(text, "975 q/s      0 s ");
    assert_null(strstr(text, "0 ns"));
}

/* As long as no more trials were good than bad. */
static void a_good_confirmation_of_a_load_that_failed_confirms_nothing(void **state)
{
    (void)state;
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_UNCONFIRMED;
    add(SEARCH_CONFIRM, 975, TRIAL_BAD, TRIAL_GOAL);
    add(SEARCH_CONFIRM, 975, TRIAL_GOOD, TRIAL_NO_REASON);
    print_text();
    assert_has(text, "2.00 s at 975 q/s: p99<10ms\n             2.00 s at 975 q/s: good\n");
    add(SEARCH_CONFIRM, 975, TRIAL_BAD, TRIAL_GOAL);
    print_text();
    assert_has(text, "2.00 s at 975 q/s: good\n");
    assert_null(strstr(text, "confirmed\n"));
    find.search.trials[find.search.n - 1].judgment.class = TRIAL_GOOD;
    print_text();
    assert_has(text, "2.00 s at 975 q/s: confirmed\n             2.00 s at 975 q/s: confirmed\n");
}

/* Others could have outvoted a single bad confirmation of that load, but not two in doubt. */
static void a_descent_that_ended_at_the_start_of_the_range_needs_no_time(void **state)
{
    (void)state;
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_UNCONFIRMED;
    add(SEARCH_CONFIRM, 10, TRIAL_BAD, TRIAL_GOAL);
    print_text();
    assert_has(text, "no long one confirmed them: use a longer --find-time; so far");
    find.search.n--;
    add(SEARCH_CONFIRM, 10, TRIAL_BAD, TRIAL_IN_DOUBT);
    add(SEARCH_CONFIRM, 10, TRIAL_BAD, TRIAL_IN_DOUBT);
    print_text();
    assert_has(text, "no long one confirmed them, down to the start of the range: use a smaller "
                     "MIN in --find-range; so far 10 q/s not sustained\n");
}

static void trials_are_rows(void **state)
{
    FILE *out = print_open();

    (void)state;
    find.search.n = 12;
    find.search.trials[11].measured_ns = S_NS / 2;
    find.trials[11].overflows = 5;
    find.trials[11].connect_p99_ns = 3000;
    find.trials[11].handshakes = 2400;
    find.trials[11].resumed = 2390;
    report_search_csv_header(out);
    report_search_csv(out, &find, 0);
    text = print_close();
    assert_has(text, "step,load,begin_s,duration_s,class,reason,scheduled,lost,p50_ns,p99_ns,live,"
                     "connect_p99_ns,syn_retransmits,listen_overflows,not_opened,at,"
                     "handshakes,resumed\n"
                     "bisect,1000,0.000000,2.000000,good,,2000,0,1000000,,10,,0,,0,,,\n");
    assert_has(text, "\nbisect,1020,33.000000,0.500000,bad,p99<10ms,2000,0,1000000,,10,3000,0,5,0,,"
                     "2400,2390\n");
}

static void a_search_that_was_stopped_says_whether_it_had_begun(void **state)
{
    (void)state;
    find.search.n = 0;
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_STOPPED;
    print_text();
    assert_has(text, "             the run ended before the search began\n");
    find.begin_ns = S_NS;
    print_text();
    assert_has(text, "             stopped by a signal or through --control\n");
}

static void a_trial_that_did_not_begin_did_not_end_early(void **state)
{
    (void)state;
    find.search.n = 2;
    find.search.trials[0].measured_ns = S_NS / 2;
    find.search.trials[1].measured_ns = 0;
    find.search.trials[1].judgment = (struct trial_judgment){TRIAL_BAD, TRIAL_CONNECTIONS, 0};
    print_json(&find);
    assert_has(text, "\"duration_s\": 0.5,\n        \"ended_early\": true,");
    assert_has(text, "\"duration_s\": 0,\n        \"ended_early\": false,");
}

static void without_a_search_there_is_nothing(void **state)
{
    (void)state;
    report_search_text(print_open(), NULL);
    text = print_close();
    assert_string_equal(text, "");
    print_json(NULL);
    assert_has(text, "\"search\": null");
}

static void each_trial_has_a_row(void **state)
{
    (void)state;
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_TIME;
    find.search.n = 0;
    add(SEARCH_DOUBLE, 1000, TRIAL_GOOD, TRIAL_NO_REASON);
    add(SEARCH_DOUBLE, 2000, TRIAL_BAD, TRIAL_GOAL);
    find.trials[1].p99_ns = HIST_BEYOND;
    find.trials[1].n_lost = 1234;
    find.trials[1].drained = false;
    add(SEARCH_OVERLOAD, 4000, TRIAL_VOID, TRIAL_NOTHING_MEASURED);
    print_text();
    assert_has(
        text,
        "\n\n  trial                        load   length        p50        p99       lost\n"
        "  double                  1,000 q/s   2.00 s    1.00 ms          -          0  good\n"
        "  double                  2,000 q/s   2.00 s    1.00 ms    >5.00 s      1,234  "
        "bad: p99<10ms (not drained)\n"
        "  overload                4,000 q/s   2.00 s          -          -          -  \n");
    assert_has(text, "3 trials in 150 s, 0 void\n");
    print_json(&find);
    assert_null(strstr(text, "\"p99_ns\": 1")); /* unknown, or slower than every answer */
}

/* From the counts of the trials that decided. */
static void limiting_factor_is_named_from_the_counts(void **state)
{
    (void)state;
    find.search.status = SEARCH_FOUND;
    print_json(&find);
    assert_has(text, "\"bound_by\": \"server\"");
    find.trials[12].syn_retransmits = 11 * 20 + 1; /* 20 of 2,000 are allowed */
    print_json(&find);
    assert_has(text, "\"bound_by\": \"syns-lost\"");
    print_text();
    assert_has(text, "             221 SYNs were retransmitted in the bad trials at that load\n");
    find.trials[12].overflows = 240;
    find.trials[0].overflows = 2; /* of a good trial: irrelevant */
    print_json(&find);
    assert_has(text, "\"bound_by\": \"accept-queue\"");
    print_text();
    assert_has(text, "the accept queue overflowed 240 times in the bad trials at that load\n");
    find.search.trials[13].judgment.reason = TRIAL_CONNECTIONS;
    find.trials[13].figures.n_not_opened = find.trials[13].n_without_port = 7;
    print_json(&find);
    assert_has(text, "\"bound_by\": \"ports\"");
    print_text(); /* names the same */
    assert_has(text, "7 connections could not be opened on this host (see the connection outcomes) "
                     "in the bad");
    assert_null(strstr(text, "accept queue"));
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_VOID;
    find.search.void_load = 1010;
    add(SEARCH_BISECT, 1010, TRIAL_VOID, TRIAL_GENERATOR_LIMITED);
    print_json(&find);
    assert_has(text, "\"bound_by\": \"client\"");
    print_text();
    assert_has(text, "this host, not the server, was the limit at 1,010 q/s: ");
    find.trials[find.search.n - 1].n_not_begun = 1200;
    print_json(&find);
    assert_has(text, "\"bound_by\": \"max-connections\"");
    print_text();
    assert_has(text, "the --max-connections limit was reached at 1,010 q/s: raise it");
    assert_has(
        text,
        "1,200 connections were not opened because the --max-connections limit was reached in "
        "the void trials at that load\n");
}

/* Time ran out after a single bad trial: there is no bound yet, but the report says what happened.
 */
static void a_search_cut_short_names_what_happened_at_the_smallest_bad_load(void **state)
{
    (void)state;
    find.search.n = 11;
    add(SEARCH_DOUBLE, 2000, TRIAL_BAD, TRIAL_GOAL);
    find.trials[11].overflows = 21; /* more than 1 % of 2,000 */
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_TIME;
    print_json(&find);
    assert_has(text, "\"upper\": null");
    assert_has(text, "\"bound_by\": \"accept-queue\"");
    assert_has(text, "\"limited_by\": \"p99<10ms\""); /* at the same load */
    find.search.status = SEARCH_AT_LEAST;             /* the others outvoted it */
    find.search.reason = SEARCH_NO_REASON;
    print_json(&find);
    assert_has(text, "\"bound_by\": null");
}

static void connections_per_second_have_their_unit(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECT_RATE;
    find.search.status = SEARCH_FOUND;
    print_text();
    assert_has(text, "1,000 connections/s sustained, 1,020 connections/s not (2.0 % apart)\n");
    print_json(&find);
    assert_has(text, "\"find\": \"connect-rate\"");
    assert_has(text, "\"unit\": \"connections/s\"");
}

static void a_single_connection_is_singular(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECTIONS;
    find.search.status = SEARCH_LESS_THAN;
    find.search.n = 0;
    for (int i = 0; i < 11; i++)
        add(SEARCH_BISECT, 1, TRIAL_BAD, TRIAL_GOAL);
    print_text();
    assert_has(text, "Capacity     less than 1 connection, the lowest load tried\n");
    assert_has(text, " 1 connection  ");
    settings.what = CLIENT_FIND_RATE;
    print_text();
    assert_has(text, " 1 q/s  ");
    find.search.n = 1;
    print_text();
    assert_has(text, "1 trial in 150 s");
}

static void full_handshakes_are_told_apart_from_resumed_ones(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECT_RATE;
    find.search.status = SEARCH_FOUND;
    print_text();
    assert_null(strstr(text, "handshakes"));
    print_json(&find);
    assert_has(text, "\"handshakes\": null,");
    for (int i = 0; i < 12; i++) { /* the twelfth was bad */
        find.trials[i].handshakes = 2100;
        find.trials[i].resumed = 2098;
    }
    print_text();
    assert_has(text, "TLS handshakes at the lower bound: 22 full, 23,078 resumed\n");
    print_json(&find);
    assert_has(text, "\"handshakes\": 2100,");
    assert_has(text, "\"resumed\": 2098,");
    settings.what = CLIENT_FIND_RATE; /* its connections stay open */
    print_text();
    assert_null(strstr(text, "handshakes"));
}

static void percentile_among_the_unanswered_is_above_the_timeout(void **state)
{
    (void)state;
    find.trials[0].p99_ns = HIST_BEYOND;
    print_text();
    assert_has(text, "    1.00 ms    >5.00 s ");
}

static void columns_have_room_for_a_million_connections_per_second(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECT_RATE;
    find.search.trials[0].order.load = 1000000;
    print_text();
    assert_has(text, "\n  trial                        load   length ");
    assert_has(text, "\n  bisect    1,000,000 connections/s   2.00 s ");
}

static void loads_of_a_thousand_have_a_separator(void **state)
{
    char load[UNITS_TEXT_BYTES];

    (void)state;
    assert_string_equal(report_search_load(load, 999.94), "999.9");
    assert_string_equal(report_search_load(load, 999.96), "1,000");
    assert_string_equal(report_search_load(load, 1000), "1,000");
    assert_string_equal(report_search_load(load, 1010.4), "1,010");
    assert_string_equal(report_search_load(load, 1010.5), "1,011");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_capacity_lies_between_its_bounds),
        TEST(a_search_cut_short_says_whether_its_bounds_are_narrow),
        TEST(an_answer_that_was_not_narrowed_says_why),
        TEST(settings_and_figures_of_a_trial_are_under_their_keys),
        TEST(what_was_not_measured_has_no_figures),
        TEST(other_answers_say_what_is_known),
        TEST(a_trial_that_did_not_begin_lasted_no_seconds),
        TEST(a_good_confirmation_of_a_load_that_failed_confirms_nothing),
        TEST(a_descent_that_ended_at_the_start_of_the_range_needs_no_time),
        TEST(trials_are_rows),
        TEST(each_trial_has_a_row),
        TEST(limiting_factor_is_named_from_the_counts),
        TEST(a_search_cut_short_names_what_happened_at_the_smallest_bad_load),
        TEST(connections_per_second_have_their_unit),
        TEST(a_single_connection_is_singular),
        TEST(full_handshakes_are_told_apart_from_resumed_ones),
        TEST(a_search_that_was_stopped_says_whether_it_had_begun),
        TEST(a_trial_that_did_not_begin_did_not_end_early),
        TEST(without_a_search_there_is_nothing),
        TEST(percentile_among_the_unanswered_is_above_the_timeout),
        TEST(columns_have_room_for_a_million_connections_per_second),
        TEST(loads_of_a_thousand_have_a_separator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
