/* SPDX-License-Identifier: MIT
 * run_result_steps: a run of two workers without threads, 100 q/s for an hour from 1,000 s on, with
 * a minute of warm-up. */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_RUN_RESULT_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_RUN_RESULT_STEPS_H

#include "client/run_result.h"

#include "base/clock.h"
#include "base/units.h"
#include "workers_steps.h"

#define S UNITS_NS_PER_S

static const struct client_run_settings settings = {.rate_qps = 99};
static struct client_config config;
static struct client_workers no_workers;
static struct client_result result;
static struct client_run_state r;

/* 100 q/s for an hour. */
static inline void run(uint64_t begin_ns, uint64_t warmup_ns)
{
    config = (struct client_config){.warmup_ns = warmup_ns, .timeout_ns = 5 * S};
    schedule_constant(&config.schedule, 3600 * S, 100);
    r.config = &config;
    r.settings = &settings;
    r.result = &result;
    r.started = true;
    r.begin_ns = begin_ns;
    r.measure_ns = begin_ns + warmup_ns;
    r.end_ns = begin_ns + 3600 * S;
    client_steer_init(&r.steer, &config, &no_workers);
    client_steer_begin(&r.steer, r.begin_ns, r.end_ns);
}

static inline int setup(void **state)
{
    int failed = start_workers();

    (void)state;
    result = (struct client_result){0};
    r = (struct client_run_state){.workers = workers};
    for (int m = CLIENT_N_QUERY_METRICS; m < CLIENT_N_METRICS; m++)
        failed |= hist_init(&result.metrics[m]);
    failed |= losses_init(&result.losses);
    failed |= client_intervals_init(&r.intervals, &r.workers, NULL, result.metrics, result.batches,
                                    clock_now_ns());
    run(1000 * S, 60 * S);
    return failed;
}

static inline int teardown(void **state)
{
    (void)state;
    client_intervals_free(&r.intervals);
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        hist_free(&result.metrics[m]);
    losses_free(&result.losses);
    stop_workers();
    return 0;
}

#endif
