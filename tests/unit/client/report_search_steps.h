/* SPDX-License-Identifier: MIT
 * report_search_steps: a made-up search, for the tests of its reports. */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_REPORT_SEARCH_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_REPORT_SEARCH_STEPS_H

#include "client/report_search.h"
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define S_NS       1000000000ull

static struct client_find_settings settings;
static const struct client_config config = {.timeout_ns = 5 * S_NS};
static struct client_find find;
static char *text;

static inline void add(enum search_step step, double load, enum trial_class class,
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
static inline int setup(void **state)
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

static inline int teardown(void **state)
{
    (void)state;
    free(text);
    text = NULL;
    return 0;
}

static inline void print_text(void)
{
    free(text);
    report_search_text(print_open(), &find);
    text = print_close();
}

static inline void print_json(const struct client_find *f)
{
    struct json j;

    free(text);
    json_init(&j, print_open());
    json_object_begin(&j, NULL);
    report_search_json(&j, f);
    json_object_end(&j);
    text = print_close();
}

#endif
