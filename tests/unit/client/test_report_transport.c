/* SPDX-License-Identifier: MIT
 * test_report_transport: TLS in the reports. */
#include "report_steps.h"

static void both_reports_have_version_share_and_time_of_tls(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.tls = (struct tls_context *)m; /* the reports only check whether it is set */
    m->result.tls_version = "TLSv1.3";
    m->result.tls_cipher = "TLS_AES_256_GCM_SHA384";
    tally_add(&m->result.tally.connections.secured, 96);
    tally_add(&m->result.tally.connections.resumed, 72);
    record(&m->result.metrics[CLIENT_HANDSHAKE], 30 * MS, 96);
    text = text_of(report_text, m);
    assert_has(text, "dns over TLS to 192.0.2.1:53");
    assert_has(text, "TLS          96 handshakes, 72 resumed (75 %); TLSv1.3, TLS_AES_256_");
    assert_has(text, "handshake     30.0 ms   30.0 ms");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"version\": \"TLSv1.3\",\n    \"cipher\": \"TLS_AES_256_GCM_SHA384\",\n"
                     "    \"handshakes\": 96,\n    \"resumed\": 72\n");
    assert_has(text, "\"handshake\": {\n      \"count\": 96,");
    free(text);
}

static void all_but_one_resumed_is_not_100_percent(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.tls = (struct tls_context *)m;
    tally_add(&m->result.tally.connections.secured, 1000000);
    tally_add(&m->result.tally.connections.resumed, 999999);
    text = text_of(report_text, m);
    assert_has(text, "999,999 resumed (99.99 %)");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_but_one_resumed_is_not_100_percent),
        TEST(both_reports_have_version_share_and_time_of_tls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
