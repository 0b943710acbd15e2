/* SPDX-License-Identifier: MIT
 * test_report_connections: the lines about connections: replaced, lost, failed, not attempted. */
#include "report_steps.h"

/* 30 of 50 first attempts failed; 10 replacements were established before the load, 45 under it. */
static void replacements_are_those_established_under_load(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    m->config.reconnect = true;
    m->about.churn_most_per_s = 50;
    r->connections_requested = 100;
    r->load_ns = 10000 * MS;
    r->replaced_loaded = 10;
    tally_add(&r->tally.connections.reopened, 60);
    tally_add(&r->tally.connections.replaced, 55);
    text = text_of(report_text, m);
    assert_has(text, " 60 replacements attempted, 4.5/s connected");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"churn\": {\n    \"per_s\": 4.5,\n    \"most_per_s\": 50\n");
    free(text);
}

/* Lines about what did not happen would be noise. */
static void connections_that_were_not_replaced_or_lost_have_no_lines(void **state)
{
    struct made_up *m = *state;
    struct tally *t = &m->result.tally;
    char *text;

    tally_sub(&t->connections.retransmits, 180);
    tally_sub(&t->queries[TALLY_MEASURED].scheduled, 1003);
    tally_sub(&t->answers.by_code[0], 3);
    m->result.paused_ns = 0;
    m->result.connect_elapsed_ns = 0; /* connecting was cut short */
    text = text_of(report_text, m);
    assert_has(
        text,
        "\n             98 live at the end\n"
        "Queries      0 scheduled, 1,000 sent, 980 answered\n"
        "             15 timed out, 5 failed, 0 cancelled, 3 unsent\n"
        "Answers      960 NOERROR, 11 NXDOMAIN, 6 RCODE15, 2 truncated\n"
        "Rate         100.0 q/s achieved, 0.0 scheduled, 100 requested, measured for 10.0 s\n");
    free(text);
    tally_sub(&t->connections.connected, 99);
    m->result.connect_elapsed_ns = 500 * MS;
    text = text_of(report_text, m);
    assert_has(text, "\n             98 live at the end\nQueries ");
    free(text);
}

static void connections_that_were_replaced_or_lost_have_lines(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    r->connections_wanted = 60;
    r->gave_up = true;
    tally_add(&r->tally.connections.attempted, 70);
    assert_int_equal(losses_init(&r->losses), 0);
    for (uint64_t i = 1; i <= 3; i++)
        losses_add(&r->losses, 7000 * MS, i * 1000 * MS);
    m->config.reconnect = true;
    m->about.churn_most_per_s = HOST_LIMITS_UNKNOWN;
    text = text_of(report_text, m);
    assert_has(
        text, "\n             98 live at the end, of 60 requested at that time; opened in 500 ms "
              "(198/s)\n             gave up: none of the first connections (--connect-window) got "
              "an answer; 30 not attempted\n"
              "             3 closed by the server, idle for at least 1.00 s, median 2.00 s\n"
              "             0 replacements attempted, 0.0/s connected\n"
              "             180 retransmits ");
    free(text);
    losses_free(&r->losses);
    assert_int_equal(losses_init(&r->losses), 0);
    for (uint64_t i = 0; i < 3; i++) {
        losses_add(&r->losses, 7000 * MS + i * 1000 * MS, 0);
        losses_add_answers(&r->losses, 100);
    }
    text = text_of(report_text, m);
    assert_has(text, "\n             3 closed by the server after 100 queries each, idle for less "
                     "than 1 ms\n");
    free(text);
    m->about.churn_most_per_s = 941;
    r->sockets.time_wait = 12;
    text = text_of(report_text, m);
    assert_has(text, " connected, at most 941/s sustainable with TIME_WAIT\n");
    assert_null(strstr(text, "at the end\n")); /* the kernel did not tell */
    r->has_sockets = true;
    free(text);
    text = text_of(report_text, m);
    assert_has(text, "\n             12 in TIME_WAIT towards the server at the end\n");
    free(text);
    r->sockets.time_wait = 0;
    text = text_of(report_text, m);
    assert_null(strstr(text, "towards the server"));
    free(text);
    losses_free(&r->losses);
}

/* Replacements were opened later: they say nothing of how fast the first ones were. */
static void connect_rate_is_that_of_the_first_connections(void **state)
{
    struct made_up *m = *state;
    char *text;

    tally_add(&m->result.tally.connections.connected, 40);
    tally_add(&m->result.tally.connections.replaced, 59);
    text = text_of(report_json, m);
    assert_has(text, "\"connect_rate_per_s\": 160,");
    free(text);
    text = text_of(report_text, m);
    assert_has(text, "; the first 80 opened in 500 ms (160/s)");
    free(text);
    tally_add(&m->result.tally.connections.replaced, 79);
    text = text_of(report_text, m);
    assert_has(text, "; the first opened in 500 ms (2/s)");
    free(text);
}

/* A replacement is not one of those requested. */
static void opening_that_ended_early_counts_those_not_attempted(void **state)
{
    struct made_up *m = *state;
    char *text;

    tally_add(&m->result.tally.connections.attempted, 71);
    tally_add(&m->result.tally.connections.reopened, 1);
    m->result.gave_up = true;
    text = text_of(report_text, m);
    assert_has(text, "gave up: none of the first connections (--connect-window) got an answer; "
                     "30 not attempted\n");
    free(text);
    m->result.gave_up = false;
    m->result.n_futile = 16;
    text = text_of(report_text, m);
    assert_has(text, "stopped opening: none of the last 16 got an answer; 30 not attempted\n");
    free(text);
}

/* Its first answer came between the count of those half-open and the end. */
static void a_connection_that_is_answered_at_last_did_not_fail(void **state)
{
    struct made_up *m = *state;
    char *text;

    tally_sub(&m->result.tally.connections.ended[PHASE_RECEIVE][REASON_HALF_OPEN], 1);
    text = text_of(report_json, *state);
    assert_has(text, "\"half_open\": 1,");
    assert_has(text, "\"failed\": 1,");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(replacements_are_those_established_under_load),
        TEST(connections_that_were_not_replaced_or_lost_have_no_lines),
        TEST(connections_that_were_replaced_or_lost_have_lines),
        TEST(connect_rate_is_that_of_the_first_connections),
        TEST(opening_that_ended_early_counts_those_not_attempted),
        TEST(a_connection_that_is_answered_at_last_did_not_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
