/* SPDX-License-Identifier: MIT
 * test_run_result: the result of a run under way. */
#include "client/run_result.h"

#include "base/clock.h"
#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct client_config config;
static struct client_workers no_workers;
static struct client_result result, now;
static struct client_run_state r;

/* 100 q/s for an hour, begun 1 us ago. */
static void run(void)
{
    schedule_constant(&config.schedule, 3600 * UNITS_NS_PER_S, 100);
    r.config = &config;
    r.result = &result;
    r.started = true;
    r.begin_ns = r.measure_ns = clock_now_ns() - 1000;
    r.end_ns = r.begin_ns + 3600 * UNITS_NS_PER_S;
    client_steer_init(&r.steer, &config, &no_workers);
    client_steer_begin(&r.steer, r.begin_ns, r.end_ns);
}

/* Listeners read to the end of their connections before. */
static void an_interrupted_run_is_over_before_its_connections_are_closed(void **state)
{
    (void)state;
    run();
    client_run_snapshot(&r, &now);
    assert_int_equal(now.state, CLIENT_RUN_RUNNING);
    assert_true(now.scheduled_ns >= 1000);
    assert_true(now.rate_now_qps == 100);
    result.interrupted = true;
    r.stopped_ns = r.begin_ns + 300;
    client_run_snapshot(&r, &now);
    assert_int_equal(now.state, CLIENT_RUN_DRAINING);
    assert_int_equal(now.scheduled_ns, 300);
    assert_int_equal(now.load_ns, 300);
    assert_true(now.rate_now_qps == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interrupted_run_is_over_before_its_connections_are_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
