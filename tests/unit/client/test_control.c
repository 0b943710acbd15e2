/* SPDX-License-Identifier: MIT
 * test_client_control: what each request of the control port changes, and when it is refused.
 * Linked with
 * --wrap=control_http_start,
 * --wrap=client_metrics,
 * --wrap=client_steer_rate,
 * --wrap=client_steer_pause,
 * --wrap=client_steer_connections,
 * --wrap=client_steer_paused_ns and
 * --wrap=report_json. */
#include "client/control.h"

#include "client/metrics.h"
#include "client/report.h"
#include "control_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S 1000000000ull

static int changed; /* what the steer returns */
static struct client_config config;
static struct client_steer steer;
static struct report_about about;
static struct client_control control;
static char port;

/* What a snapshot shows. */
static enum client_state run_state;
static const char *shortage;
static double requested_qps;

/* What was requested. */
static double qps;
static int paused, n_stops;
static uint32_t n_connections;

/* Called by client/control. */
int __wrap_client_steer_rate(struct client_steer *s, double to_qps, uint64_t *at_ns);
int __wrap_client_steer_pause(struct client_steer *s, bool pauses, uint64_t *at_ns);
int __wrap_client_steer_connections(struct client_steer *s, uint32_t n);
uint64_t __wrap_client_steer_paused_ns(const struct client_steer *s, uint64_t now_ns);
void __wrap_client_metrics(struct openmetrics *m, const struct client_config *of,
                           const struct client_result *r);
void __wrap_report_json(FILE *out, const struct report_about *a, const struct client_result *r);

int __wrap_client_steer_rate(struct client_steer *s, double to_qps, uint64_t *at_ns)
{
    assert_ptr_equal(s, &steer);
    qps = to_qps;
    *at_ns = s->begin_ns + 3 * S / 2;
    return changed;
}

int __wrap_client_steer_pause(struct client_steer *s, bool pauses, uint64_t *at_ns)
{
    paused = pauses;
    s->paused = pauses;
    *at_ns = s->begin_ns + 2 * S;
    return changed;
}

int __wrap_client_steer_connections(struct client_steer *s, uint32_t n)
{
    n_connections = n;
    if (changed == 0)
        s->targets.n_connections = n;
    return changed;
}

uint64_t __wrap_client_steer_paused_ns(const struct client_steer *s, uint64_t now_ns)
{
    assert_true(now_ns > s->begin_ns);
    return S / 4;
}

void __wrap_report_json(FILE *out, const struct report_about *a, const struct client_result *r)
{
    fprintf(out, "%g %d", a->rate_qps, r->state == run_state);
}

void __wrap_client_metrics(struct openmetrics *m, const struct client_config *of,
                           const struct client_result *r)
{
    assert_ptr_equal(of, &config);
    openmetrics_gauge(m, "live", "Live.", r->connections_live);
}

static void snapshot(void *run, struct client_result *now)
{
    assert_ptr_equal(run, &n_stops);
    memset(now, 0, sizeof *now);
    now->state = run_state;
    now->requested_qps = requested_qps;
    now->connections_live = 7;
    snprintf(now->shortage, sizeof now->shortage, "%s", shortage);
    now->connections_requested = 10;
    tally_add(&now->tally.connections.connected, 4);
}

static void stop(void *run)
{
    assert_ptr_equal(run, &n_stops);
    n_stops++;
}

static int setup(void **state)
{
    (void)state;
    memset(&config, 0, sizeof config);
    memset(&steer, 0, sizeof steer);
    config.n_connections = 20;
    steer.config = &config;
    steer.targets.n_connections = 10;
    steer.begin_ns = 1000 * S;
    about = (struct report_about){.config = &config, .rate_qps = 100};
    control = (struct client_control){
        .steer = &steer, .about = &about, .snapshot = snapshot, .stop = stop, .run = &n_stops};
    run_state = CLIENT_RUN_RUNNING;
    shortage = "";
    changed = n_stops = 0;
    n_connections = 0;
    paused = -1;
    qps = -1;
    started = (struct control_http *)&port;
    return client_control_start(&control, NULL, NULL, NULL);
}

/* Nothing is changed. */
static void assert_refused(enum control_command command, enum control_status status,
                           const char *why)
{
    assert_int_equal(ask(command, 1), status);
    assert_string_equal(reply.error, why);
    free(text);
}

static void all_commands_are_known(void **state)
{
    (void)state;
    assert_int_equal(known_commands, ~0u);
}

static void changes_say_from_when_on(void **state)
{
    (void)state;
    assert_answer(CONTROL_RATE, 250,
                  "{\n  \"rate_qps\": 250,\n  \"from_s\": 1.5,\n  \"paused_s\": 0.25\n}\n");
    assert_true(qps == 250);
    assert_answer(CONTROL_PAUSE, 0,
                  "{\n  \"paused\": true,\n  \"from_s\": 2,\n  \"paused_s\": 0.25\n}\n");
    assert_int_equal(paused, true);
    run_state = CLIENT_RUN_PAUSED;
    assert_answer(CONTROL_RESUME, 0,
                  "{\n  \"paused\": false,\n  \"from_s\": 2,\n  \"paused_s\": 0.25\n}\n");
    assert_int_equal(paused, false);
}

/* Workers open none, however long ago it was. */
static void connections_are_not_started_after_a_shortage_of_memory(void **state)
{
    (void)state;
    shortage = "8.1 MiB of 64.0 MiB left";
    assert_refused(CONTROL_START_CONNECTIONS, CONTROL_NOT_NOW,
                   "memory ran short: this run opens no more connections");
    assert_int_equal(n_connections, 0);
    assert_answer(CONTROL_STOP_CONNECTIONS, 5,
                  "{\n  \"stopped\": 5,\n  \"wanted\": 5,\n  \"live\": 7\n}\n");
}

static void connections_are_started_and_stopped(void **state)
{
    (void)state;
    assert_answer(CONTROL_START_CONNECTIONS, 1,
                  "{\n  \"started\": 1,\n  \"wanted\": 11,\n  \"live\": 7\n}\n");
    assert_answer(CONTROL_START_CONNECTIONS, 9,
                  "{\n  \"started\": 9,\n  \"wanted\": 20,\n  \"live\": 7\n}\n");
    assert_int_equal(n_connections, 20);
    assert_refused(CONTROL_START_CONNECTIONS, CONTROL_NOT_NOW,
                   "at most 0 more can be started: see --max-connections");
    assert_answer(CONTROL_STOP_CONNECTIONS, 5,
                  "{\n  \"stopped\": 5,\n  \"wanted\": 15,\n  \"live\": 7\n}\n");
    assert_answer(CONTROL_STOP_CONNECTIONS, 100,
                  "{\n  \"stopped\": 15,\n  \"wanted\": 0,\n  \"live\": 7\n}\n");
    assert_int_equal(n_connections, 0);
}

static void changes_that_come_too_often_are_refused(void **state)
{
    (void)state;
    changed = -1;
    assert_refused(CONTROL_RATE, CONTROL_TOO_OFTEN, "too many changes in one second");
    assert_refused(CONTROL_PAUSE, CONTROL_TOO_OFTEN, "too many changes in one second");
    assert_refused(CONTROL_STOP_CONNECTIONS, CONTROL_TOO_OFTEN,
                   "the previous change is still being applied: try again");
}

static void the_load_of_some_runs_cannot_be_changed(void **state)
{
    static const char no_rate[] = "closed loops and listeners have no rate";

    config.listens = true;
    assert_refused(CONTROL_RATE, CONTROL_NOT_NOW, no_rate);
    assert_refused(CONTROL_RESUME, CONTROL_NOT_NOW, no_rate);
    setup(state);
    config.population.n = 1;
    assert_refused(CONTROL_STOP_CONNECTIONS, CONTROL_NOT_NOW,
                   "--conn-schedule sets the number of connections");
    setup(state);
    config.on_demand = true;
    assert_refused(CONTROL_START_CONNECTIONS, CONTROL_NOT_NOW,
                   "--on-demand: queries open the connections");
    setup(state);
    config.n_classes = 1;
    assert_refused(CONTROL_START_CONNECTIONS, CONTROL_NOT_NOW,
                   "--class: classes share a fixed number of connections");
    setup(state);
    control.searches = true;
    assert_refused(CONTROL_RATE, CONTROL_NOT_NOW, "--find sets the load");
    assert_true(qps < 0 && n_connections == 0 && paused < 0);
}

static void before_and_after_the_run_nothing_can_be_changed(void **state)
{
    static const enum control_command changes[] = {CONTROL_RATE, CONTROL_PAUSE, CONTROL_RESUME,
                                                   CONTROL_START_CONNECTIONS,
                                                   CONTROL_STOP_CONNECTIONS};

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        run_state = CLIENT_RUN_CONNECTING;
        assert_refused(changes[i], CONTROL_NOT_NOW, "the run has not started: 4 of 10 connected");
        run_state = CLIENT_RUN_DRAINING;
        assert_refused(changes[i], CONTROL_NOT_NOW, "the run is over");
    }
    run_state = CLIENT_RUN_RUNNING;
    assert_answer(CONTROL_STOP, 0, "{\n  \"stopping\": true\n}\n");
    assert_int_equal(n_stops, 1);
    assert_refused(CONTROL_RATE, CONTROL_NOT_NOW, "the run is over");
    assert_true(qps < 0 && n_connections == 0 && paused < 0);
}

static void figures_have_the_rate_requested_now(void **state)
{
    (void)state;
    requested_qps = 321;
    assert_answer(CONTROL_STATS, 0, "321 1");
    assert_int_equal(ask(CONTROL_METRICS, 0), CONTROL_OK);
    assert_non_null(strstr(text, "live 7\n"));
    assert_string_equal(reply.content_type, OPENMETRICS_TEXT);
    free(text);
    assert_true(about.rate_qps == 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_commands_are_known, setup),
        cmocka_unit_test_setup(changes_say_from_when_on, setup),
        cmocka_unit_test_setup(connections_are_started_and_stopped, setup),
        cmocka_unit_test_setup(connections_are_not_started_after_a_shortage_of_memory, setup),
        cmocka_unit_test_setup(changes_that_come_too_often_are_refused, setup),
        cmocka_unit_test_setup(the_load_of_some_runs_cannot_be_changed, setup),
        cmocka_unit_test_setup(before_and_after_the_run_nothing_can_be_changed, setup),
        cmocka_unit_test_setup(figures_have_the_rate_requested_now, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
