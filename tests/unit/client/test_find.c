/* SPDX-License-Identifier: MIT
 * test_find: how a capacity search ends the load of its trials. */
#include "client/find.h"

#include "base/clock.h"
#include "base/units.h"
#include "client/find_server.h"
#include "client/search/search_round.h"
#include "workers_steps.h"

#define S UNITS_NS_PER_S

enum { VOTES = 11 }; /* decide a load in the last round */

static struct client_config config;
static struct client_workers no_workers;
static struct client_steer steer;
static struct client_intervals intervals;
static struct client_find_settings settings;
static struct client_find f;

static void add(enum search_step step, double load, enum trial_class class)
{
    struct search *s = &f.search;

    s->trials[s->n++] = (struct search_trial){
        .order = {step, load, 2 * S}, .judgment = {.class = class}, .measured_ns = 2 * S};
}

/* A search whose overload is over, and, unless it has time_ns > 11 s, its time, too; the load goes
 * on. */
static void overload(struct client_workers *w, uint64_t begin_ns, uint64_t time_ns)
{
    const struct search_config search = {
        .min = 1, .max = 100, .width = 0.02, .time_ns = time_ns, .tries_recovery = true};
    uint64_t at_ns;

    config.timeout_ns = 60 * S;
    schedule_constant(&config.schedule, PACER_NEVER, 0);
    client_steer_init(&steer, &config, w);
    client_steer_begin(&steer, begin_ns, PACER_NEVER);
    f = (struct client_find){.settings = &settings,
                             .config = &config,
                             .steer = &steer,
                             .workers = w,
                             .intervals = &intervals};
    settings.what = CLIENT_FIND_RATE;
    search_init(&f.search, &search);
    for (int i = 0; i < VOTES; i++) {
        add(SEARCH_BISECT, 10, TRIAL_GOOD);
        add(SEARCH_BISECT, 10.2, TRIAL_BAD);
    }
    add(SEARCH_CONFIRM, 9.8, TRIAL_GOOD);
    add(SEARCH_OVERLOAD, 15, TRIAL_VOID);
    f.search.round = SEARCH_ROUNDS;
    f.search.confirmed = true;
    f.order = f.search.order = (struct search_order){SEARCH_OVERLOAD, 15, S};
    client_find_begin(&f, begin_ns);
    assert_int_equal(client_steer_trial(&steer, 15, S, PACER_NEVER, &at_ns), 0);
    assert_true(client_steer_rate_qps(&steer, at_ns + 9 * S) == 15);
}

/* The next search of a sweep begins without it. */
static void an_overload_without_a_recovery_is_ended_and_drained(void **state)
{
    const uint64_t begin_ns = clock_now_ns();
    uint64_t now_ns = begin_ns + 11 * S;

    (void)state;
    overload(&no_workers, begin_ns, 10 * S);
    assert_true(client_find_look(&f, now_ns)); /* no trial is left */
    assert_int_equal(f.search.status, SEARCH_FOUND);
    assert_true(client_find_look(&f, now_ns)); /* ends the load */
    assert_true(client_steer_rate_qps(&steer, begin_ns + 20 * S) == 0);
    assert_true(client_find_look(&f, now_ns)); /* awaits outcomes */
    now_ns += S;
    assert_false(client_find_look(&f, now_ns));
    assert_false(f.search.recovery_known);
}

static bool is_refused; /* whether connections are */

/* Queries become due, and none is answered. */
static void leave_unanswered(struct client_workers *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        tally_add(&w->all[i].figures.tally.queries[TALLY_MEASURED].scheduled, 10);
        tally_add(&w->all[i].figures.tally.connections.ended[PHASE_CONNECT][REASON_REFUSED],
                  is_refused);
        client_figures_hand_over(&w->all[i].figures);
    }
}

/* Goes on after the overload, with left_ns, until the search is over. */
static void recover(struct client_workers *w, uint64_t left_ns)
{
    static struct hist totals[CLIENT_N_QUERY_METRICS];
    static struct batch_means batches[CLIENT_N_QUERY_METRICS];
    const uint64_t begin_ns = clock_now_ns();
    uint64_t now_ns = begin_ns + 60 * S;
    int n_looks = 0;

    overload(w, begin_ns, 60 * S + left_ns);
    assert_int_equal(client_intervals_init(&intervals, w, NULL, totals, batches, begin_ns), 0);
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        assert_int_equal(hist_init(&f.recorded[m]), 0);
    for (; n_looks < 2000 && client_find_look(&f, now_ns); n_looks++) {
        leave_unanswered(w);
        now_ns += S / 10;
    }
    assert_true(n_looks < 2000);
    assert_int_equal(f.order.step, SEARCH_RECOVER);
    assert_int_equal(f.search.status, SEARCH_FOUND);
    client_find_free(&f);
    client_intervals_free(&intervals);
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_free(&totals[m]);
}

static void a_recovery_whose_last_window_is_void_is_unknown(void **state)
{
    (void)state;
    recover(&no_workers, 30 * S);
    assert_false(f.search.recovery_known);
}

/* 3.5 s are left, so two windows of 1 s follow the first. */
static void no_window_of_a_recovery_exceeds_the_time_left(void **state)
{
    (void)state;
    recover(&no_workers, 7 * S / 2);
    assert_int_equal(f.order.duration_ns, 7 * S / 2);
    assert_int_equal(f.measure_ns - f.trial_ns, 2 * S);
}

/* With less time left, the server may still recover. */
static void a_server_does_not_recover_if_it_has_not_after_30_s(void **state)
{
    static const struct {
        uint64_t left_ns;
        bool is_known;
    } cases[] = {{29 * S, false}, {30 * S, true}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(start_workers(), 0);
        recover(&workers, cases[i].left_ns);
        assert_int_equal(f.search.recovery_known, cases[i].is_known);
        assert_int_equal(f.search.recovery_ns, cases[i].is_known ? SEARCH_NEVER : 0);
        stop_workers();
    }
}

/* The overload was the last that it answered. */
static void a_server_that_refuses_after_the_overload_is_gone(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        is_refused = i == 1;
        assert_int_equal(start_workers(), 0);
        tally_add(&all[0].figures.tally.late, 1);
        recover(&workers, 5 * S);
        assert_int_equal(f.search.cut_by, is_refused ? SEARCH_SERVER_GONE : SEARCH_NO_REASON);
        stop_workers();
    }
    is_refused = false;
}

/* A search over 6 connections, which has the given number before its first trial. */
static void await_connections(uint64_t begin_ns, unsigned n_live)
{
    const struct search_config search = {.min = 1, .max = 100, .width = 0.02, .time_ns = 100 * S};

    assert_int_equal(start_workers(), 0);
    tally_add(&all[0].figures.n_live, n_live);
    tally_add(&all[0].figures.n_ever_usable, 6);
    config.connect_timeout_ns = S;
    schedule_constant(&config.schedule, PACER_NEVER, 0);
    client_steer_init(&steer, &config, &workers);
    client_steer_begin(&steer, begin_ns, PACER_NEVER);
    settings = (struct client_find_settings){.what = CLIENT_FIND_RATE, .time_ns = 100 * S};
    f = (struct client_find){.settings = &settings,
                             .config = &config,
                             .steer = &steer,
                             .workers = &workers,
                             .intervals = &intervals,
                             .n_connections = 6};
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        assert_int_equal(hist_init(&f.recorded[m]), 0);
    search_init(&f.search, &search);
    client_find_begin(&f, begin_ns);
    assert_true(client_find_look(&f, begin_ns));
}

/* Time is up before they are given up: a connect timeout as long as the search. */
static void time_without_any_connection_is_not_too_short(void **state)
{
    for (int i = 0; i < 2; i++) {
        const uint64_t begin_ns = clock_now_ns();
        const bool was_any_usable = i == 1;

        (void)state;
        await_connections(begin_ns, 0);
        settings.time_ns = S;
        if (!was_any_usable)
            tally_sub(&all[0].figures.n_ever_usable, 6);
        assert_true(client_find_look(&f, begin_ns + S));
        assert_false(client_find_look(&f, begin_ns + S + 1));
        assert_int_equal(f.search.status, SEARCH_INCONCLUSIVE);
        assert_int_equal(f.search.reason, was_any_usable ? SEARCH_TIME : SEARCH_UNCONNECTED);
        client_find_free(&f);
        stop_workers();
    }
}

/* The server closes them as fast as they are opened again. */
static void connections_of_which_some_are_always_missing_are_given_up(void **state)
{
    const uint64_t begin_ns = clock_now_ns();
    uint64_t now_ns = begin_ns;

    (void)state;
    await_connections(begin_ns, 4);
    for (int i = 0; f.search.n == 0 && i < 40; i++) {
        now_ns += S / 10;
        assert_true(client_find_look(&f, now_ns));
        if (i % 2 == 0)
            tally_add(&all[0].figures.n_live, 1);
        else
            tally_sub(&all[0].figures.n_live, 1);
    }
    assert_int_equal(f.search.n, 1);
    assert_int_equal(f.search.trials[0].judgment.class, TRIAL_VOID);
    assert_int_equal(f.search.trials[0].judgment.reason, TRIAL_CONNECTIONS);
    assert_true(now_ns - begin_ns > 2 * S);
    client_find_free(&f);
    stop_workers();
}

/* The control: one every 1.5 s. */
static void connections_that_come_back_are_awaited(void **state)
{
    const uint64_t begin_ns = clock_now_ns();

    (void)state;
    await_connections(begin_ns, 0);
    for (uint64_t i = 1; i <= 6; i++) {
        assert_true(client_find_look(&f, begin_ns + i * 3 * S / 2));
        tally_add(&all[0].figures.n_live, 1);
        assert_int_equal(f.trial_ns, 0);
    }
    assert_true(client_find_look(&f, begin_ns + 10 * S));
    assert_int_equal(f.search.n, 0);
    assert_true(f.trial_ns > 0); /* the first trial has its load */
    client_find_free(&f);
    stop_workers();
}

/* Looks at the search every 100 ms until no trial or time is left. */
static void look_until(uint64_t from_ns, uint64_t to_ns)
{
    for (uint64_t now_ns = from_ns; now_ns <= to_ns && client_find_look(&f, now_ns);)
        now_ns += S / 10;
}

/* Half a second after the first of two trials began; time is up in the second one. */
static void a_search_ends_once_no_connection_of_any_comes_back(void **state)
{
    const uint64_t begin_ns = clock_now_ns();

    (void)state;
    await_connections(begin_ns, 2);
    look_until(begin_ns, begin_ns + S / 2);
    tally_add(&all[0].figures.tally.late, 1); /* the last answer */
    tally_sub(&all[0].figures.n_live, 2);
    look_until(begin_ns + S / 2, begin_ns + 10 * S);
    assert_int_equal(f.search.n, 2);
    assert_int_equal(f.search.status, SEARCH_INCONCLUSIVE);
    assert_int_equal(f.search.reason, SEARCH_SERVER_GONE);
    client_find_free(&f);
    stop_workers();
}

/* Nor does it end if this host cannot open any. */
static void a_search_without_ports_has_not_lost_its_server(void **state)
{
    const uint64_t begin_ns = clock_now_ns();

    (void)state;
    await_connections(begin_ns, 2);
    tally_sub(&all[0].figures.n_live, 2);
    for (uint64_t i = 0; i < 10; i++) {
        tally_add(&all[0].figures.tally.connections.ended[PHASE_BIND][REASON_PORTS], 1);
        look_until(begin_ns + i * S, begin_ns + (i + 1) * S - 1);
    }
    assert_true(f.search.n >= 4);
    assert_int_not_equal(f.search.reason, SEARCH_SERVER_GONE);
    client_find_free(&f);
    stop_workers();
}

/* The server is gone if its connections live but the queries of a whole trial are lost; not if it
 * answers late, or if any other query was answered. */
static void a_server_that_answers_no_query_of_a_trial_hangs(void **state)
{
    const uint64_t begin_ns = clock_now_ns();

    (void)state;
    await_connections(begin_ns, 6);
    f.elapsed_ns = 10 * S;
    tally_add(&all[0].figures.tally.queries[TALLY_MEASURED].answered, 1);
    client_find_server_look(&f);
    assert_int_equal(f.served_ns, 10 * S);
    f.elapsed_ns = 20 * S;
    client_find_server_look(&f);
    assert_int_equal(f.served_ns, 10 * S);
    f.search.n = 1;
    f.trials[0].figures.n_due = f.trials[0].n_lost = 0;
    assert_false(client_find_server_is_gone(&f, 15 * S));
    f.trials[0].figures.n_due = f.trials[0].n_lost = 5;
    assert_true(client_find_server_is_gone(&f, 15 * S));
    assert_false(client_find_server_is_gone(&f, 10 * S));
    f.trials[0].n_lost = 4;
    assert_false(client_find_server_is_gone(&f, 15 * S));
    f.trials[0].n_lost = 5;
    tally_add(&all[0].figures.tally.late, 1);
    client_find_server_look(&f);
    assert_false(client_find_server_is_gone(&f, 15 * S));
    client_find_free(&f);
    stop_workers();
}

/* As when the server dies within the only trial for which there is time. */
static void a_server_that_refuses_when_time_is_up_is_gone(void **state)
{
    static const struct {
        uint64_t n_refused, looked_ns;
        int reason;
    } cases[] = {
        {1, 10 * S, SEARCH_SERVER_GONE}, {0, 10 * S, SEARCH_TIME}, {1, 2 * S, SEARCH_TIME}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t begin_ns = clock_now_ns();

        await_connections(begin_ns, 0);
        settings.what = CLIENT_FIND_CONNECT_RATE;
        f.search.config.time_ns = S;
        tally_add(&all[0].figures.tally.queries[TALLY_MEASURED].answered, 1);
        f.elapsed_ns = 3 * S / 2;
        client_find_server_look(&f);
        tally_add(&all[0].figures.tally.connections.ended[PHASE_CONNECT][REASON_REFUSED],
                  cases[i].n_refused);
        add(SEARCH_DOUBLE, 10, TRIAL_BAD);
        client_find_begin(&f, begin_ns); /* no trial is in progress */
        assert_false(client_find_look(&f, begin_ns + cases[i].looked_ns));
        assert_int_equal(f.search.status, SEARCH_INCONCLUSIVE);
        assert_int_equal(f.search.reason, cases[i].reason);
        client_find_free(&f);
        stop_workers();
    }
}

/* Between the trials of a search for connections per second, none is open. */
static void a_search_that_opens_nothing_has_not_lost_its_server(void **state)
{
    const uint64_t begin_ns = clock_now_ns();

    (void)state;
    await_connections(begin_ns, 0);
    settings.what = CLIENT_FIND_CONNECT_RATE;
    tally_add(&all[0].figures.tally.queries[TALLY_MEASURED].answered, 1);
    f.elapsed_ns = S;
    client_find_server_look(&f);
    f.elapsed_ns = 20 * S;
    tally_add(&all[0].figures.n_ever_usable, 1); /* in an accept queue */
    client_find_server_look(&f);
    assert_int_equal(f.served_ns, S);
    assert_false(client_find_server_is_gone(&f, 2 * S));
    f.search.n = 1;
    f.trials[0].figures.n_due = f.trials[0].n_lost = 5;
    assert_true(client_find_server_is_gone(&f, 2 * S));
    client_find_free(&f);
    stop_workers();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_overload_without_a_recovery_is_ended_and_drained),
        cmocka_unit_test(a_recovery_whose_last_window_is_void_is_unknown),
        cmocka_unit_test(no_window_of_a_recovery_exceeds_the_time_left),
        cmocka_unit_test(a_server_does_not_recover_if_it_has_not_after_30_s),
        cmocka_unit_test(a_server_that_refuses_after_the_overload_is_gone),
        cmocka_unit_test(time_without_any_connection_is_not_too_short),
        cmocka_unit_test(connections_of_which_some_are_always_missing_are_given_up),
        cmocka_unit_test(connections_that_come_back_are_awaited),
        cmocka_unit_test(a_search_ends_once_no_connection_of_any_comes_back),
        cmocka_unit_test(a_search_without_ports_has_not_lost_its_server),
        cmocka_unit_test(a_server_that_answers_no_query_of_a_trial_hangs),
        cmocka_unit_test(a_server_that_refuses_when_time_is_up_is_gone),
        cmocka_unit_test(a_search_that_opens_nothing_has_not_lost_its_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
