/* SPDX-License-Identifier: MIT
 * test_report_latency: the times of the summary, and how they are explained. */
#include "client/sweep.h"
#include "report_steps.h"

/* Ten batches with the means 2, 4 ... 20 us; see test_batch_means. */
static void mean_has_an_interval_once_the_run_is_long_enough(void **state)
{
    struct made_up *m = *state;
    char *text = text_of(report_text, m);

    assert_null(strstr(text, "mean response"));
    free(text);
    for (unsigned i = 1; i <= 10; i++)
        batch_means_add(&m->result.batches[CLIENT_RESPONSE], 98, i * 2 * US);
    text = text_of(report_text, m);
    assert_has(text, "\n  mean response +-3.51 us at 90 %, +-4.33 us at 95 % confidence\n");
    free(text);
}

/* Each row of times that is printed, and no other, is explained. */
static void times_are_explained_as_far_as_they_are_printed(void **state)
{
    struct made_up *m = *state;
    char *text = text_of(report_text, m);

    assert_has(text, "\n  response: intended send to answer; service: actual send to answer;\n"
                     "  unanswered queries count as slower than every answer; '-': fewer than 10 "
                     "values above\n"
                     "  holds: whether the percentile reflects the server, not this host\n\n");
    assert_null(strstr(text, "\nown delay"));
    free(text);
    record(&m->result.metrics[CLIENT_GAP], 2 * MS, 980);
    record(&m->result.metrics[CLIENT_MIN_RTT], 30 * US, 980);
    record(&m->result.metrics[CLIENT_NET], 40 * US, 980);
    record(&m->result.metrics[CLIENT_OWN], 3 * US, 980);
    text = text_of(report_text, m);
    assert_has(text,
               " values above;\n  own delay: this host's part of the response: the send lag;\n"
               "  this row covers answers only; the verdict also counts unanswered queries, "
               "as its slowest\n  holds: ");
    assert_has(text, "\n\nTime ");
    assert_has(text, "\nown delay     3.00 us");
    assert_has(text, "\ngap           2.00 ms");
    assert_has(text, "\nmin RTT       30.0 us");
    assert_null(strstr(text, "\nnet  "));
    free(text);
    m->config.socket.stamp_received = true;
    text = text_of(report_text, m);
    assert_has(text, "; service: actual send to answer; net: to arrival in the kernel;\n");
    assert_has(text, ": the send lag and the time until the answer is read;\n  this row ");
    assert_has(text, "\nnet           40.0 us");
    free(text);
    m->config.listens = true;
    text = text_of(report_text, m);
    assert_has(text, "\n  response: intended send to receipt; service: actual send to receipt; "
                     "net: to arrival in the kernel;\n  '-': fewer than 10 values above;\n"
                     "  own delay: the server's send lag and the time until the message is read\n"
                     "  holds: ");
    free(text);
}

static void whether_percentiles_hold_is_explained_if_one_does_not(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.verdict.percentiles[4] = (struct verdict_percentile){0};
    text = text_of(report_text, m);
    assert_null(strstr(text, "\nholds "));
    assert_null(strstr(text, "  holds: "));
    free(text);
    m->result.verdict.percentiles[0] = (struct verdict_percentile){701000, 1200000};
    text = text_of(report_text, m);
    assert_has(text, "\nholds                        no       yes       yes       yes       yes");
    assert_has(text, "  holds: ");
    free(text);
}

static void forget_times(struct made_up *m)
{
    for (int i = 0; i < CLIENT_N_METRICS; i++)
        hist_reset(&m->result.metrics[i]);
}

static void times_are_printed_if_as_many_queries_are_unanswered_as_answered(void **state)
{
    struct made_up *m = *state;
    char *text;

    forget_times(m);
    text = text_of(report_text, m);
    assert_null(strstr(text, "\nTime "));
    free(text);
    record(&m->result.metrics[CLIENT_RESPONSE], 700 * US, 20);
    hist_record_beyond(&m->result.metrics[CLIENT_RESPONSE], 20);
    text = text_of(report_text, m);
    assert_has(text, "\nTime ");
    assert_has(text, "\nresponse       700 us    700 us         -");
    free(text);
}

static void table_without_rows_is_left_out(void **state)
{
    struct made_up *m = *state;
    char *text;

    forget_times(m);
    hist_record_beyond(&m->result.metrics[CLIENT_RESPONSE], 1);
    text = text_of(report_text, m);
    assert_has(text, "\nTime              min ");
    free(text);
    hist_reset(&m->result.metrics[CLIENT_RESPONSE]);
    text = text_of(report_text, m);
    assert_null(strstr(text, "\nTime  "));
    assert_null(strstr(text, "intended send"));
    free(text);
}

/* The connections have times, as of a run that was interrupted before the first query. */
static void rows_that_are_not_there_are_not_explained(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.socket.stamp_received = true;
    for (int i = 0; i < CLIENT_N_METRICS; i++)
        if (i != CLIENT_CONNECT)
            hist_reset(&m->result.metrics[i]);
    text = text_of(report_text, m);
    assert_has(text, "\nconnect       4.00 ms");
    assert_null(strstr(text, "intended send"));
    free(text);
    hist_record_beyond(&m->result.metrics[CLIENT_RESPONSE], 1); /* it was not sent */
    text = text_of(report_text, m);
    assert_has(text, "\n  response: intended send to answer;\n  unanswered queries count as slower "
                     "than every answer; '-': fewer than 10 values above\n");
    free(text);
    record(&m->result.metrics[CLIENT_SERVICE], 60 * US, 1);
    record(&m->result.metrics[CLIENT_NET], 50 * US, 1);
    record(&m->result.metrics[CLIENT_OWN], 10 * US, 1);
    text = text_of(report_text, m);
    assert_has(text,
               "\n  response: intended send to answer; service: actual send to answer; net: to "
               "arrival in the kernel;\n  unanswered queries count as slower than every "
               "answer; '-': fewer than 10 values above;\n  own delay: this host's part of the "
               "response: the send lag and the time until the answer is read;\n  this row ");
    free(text);
    hist_reset(&m->result.metrics[CLIENT_RESPONSE]);
    record(&m->result.metrics[CLIENT_RESPONSE], 60 * US, 1);
    text = text_of(report_text, m);
    assert_has(text, ": the send lag and the time until the answer is read\n");
    free(text);
}

/* Classes none of whose queries was due; the search had no trial; no connection was due. */
static void tables_without_rows_have_no_head(void **state)
{
    static const struct client_class classes[] = {{.name = "a"}};
    static struct client_find find;
    static const struct client_sweep sweep = {.n = 1, .points = {{.find = &find}}};
    const struct client_find_settings settings = {.what = CLIENT_FIND_RATE};
    struct made_up *m = *state;
    char *text;

    find.settings = &settings;
    m->config.classes = classes;
    m->config.n_classes = 1;
    m->config.connect_arrival = CLIENT_CONNECT_POISSON;
    m->result.sweep = &sweep;
    assert_int_equal(hist_init(&m->result.class_times[0].response), 0);
    text = text_of(report_text, m);
    assert_has(text, "\nClass                clients ");
    assert_null(strstr(text, "\nResponse  "));
    assert_has(text, " 0 trials in 0 s, 0 void\n");
    assert_null(strstr(text, "  trial "));
    assert_has(text, "\nArrivals     0 connections at ");
    assert_null(strstr(text, "\nSince due"));
    free(text);
    hist_record_beyond(&m->result.class_times[0].response, 1);
    text = text_of(report_text, m);
    assert_has(text, "\n\nResponse          min ");
    free(text);
    hist_free(&m->result.class_times[0].response);
}

/* All connections that were due were refused. */
static void the_table_of_times_needs_more_than_arrivals(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.connect_arrival = CLIENT_CONNECT_POISSON;
    forget_times(m);
    record(&m->result.metrics[CLIENT_OPEN_LAG], 1 * US, 3);
    hist_record_beyond(&m->result.metrics[CLIENT_DUE_CONNECTED], 3);
    text = text_of(report_text, m);
    assert_null(strstr(text, "\nTime  "));
    assert_has(text, "\nSince due  ");
    free(text);
}

/* Of twelve connections, one did not get an answer. */
static void arrivals_have_their_times(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text = text_of(report_text, m);

    assert_null(strstr(text, "\nArrivals ")); /* they were opened as fast as possible */
    free(text);
    m->config.connect_arrival = CLIENT_CONNECT_POISSON;
    m->config.connect_rate_per_s = 50;
    tally_add(&r->tally.connections.held, 7);
    record(&r->metrics[CLIENT_OPEN_LAG], 1 * US, 12);
    record(&r->metrics[CLIENT_DUE_CONNECTED], 20 * US, 12);
    record(&r->metrics[CLIENT_DUE_ANSWERED], 4 * MS, 11);
    hist_record_beyond(&r->metrics[CLIENT_DUE_ANSWERED], 1);
    record(&r->metrics[CLIENT_OPEN_ANSWERED], 3 * MS, 11);
    text = text_of(report_text, m);
    assert_has(text, "\nArrivals     12 connections at 50/s (Poisson), 7 held back by "
                     "--connect-window\n\nSince due         min ");
    assert_has(text, "\nopen lag      1.00 us");
    assert_has(text, "\nconnected     20.0 us");
    assert_has(text, "\nanswered      4.00 ms");
    assert_has(text, "\nfrom open     3.00 ms");
    free(text);
    m->config.connect_arrival = CLIENT_CONNECT_CONSTANT;
    text = text_of(report_text, m);
    assert_has(text, "\nArrivals     12 connections at 50/s (constant), ");
    free(text);
}

/* Its trials have theirs. */
static void a_search_has_no_times_of_the_whole_run(void **state)
{
    static struct client_find find;
    static const struct client_sweep sweep = {.n = 1, .points = {{.find = &find}}};
    const struct client_find_settings settings = {.what = CLIENT_FIND_RATE};
    struct made_up *m = *state;
    char *text;

    find.settings = &settings;
    m->result.sweep = &sweep;
    m->about.has_queries = false;
    text = text_of(report_text, m);
    assert_has(text, "\nQueries ");
    assert_null(strstr(text, "\nTime  "));
    assert_null(strstr(text, "histogram"));
    free(text);
    m->result.sweep = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(mean_has_an_interval_once_the_run_is_long_enough),
        TEST(times_are_explained_as_far_as_they_are_printed),
        TEST(whether_percentiles_hold_is_explained_if_one_does_not),
        TEST(times_are_printed_if_as_many_queries_are_unanswered_as_answered),
        TEST(table_without_rows_is_left_out),
        TEST(rows_that_are_not_there_are_not_explained),
        TEST(tables_without_rows_have_no_head),
        TEST(the_table_of_times_needs_more_than_arrivals),
        TEST(arrivals_have_their_times),
        TEST(a_search_has_no_times_of_the_whole_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
