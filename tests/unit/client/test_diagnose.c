/* SPDX-License-Identifier: MIT
 * test_diagnose: when connections count as missing, and what the diagnosis knows of the run. */
#include "client/diagnose.h"

#include "client/sweep.h"

#include "judge_steps.h"

#include <string.h>

static void missing_connections_are_diagnosed(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    snprintf(m->plan.target, sizeof m->plan.target, "192.0.2.1:53");
    tally_add(&r->tally.connections.ended[PHASE_CONNECT][REASON_REFUSED], 4);
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 0); /* none is missing */
    r->connections_live = N_CONNECTIONS - 4;
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 1);
    assert_int_equal(r->diagnosis.lines[0].connections, 4);
    r->connections_live = 0;
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(r->diagnosis.lines[0].evidence, "nothing listens on 192.0.2.1:53"));
    assert_null(strstr(r->diagnosis.lines[0].remedy, "--class")); /* there is none */
}

/* UDP sockets are live even if no server listens. */
static void somebody_listens_if_connections_live_and_answer(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    tally_add(&r->tally.connections.ended[PHASE_CONNECT][REASON_REFUSED], 4);
    r->connections_live = N_CONNECTIONS - 4;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "connections refused");
    m->plan.config.socket.datagrams = true;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "nobody listens");
    tally_add(&r->tally.connections.proven, 1);
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "connections refused");
    r->connections_unresponsive = r->connections_live;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(r->diagnosis.lines[r->diagnosis.n_lines - 1].limit, "nobody listens");
}

static void the_ports_that_refused_are_named(void **state)
{
    static struct client_class classes[3];
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    for (uint16_t k = 0; k < 3; k++) {
        classes[k].target.ss.ss_family = AF_INET;
        sock_set_port(&classes[k].target, 4242 + k);
    }
    m->plan.config.classes = classes;
    m->plan.config.n_classes = 3;
    tally_add(&r->tally.connections.ended[PHASE_CONNECT][REASON_REFUSED], 4);
    tally_add(&r->class_tallies[1].refused, 4);
    r->connections_live = N_CONNECTIONS - 4;
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(line->evidence, "nothing listens on 0.0.0.0:4243"));
    assert_null(strstr(line->evidence, "other"));
    tally_add(&r->class_tallies[2].refused, 1);
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(line->evidence, "nothing listens on 0.0.0.0:4243 and 1 other port"));
    assert_non_null(strstr(line->remedy, "--class"));
    r->class_live[1] = 1; /* to one of both */
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "nobody listens");
    r->class_live[2] = 1;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "connections refused");
}

/* The accept queues of another program on this host may overflow meanwhile. */
static void the_accept_queue_of_a_server_elsewhere_is_not_blamed(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    tally_add(&r->tally.connections.ended[PHASE_CONNECT][REASON_TIMEOUT], 4);
    r->connections_live = N_CONNECTIONS - 4;
    r->limits.tcp_pages_max = 1;
    r->host_after.listen_overflows = 1000;
    r->queue_before = r->queue_after =
        (struct client_accept_queue){HOST_COUNTERS_UNKNOWN, HOST_COUNTERS_UNKNOWN};
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the path to the server");
    r->queue_before = (struct client_accept_queue){0, 0};
    r->queue_after = (struct client_accept_queue){1000, 3};
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the path to the server");
    r->queue_after.drops = 4;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the server's accept queue");
}

/* Tuples that this run left in TIME_WAIT are not why it had too few, nor are those that have left
 * TIME_WAIT. */
static void tuples_that_earlier_runs_left_are_named(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    tally_add(&r->tally.connections.ended[PHASE_BIND][REASON_PORTS], 4);
    r->connections_live = N_CONNECTIONS - 4;
    r->has_sockets = true;
    r->sockets.time_wait = 5;
    m->plan.sources.n_tuples = 100;
    m->plan.sources.n_time_wait = 4;
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(line->evidence, "4 of 100 source tuples are in TIME_WAIT"));
    m->plan.sources.n_time_wait = 3;
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(line->evidence, "source tuples: 100; sockets in TIME_WAIT"));
    m->plan.sources.n_time_wait = 100;
    r->sockets.time_wait = 3;
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(line->evidence, "source tuples: 100; sockets in TIME_WAIT"));
}

static void tuples_of_which_the_kernel_did_not_tell_are_not_blamed(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    tally_add(&r->tally.connections.ended[PHASE_BIND][REASON_PORTS], 4);
    r->connections_live = N_CONNECTIONS - 4;
    r->sockets.time_wait = 5;
    m->plan.sources.n_tuples = 100;
    m->plan.sources.n_time_wait = 4;
    for (int round = 0; round < 2; round++) {
        client_diagnose(r, &m->plan, true);
        assert_non_null(strstr(line->evidence, "source tuples: 100; sockets in TIME_WAIT"));
        r->has_sockets = true;
        m->plan.sources.n_time_wait = HOST_LIMITS_UNKNOWN;
    }
}

static void a_shortage_of_this_host_is_quoted(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    r->connections_live = N_CONNECTIONS - 4;
    tally_add(&r->tally.connections.ended[PHASE_RUN][REASON_MEMORY], 4);
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "net.ipv4.tcp_mem");
    snprintf(r->shortage, sizeof r->shortage, "no memory for another connection");
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "memory");
    assert_string_equal(line->evidence, "no memory for another connection");
}

/* Three connections to each of two ports, of which only the first answers. */
static void connect_to_two_ports(struct made_up *m)
{
    static struct client_class classes[2];
    struct client_result *r = &m->result;

    for (uint16_t k = 0; k < 2; k++) {
        classes[k].target.ss.ss_family = AF_INET;
        sock_set_port(&classes[k].target, 4242 + k);
        tally_add(&r->class_tallies[k].connected, 3);
    }
    m->plan.config.classes = classes;
    m->plan.config.n_classes = 2;
    m->plan.config.prove = true;
    tally_add(&r->class_tallies[0].proven, 3);
    tally_add(&r->tally.connections.connected, 6);
    tally_add(&r->tally.connections.proven, 3);
}

static void a_port_that_never_answered_is_named(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    connect_to_two_ports(m);
    r->connections_half_open = 3;
    r->connections_live = N_CONNECTIONS - 3;
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 1);
    assert_string_equal(line->limit, "nobody answers");
    assert_int_equal(line->connections, 3);
    assert_string_equal(
        line->evidence,
        "no connection to 0.0.0.0:4243 ever got an answer; all others that were established did");
    tally_add(&r->class_tallies[0].connected, 1); /* neither was one to the other port */
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the server's accept queue or connection limit");
}

/* Listeners wait for messages; connections that were never established, for nothing. */
static void a_port_without_connections_is_not_silent(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    connect_to_two_ports(m);
    m->plan.config.prove = false;
    m->plan.config.listens = true;
    r->connections_half_open = 3;
    r->connections_live = N_CONNECTIONS - 3;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "nobody answers");
    r->class_tallies[1] = (struct class_tally){0};
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the server's accept queue or connection limit");
}

static void a_port_that_closes_before_an_answer_is_named(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    connect_to_two_ports(m);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 2);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_RESET], 1);
    r->connections_live = N_CONNECTIONS - 3;
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 1);
    assert_string_equal(line->limit, "nobody answers");
    assert_int_equal(line->connections, 3);
    assert_string_equal(line->evidence, "no connection to 0.0.0.0:4243 ever got an answer (3 "
                                        "closed or reset); all others that were established did");
    m->plan.config.prove = false; /* no query was sent on it */
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the server's limits");
    tally_add(&r->class_tallies[1].queries[TALLY_MEASURED].sent, 1);
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "nobody answers");
}

/* Two connections to the other port are closed when idle. */
static void what_other_ports_closed_is_not_put_down_to_the_silent_one(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *lines = r->diagnosis.lines;

    connect_to_two_ports(m);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 3);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 2);
    for (int i = 0; i < 2; i++)
        losses_add(&r->losses, 7000 * MS, 2000 * MS);
    r->connections_live = N_CONNECTIONS - 5;
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 2);
    assert_string_equal(lines[0].limit, "nobody answers");
    assert_int_equal(lines[0].connections, 3);
    assert_string_equal(lines[1].limit, "the server's idle timeout");
    assert_int_equal(lines[1].connections, 2);
}

/* A connection is missing between the end of one and the start of its replacement. */
static void connections_that_follow_one_another_are_not_missing(void **state)
{
    struct made_up *m = *state;

    m->plan.config.queries_per_conn = 100;
    m->result.connections_live = 0;
    client_diagnose(&m->result, &m->plan, true);
    assert_int_equal(m->result.diagnosis.n_lines, 0);
    m->result.connections_unresponsive = 1;
    client_diagnose(&m->result, &m->plan, true);
    assert_int_equal(m->result.diagnosis.n_lines, 1);
}

/* As many live as were requested, so that only what failed is missing. */
static void connections_that_follow_one_another_fail_whichever_way_they_do(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    tally_add(&r->tally.connections.ended[PHASE_BIND][REASON_PORTS], 4);
    m->plan.sources.n_tuples = 100;
    r->sockets.time_wait = 5;
    for (int way = 0; way < 3; way++) {
        r->diagnosis.n_lines = 0;
        r->has_sockets = way > 0;
        m->plan.config.queries_per_conn = way == 0;
        m->plan.config.on_demand = way == 1;
        m->plan.config.conn_per_query = way == 2;
        client_diagnose(r, &m->plan, true);
        assert_int_equal(r->diagnosis.n_lines, 1);
        assert_string_equal(line->limit, "source ports");
        assert_non_null(strstr(line->evidence,
                               way > 0 ? "tuples: 100; sockets in TIME_WAIT towards the server: 5; "
                                       : "in TIME_WAIT towards the server: unknown; "));
        assert_non_null(strstr(line->evidence, "connections/s achieved"));
    }
}

/* Two of the ten were attempted. */
static void connections_that_were_given_up_are_those_not_begun(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    memset(&r->tally, 0, sizeof r->tally);
    tally_add(&r->tally.bytes_sent, 100);
    tally_add(&r->tally.connections.attempted, 2);
    tally_add(&r->tally.connections.connected, 2);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 2);
    r->connections_live = 0;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "nobody answers");
    assert_null(strstr(line->evidence, "not attempted"));
    r->gave_up = true;
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(line->evidence, "; 8 more not attempted"));
}

/* All end within 3 ms, used in turn. */
static void only_a_server_that_lost_all_connections_has_gone_away(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    for (unsigned i = 0; i < N_CONNECTIONS; i++)
        losses_add(&r->losses, 7000 * MS + i * MS * 3 / N_CONNECTIONS, i * MS);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_PEER], N_CONNECTIONS);
    tally_add(&r->tally.connections.proven, N_CONNECTIONS);
    r->server_was_tried = true;
    for (uint64_t n_left = 0; n_left < 2; n_left++) {
        r->connections_live = n_left;
        client_diagnose(r, &m->plan, true);
        assert_string_equal(line->limit,
                            n_left == 0 ? "the server went away" : "the server's limits");
    }
}

/* The connections to the second of two ports end within 2 ms. */
static void a_port_that_lost_all_its_connections_has_gone_away(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    connect_to_two_ports(m);
    tally_add(&r->class_tallies[1].proven, 3);
    tally_add(&r->tally.connections.proven, 3);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 3);
    for (unsigned i = 0; i < 3; i++)
        losses_add(&r->losses, 7000 * MS + i * MS, i * MS);
    r->class_live[0] = r->connections_live = 3;
    r->server_was_tried = true;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the server went away");
    assert_int_equal(line->connections, 3);
    assert_string_equal(line->evidence, "all ended within 2.00 ms, and connections to 0.0.0.0:4243 "
                                        "are not accepted now");
    r->server_accepts = true;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the server's limits");
    r->server_accepts = false;
    r->class_live[0] = 2; /* the other port lost one, too */
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the server's limits");
    r->class_live[0] = 3;
    r->class_live[1] = 1;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the server's limits");
}

/* The server closes all connections two seconds after their last answer. */
static void the_advice_fits_how_the_run_opens_connections(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    for (int i = 0; i < N_CONNECTIONS; i++)
        losses_add(&r->losses, 7000 * MS, 2000 * MS);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_PEER], N_CONNECTIONS);
    tally_add(&r->tally.connections.proven, N_CONNECTIONS);
    r->connections_live = 0;
    client_diagnose(r, &m->plan, true);
    assert_string_equal(line->limit, "the server's idle timeout");
    assert_non_null(strstr(line->remedy, "use --reconnect"));
    m->plan.config.reconnect = true;
    client_diagnose(r, &m->plan, true);
    assert_null(strstr(line->remedy, "--reconnect"));
    m->plan.config.on_demand = true;
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(line->remedy, "--idle-close"));
}

/* As many live as were requested. */
static void a_server_that_never_answered_is_named(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    tally_add(&r->tally.connections.connected, N_CONNECTIONS);
    tally_add(&r->tally.connections.with_timeouts, N_CONNECTIONS);
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 0); /* nothing was sent */
    m->plan.config.listens = true;
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 1);
    assert_string_equal(r->diagnosis.lines[0].limit, "nobody answers");
    assert_non_null(
        strstr(r->diagnosis.lines[0].evidence, "no connection ever got an answer (listen): "));
    assert_non_null(strstr(r->diagnosis.lines[0].remedy, "--push"));
}

/* Its silent connections may be those without TLS. */
static void a_server_that_some_classes_use_without_tls_is_not_said_to_lack_it(void **state)
{
    static struct client_class classes[2] = {{.tls = true}};
    struct tls_context tls;
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct diagnosis_line *line = r->diagnosis.lines;

    m->plan.config.tls = &tls;
    m->plan.config.classes = classes;
    m->plan.config.n_classes = 2;
    tally_add(&r->tally.connections.connected, N_CONNECTIONS);
    tally_add(&r->tally.bytes_sent, 1000);
    r->connections_half_open = N_CONNECTIONS;
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(line->evidence, "(ping): 10 silent"));
    assert_non_null(strstr(line->remedy, "another --protocol"));
    classes[1].tls = true;
    client_diagnose(r, &m->plan, true);
    assert_non_null(strstr(line->evidence, "(ping over TLS): 10 silent"));
    assert_non_null(strstr(line->remedy, "check that the port uses TLS"));
}

/* The last trial had all of its connections. */
static void connections_that_a_trial_of_a_search_lacked_are_diagnosed(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    struct client_find *find = calloc(1, sizeof *find);
    const struct client_sweep sweep = {.n = 1, .n_begun = 1, .points = {{.find = find}}};

    assert_non_null(find);
    r->sweep = &sweep;
    m->plan.config.reconnect = true;
    tally_add(&r->tally.connections.proven, N_CONNECTIONS);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_HALF_OPEN], 24);
    find->search.n = 2;
    find->search.trials[0].judgment.reason = TRIAL_GOAL;
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 0);
    find->search.trials[0].judgment.reason = TRIAL_CONNECTIONS;
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 1);
    assert_string_equal(r->diagnosis.lines[0].limit,
                        "the server's accept queue or connection limit");
    r->sweep = NULL;
    free(find);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(missing_connections_are_diagnosed),
        TEST(connections_that_a_trial_of_a_search_lacked_are_diagnosed),
        TEST(somebody_listens_if_connections_live_and_answer),
        TEST(the_ports_that_refused_are_named),
        TEST(the_accept_queue_of_a_server_elsewhere_is_not_blamed),
        TEST(tuples_that_earlier_runs_left_are_named),
        TEST(tuples_of_which_the_kernel_did_not_tell_are_not_blamed),
        TEST(a_shortage_of_this_host_is_quoted),
        TEST(a_port_that_never_answered_is_named),
        TEST(a_port_without_connections_is_not_silent),
        TEST(a_port_that_closes_before_an_answer_is_named),
        TEST(what_other_ports_closed_is_not_put_down_to_the_silent_one),
        TEST(a_server_that_some_classes_use_without_tls_is_not_said_to_lack_it),
        TEST(connections_that_follow_one_another_are_not_missing),
        TEST(connections_that_follow_one_another_fail_whichever_way_they_do),
        TEST(connections_that_were_given_up_are_those_not_begun),
        TEST(only_a_server_that_lost_all_connections_has_gone_away),
        TEST(a_port_that_lost_all_its_connections_has_gone_away),
        TEST(the_advice_fits_how_the_run_opens_connections),
        TEST(a_server_that_never_answered_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
