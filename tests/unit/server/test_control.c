/* SPDX-License-Identifier: MIT
 * test_server_control: what each request of the control port does and answers.  Linked with
 * --wrap=control_http_start,
 * --wrap=control_http_end,
 * --wrap=worker_post_more,
 * --wrap=server_workers_post and
 * --wrap=shutdown_request. */
#include "server/control.h"

#include "control_steps.h"
#include "server/opts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_WORKERS = 3 };

static struct server_worker running[N_WORKERS];
static struct server_worker *list[] = {&running[0], &running[1], &running[2]};
static struct server_tally tallies[N_WORKERS];
static const struct server_tally *tally_list[] = {&tallies[0], &tallies[1], &tallies[2]};
static struct server_workers workers = {.list = list, .tallies = tally_list, .n = N_WORKERS};
static struct server_result result;
static struct server_opts opts;

static struct server_control control;
static char port;
static uint64_t parts[N_WORKERS], n_late;
static int n_collected, n_posted, posted_kind, n_shutdowns, n_ended;
static uint64_t posted_value;

/* Called by server/control. */
void __wrap_control_http_end(struct control_http *h);
void __wrap_worker_post_more(struct worker *w, int kind, uint64_t value);
void __wrap_server_workers_post(const struct server_workers *w, enum server_message kind,
                                uint64_t value);
void __wrap_shutdown_request(int number);

void __wrap_control_http_end(struct control_http *h)
{
    assert_ptr_equal(h, started);
    n_ended++;
}

void __wrap_worker_post_more(struct worker *w, int kind, uint64_t value)
{
    assert_int_equal(kind, SERVER_CLOSE_OLDEST);
    assert_true(value > 0);
    for (int i = 0; i < N_WORKERS; i++)
        if (w == &running[i].worker)
            parts[i] += value;
}

void __wrap_server_workers_post(const struct server_workers *w, enum server_message kind,
                                uint64_t value)
{
    assert_ptr_equal(w, &workers);
    n_posted++;
    posted_kind = (int)kind;
    posted_value = value;
}

void __wrap_shutdown_request(int number)
{
    assert_int_equal(number, 0);
    n_shutdowns++;
}

/* As server_watch_collect(). */
static void collect(void *context)
{
    assert_ptr_equal(context, &n_collected);
    n_collected++;
    result.active = 0;
    for (int i = 0; i < N_WORKERS; i++)
        result.active += server_tally_active(&tallies[i]);
    tally_add(&tallies[N_WORKERS - 1].accepted, n_late);
}

static int setup(void **state)
{
    (void)state;
    memset(tallies, 0, sizeof tallies);
    memset(parts, 0, sizeof parts);
    n_collected = n_posted = n_shutdowns = n_ended = 0;
    n_late = 0;
    result = (struct server_result){.workers = tally_list,
                                    .n_workers = N_WORKERS,
                                    .state = SERVER_RUNNING,
                                    .version = "9.9",
                                    .libevent = "2.2",
                                    .backend = "epoll",
                                    .address = "[::]:4242",
                                    .options = server_opts_table(),
                                    .settings = &opts};
    control = (struct server_control){
        .workers = &workers, .result = &result, .collect = collect, .context = &n_collected};
    started = (struct control_http *)&port;
    return server_control_start(&control, NULL, NULL);
}

static void the_commands_of_a_server_are_known(void **state)
{
    (void)state;
    assert_int_equal(known_commands, CONTROL_BIT(CONTROL_STATS) | CONTROL_BIT(CONTROL_METRICS) |
                                         CONTROL_BIT(CONTROL_STOP_CONNECTIONS) |
                                         CONTROL_BIT(CONTROL_PAUSE) | CONTROL_BIT(CONTROL_RESUME) |
                                         CONTROL_BIT(CONTROL_STOP));
    assert_int_equal(ask(CONTROL_RATE, 0), CONTROL_UNKNOWN);
    assert_string_equal(reply.error, "no such path");
    free(text);
}

static void each_worker_closes_its_share(void **state)
{
    static const struct {
        uint64_t active[N_WORKERS], n, parts[N_WORKERS];
        const char *answer;
    } cases[] = {
        {{30, 50, 20}, 10, {3, 5, 2}, "{\n  \"stopped\": 10,\n  \"active\": 90\n}\n"},
        {{1, 1, 1}, 2, {0, 1, 1}, "{\n  \"stopped\": 2,\n  \"active\": 1\n}\n"},
        {{0, 7, 0}, 3, {0, 3, 0}, "{\n  \"stopped\": 3,\n  \"active\": 4\n}\n"},
        {{2, 3, 4}, 1000, {2, 3, 4}, "{\n  \"stopped\": 9,\n  \"active\": 0\n}\n"},
        {{0, 0, 1}, 1, {0, 0, 1}, "{\n  \"stopped\": 1,\n  \"active\": 0\n}\n"},
        {{0, 0, 0}, 1, {0, 0, 0}, "{\n  \"stopped\": 0,\n  \"active\": 0\n}\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setup(state);
        n_late = i * 100; /* accepted after the figures were collected */
        for (int k = 0; k < N_WORKERS; k++) {
            tally_add(&tallies[k].accepted, 100 + cases[i].active[k]);
            tally_add(&tallies[k].n_closed, 100);
        }
        assert_answer(CONTROL_STOP_CONNECTIONS, cases[i].n, cases[i].answer);
        assert_memory_equal(parts, cases[i].parts, sizeof parts);
        assert_int_equal(n_collected, 1);
    }
}

static void pause_and_resume_reach_all_workers(void **state)
{
    (void)state;
    assert_answer(CONTROL_PAUSE, 0, "{\n  \"paused\": true\n}\n");
    assert_int_equal(n_posted, 1);
    assert_int_equal(posted_kind, SERVER_PAUSE);
    assert_int_equal(posted_value, 1);
    assert_int_equal(result.state, SERVER_PAUSED);
    assert_answer(CONTROL_RESUME, 0, "{\n  \"paused\": false\n}\n");
    assert_int_equal(n_posted, 2);
    assert_int_equal(posted_kind, SERVER_PAUSE);
    assert_int_equal(posted_value, 0);
    assert_int_equal(result.state, SERVER_RUNNING);
}

static void stop_ends_the_program(void **state)
{
    (void)state;
    assert_answer(CONTROL_STOP, 0, "{\n  \"stopping\": true\n}\n");
    assert_int_equal(n_shutdowns, 1);
}

static void a_port_is_started_and_ended(void **state)
{
    (void)state;
    assert_ptr_equal(control.http, started);
    server_control_end(&control);
    assert_int_equal(n_ended, 1);
    assert_null(control.http);
    started = NULL;
    assert_int_equal(server_control_start(&control, NULL, NULL), -1);
}

static void figures_are_those_of_now(void **state)
{
    (void)state;
    tally_add(&tallies[1].accepted, 321);
    assert_int_equal(ask(CONTROL_STATS, 0), CONTROL_OK);
    assert_non_null(strstr(text, "\"active\": 321"));
    free(text);
    assert_int_equal(n_collected, 1);
    assert_int_equal(ask(CONTROL_METRICS, 0), CONTROL_OK);
    assert_non_null(strstr(text, "tcpserver_connections_active{worker=\"1\"} 321\n"));
    assert_non_null(reply.content_type);
    free(text);
    assert_int_equal(n_collected, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_port_is_started_and_ended, setup),
        cmocka_unit_test_setup(the_commands_of_a_server_are_known, setup),
        cmocka_unit_test_setup(each_worker_closes_its_share, setup),
        cmocka_unit_test_setup(pause_and_resume_reach_all_workers, setup),
        cmocka_unit_test_setup(stop_ends_the_program, setup),
        cmocka_unit_test_setup(figures_are_those_of_now, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
