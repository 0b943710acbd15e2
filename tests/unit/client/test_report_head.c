/* SPDX-License-Identifier: MIT
 * test_report_head: the summary begins with the load that was requested, and how it was sent. */
#include "report_steps.h"

#include "client/report_text_head.h"

static void head_says_how_the_queries_are_sent(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.seed = 7;
    text = text_of(report_text, m);
    assert_has(text, "\n  2 threads sharing one fd table, pacing auto, seed 7, quickack off, "
                     "libevent 2.x (epoll)\n");
    free(text);
    m->result.own_fd_tables = m->config.quickack = true;
    m->config.pace = CLIENT_PACE_SPIN;
    text = text_of(report_text, m);
    assert_has(text, "\n  2 threads with own fd tables, pacing spin, seed 7, quickack on, ");
    free(text);
}

static void assert_first_line(struct made_up *m, const char *line)
{
    char *text = text_of(report_text, m);

    *strchr(text, '\n') = '\0';
    assert_string_equal(text, line);
    free(text);
}

static void head_says_which_load_was_requested(void **state)
{
    static const struct client_class classes[2] = {{.name = "a"}, {.name = "b"}};
    struct made_up *m = *state;
    struct client_config *c = &m->config;

    m->result.steered = false;
    m->about.rate_qps = 0; /* so far, as in a schedule that begins with 0 */
    assert_first_line(m, "tcpclient 9.9: dns to 192.0.2.1:53, 100 connections, 0 q/s (Poisson, "
                         "random), 10.0 s");
    m->about.has_queries = false;
    assert_first_line(m, "tcpclient 9.9: dns to 192.0.2.1:53, 100 connections, no queries, 10.0 s");
    c->listens = true;
    assert_first_line(m, "tcpclient 9.9: listen to 192.0.2.1:53, 100 connections, 10.0 s");
    c->listens = false;
    c->duration_ns = PACER_NEVER;
    c->population.n = 1;
    m->about.has_queries = true;
    m->about.rate_qps = 0.5;
    assert_first_line(m, "tcpclient 9.9: dns to 192.0.2.1:53, 100 connections at most, on a "
                         "schedule, 0.5 q/s (Poisson, random)");
    c->population.n = 0;
    c->loop = CLIENT_LOOP_CLOSED;
    c->interval_ns = 20 * MS;
    assert_first_line(m, "tcpclient 9.9: dns to 192.0.2.1:53, 100 connections, closed loop, "
                         "20.0 ms after each answer");
    c->classes = classes;
    c->n_classes = 2;
    assert_first_line(m, "tcpclient 9.9: dns to 192.0.2.1:53, 100 connections, closed loop "
                         "(2 classes)");
}

static void the_mean_of_a_rate_is_rounded_to_the_tenth(void **state)
{
    struct made_up *m = *state;
    char text[UNITS_TEXT_BYTES];

    m->about.rate_qps = 377.137;
    assert_first_line(m, "tcpclient 9.9: dns to 192.0.2.1:53, 100 connections, 377.1 q/s on "
                         "average, as controlled (Poisson, random), 10.0 s");
    m->about.rate_qps = 0.0333333;
    assert_string_equal(report_text_head_rate(text, &m->about, &m->result), "0.0333333");
    m->about.rate_qps = 20000.04;
    assert_string_equal(report_text_head_rate(text, &m->about, &m->result), "20000");
    m->result.steered = false;
    m->about.rate_qps = 377.137; /* as given */
    assert_string_equal(report_text_head_rate(text, &m->about, &m->result), "377.137");
}

static void head_counts_questions_if_there_are_several(void **state)
{
    struct made_up *m = *state;

    m->result.steered = false;
    m->config.query.n_queries = 2;
    assert_first_line(m, "tcpclient 9.9: dns, 2 questions, to 192.0.2.1:53, 100 connections, "
                         "100 q/s (Poisson, random), 10.0 s");
    m->config.query.n_queries = 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(head_says_how_the_queries_are_sent),
        TEST(head_says_which_load_was_requested),
        TEST(the_mean_of_a_rate_is_rounded_to_the_tenth),
        TEST(head_counts_questions_if_there_are_several),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
