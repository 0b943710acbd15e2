/* SPDX-License-Identifier: MIT
 * test_report_class: the figures of each class in the text and the JSON. */
#include "report_steps.h"

static const struct client_class classes[] = {
    {.name = "stub", .n_connections = 60, .part = 0.25},
    {.name = "forwarder", .n_connections = 40, .part = 0.75},
};

/* Each count is one more than the one before; the second class sends three times as much. */
static void add_classes(struct made_up *m)
{
    struct client_result *r = &m->result;

    m->config.classes = classes;
    m->config.n_classes = 2;
    for (uint64_t k = 0; k < 2; k++) {
        struct class_tally *t = &r->class_tallies[k];
        struct tally_queries *q = &t->queries[TALLY_MEASURED];

        assert_int_equal(client_class_times_init(&r->class_times[k]), 0);
        record(&r->class_times[k].response, (k + 1) * MS, 100);
        record(&r->class_times[k].service, (k + 1) * 100 * US, 100);
        tally_add(&t->attempted, 101 + k * 100);
        tally_add(&t->connected, 102 + k * 100);
        tally_add(&t->secured, 103 + k * 100);
        tally_add(&t->proven, 104 + k * 100);
        r->class_live[k] = 105 + k * 100;
        tally_add(&q->scheduled, k == 0 ? 251 : 751);
        tally_add(&q->sent, k == 0 ? 250 : 750);
        tally_add(&q->answered, k == 0 ? 249 : 749);
        tally_add(&t->queries[TALLY_WARMUP].sent, 11 + k);
        tally_add(&t->queries[TALLY_PROBE].sent, 21 + k);
    }
}

static void free_classes(struct made_up *m)
{
    for (int k = 0; k < 2; k++)
        client_class_times_free(&m->result.class_times[k]);
}

static void each_class_has_a_row_of_counts_and_one_of_times(void **state)
{
    struct made_up *m = *state;
    char *text;

    add_classes(m);
    text = text_of(report_text, m);
    assert_has(text, "\n\nClass                clients   connected      proven        live   "
                     "scheduled    answered         q/s\n"
                     "stub                      60         102         104         105         251"
                     "         249        25.0\n"
                     "forwarder                 40         202         204         205         751"
                     "         749        75.0\n\n"
                     "Response          min ");
    assert_has(text, "\nstub          1.00 ms   1.00 ms ");
    assert_has(text, "\nforwarder     2.00 ms   2.00 ms ");
    free(text);
    m->result.sent_ns = 0; /* the measurement did not begin */
    text = text_of(report_text, m);
    assert_has(text, "         251         249           -\n");
    free(text);
    free_classes(m);
}

static void figures_of_classes_are_under_their_names(void **state)
{
    struct made_up *m = *state;
    char *text;

    add_classes(m);
    text = text_of(report_json, m);
    assert_has(text, "\"stub\": {\n      \"clients\": 60,\n      \"connections\": {\n"
                     "        \"attempted\": 101,\n        \"connected\": 102,\n"
                     "        \"secured\": 103,\n        \"proven\": 104,\n"
                     "        \"live_at_end\": 105\n      },\n"
                     "      \"queries\": {\n        \"scheduled\": 251,\n        \"sent\": 250,");
    assert_has(text, "\"warmup\": {\n        \"scheduled\": 0,\n        \"sent\": 11,");
    assert_has(text, "\"probes\": {\n        \"scheduled\": 0,\n        \"sent\": 21,");
    assert_has(text, "\"rate\": {\n        \"asked_qps\": 25,\n        \"achieved_qps\": 25\n"
                     "      }\n    },\n    \"forwarder\": {\n      \"clients\": 40,");
    assert_has(text, "\"rate\": {\n        \"asked_qps\": 75,\n        \"achieved_qps\": 75\n"
                     "      }\n    }\n  },");
    assert_has(text, "\"response:stub\": {\n      \"count\": 100,");
    assert_has(text, "\"service:forwarder\": {\n      \"count\": 100,");
    assert_has(text, "\"min\": 200000,"); /* that of the service */
    free(text);
    free_classes(m);
}

static void figures_that_a_class_did_not_request_are_null(void **state)
{
    static const char unknown[] = "\"rate\": {\n        \"asked_qps\": null,\n";
    struct made_up *m = *state;
    char *text = text_of(report_json, m);

    assert_has(text, "\"classes\": null,");
    free(text);
    add_classes(m);
    m->config.loop = CLIENT_LOOP_CLOSED; /* answers set the rate */
    m->result.sent_ns = 0;
    text = text_of(report_json, m);
    assert_has(text, unknown);
    assert_has(text, "        \"achieved_qps\": null\n      }\n    }");
    free(text);
    m->config.loop = CLIENT_LOOP_OPEN;
    m->about.has_queries = false;
    text = text_of(report_json, m);
    assert_has(text, unknown);
    free(text);
    free_classes(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_class_has_a_row_of_counts_and_one_of_times),
        TEST(figures_of_classes_are_under_their_names),
        TEST(figures_that_a_class_did_not_request_are_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
