/* SPDX-License-Identifier: MIT
 * test_report_push: pushed messages in the reports. */
#include "report_steps.h"

/* Two hosts whose clocks differ by up to 250 us. */
static void make_listener(struct made_up *m)
{
    struct tally_push *p = &m->result.tally.push;

    m->config.listens = true;
    m->about.has_queries = false;
    m->result.push_least_ns = -250 * (int64_t)US;
    tally_add(&p->before, 111);
    tally_add(&p->measured, 50000);
    tally_add(&p->after, 222);
    tally_add(&p->lost, 3);
    tally_add(&p->duplicate, 4);
    tally_add(&p->damaged, 5);
    tally_add(&p->other_clock, 50333);
    tally_add(&p->negative, 6);
    tally_add(&p->unfinished, 7);
}

static void listener_reports_messages(void **state)
{
    struct made_up *m = *state;
    char *text;

    text = text_of(report_json, m);
    assert_has(text, "\"push\": null,");
    free(text);
    make_listener(m);
    m->result.verdict.of_messages = true;
    text = text_of(report_text, m);
    assert_has(text, "tcpclient 9.9: listen to 192.0.2.1:53, 100 connections, 10.0 s");
    assert_has(text, "50,000 received (5000.0/s), 111 before and 222 after the measurement");
    assert_has(text, "3 lost, 4 duplicate, 5 damaged; 7 connections not read to the end");
    assert_has(text, "all timed with the CLOCK_REALTIME of two hosts: the times below are off");
    assert_has(text, "6 arrived before they were due, by up to 250 us");
    assert_has(text, "\n  response: intended send to receipt; service: actual send to receipt;\n"
                     "  '-': fewer than 10 values above\n  holds: whether send lag and this host's "
                     "delays hardly affect the percentile\n");
    assert_has(text, "\nResponse time histogram (upper bound, messages)\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"measured\": 50000,\n    \"before\": 111,\n    \"after\": 222,\n"
                     "    \"lost\": 3,\n    \"duplicate\": 4,\n    \"damaged\": 5,\n"
                     "    \"unfinished_connections\": 7,\n    \"messages_per_s\": 5000,\n"
                     "    \"clock\": \"realtime\",\n    \"negative\": 6,\n"
                     "    \"least_ns\": -250000");
    assert_has(text, "\"asked_qps\": null,\n    \"achieved_qps\": null,");
    free(text);
    m->result.state = CLIENT_RUN_RUNNING;
    m->result.push_least_ns = 0; /* collected at the end */
    text = text_of(report_json, m);
    assert_has(text, "\"negative\": 6,\n    \"least_ns\": null");
    free(text);
}

/* The query timeout of 5 s does not bound them. */
static void percentile_among_lost_messages_is_never(void **state)
{
    struct made_up *m = *state;
    char *text;

    make_listener(m);
    text = text_of(report_text, m);
    assert_has(text, "response       700 us    701 us    701 us     never ");
    free(text);
}

static void clock_is_named_by_what_dated_the_messages(void **state)
{
    struct made_up *m = *state;
    char *text;

    make_listener(m);
    tally_sub(&m->result.tally.push.other_clock, 1);
    text = text_of(report_json, m);
    assert_has(text, "\"clock\": \"mixed\"");
    free(text);
    text = text_of(report_text, m);
    assert_has(text, "50,332 timed with the CLOCK_REALTIME of two hosts: their times below are");
    free(text);
    tally_sub(&m->result.tally.push.negative, 6);
    tally_sub(&m->result.tally.push.unfinished, 7);
    text = text_of(report_text, m);
    assert_has(text, "3 lost, 4 duplicate, 5 damaged\n");
    assert_null(strstr(text, "before they were due"));
    free(text);
    tally_sub(&m->result.tally.push.other_clock, 50332);
    text = text_of(report_json, m);
    assert_has(text, "\"clock\": \"monotonic\"");
    free(text);
    text = text_of(report_text, m);
    assert_has(text, "timed with the CLOCK_MONOTONIC that both programs share");
    free(text);
}

static void without_a_message_no_clock_is_known(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.listens = true;
    text = text_of(report_json, m);
    assert_has(text, "\"clock\": null");
    free(text);
    text = text_of(report_text, m);
    assert_has(text, "\nMessages     0 received");
    assert_null(strstr(text, "CLOCK_"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(listener_reports_messages),
        TEST(percentile_among_lost_messages_is_never),
        TEST(clock_is_named_by_what_dated_the_messages),
        TEST(without_a_message_no_clock_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
