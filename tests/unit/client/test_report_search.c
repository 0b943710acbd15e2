/* SPDX-License-Identifier: MIT
 * test_report_search: the answer of a search and its trials in words, as JSON and as CSV. */
#include "client/report_search_csv.h"
#include "report_search_steps.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_capacity_lies_between_its_bounds),
        TEST(settings_and_figures_of_a_trial_are_under_their_keys),
        TEST(what_was_not_measured_has_no_figures),
        TEST(a_trial_that_did_not_begin_lasted_no_seconds),
        TEST(trials_are_rows),
        TEST(a_trial_that_did_not_begin_did_not_end_early),
        TEST(without_a_search_there_is_nothing),
        TEST(each_trial_has_a_row),
        TEST(connections_per_second_have_their_unit),
        TEST(a_single_connection_is_singular),
        TEST(full_handshakes_are_told_apart_from_resumed_ones),
        TEST(percentile_among_the_unanswered_is_above_the_timeout),
        TEST(columns_have_room_for_a_million_connections_per_second),
        TEST(loads_of_a_thousand_have_a_separator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
