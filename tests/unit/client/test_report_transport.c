/* SPDX-License-Identifier: MIT
 * test_report_transport: TLS, PROXY headers and UDP in the reports. */
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

static void no_handshake_has_no_share_of_resumed_ones(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.tls = (struct tls_context *)m;
    text = text_of(report_text, m);
    assert_has(text, "\nTLS          0 handshakes, 0 resumed\n");
    free(text);
}

static void both_reports_have_the_clients_of_proxy_headers(void **state)
{
    struct made_up *m = *state;
    char *text, error[SRCPLAN_ERROR_BYTES];

    srcplan_init(&m->config.identities);
    assert_int_equal(srcplan_add_sources(&m->config.identities, "fd00::/120", error), 0);
    m->config.proxy = PROXY_HEADER_V1;
    m->result.last_connection = 98; /* there is room for 100 */
    tally_add(&m->result.tally.headers, 701);
    tally_add(&m->result.tally.header_bytes, 702);
    text = text_of(report_text, m);
    assert_has(text,
               "\nPROXY        701 v1 headers sent, clients [fd00::]:1024 to [fd00::62]:1024\n");
    free(text);
    m->config.proxy = PROXY_HEADER_V2;
    text = text_of(report_json, m);
    assert_has(text, "\"tls\": null,\n  \"proxy\": {\n    \"version\": \"v2\",\n"
                     "    \"first_identity\": \"[fd00::]:1024\",\n"
                     "    \"last_identity\": \"[fd00::62]:1024\",\n    \"headers\": 701,\n"
                     "    \"header_bytes\": 702\n  },\n  \"udp\": null,");
    free(text);
    srcplan_free(&m->config.identities);
}

/* Drops are unknown if the kernel does not report them. */
static void both_reports_have_malformed_and_dropped_datagrams(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.socket.datagrams = true;
    tally_add(&m->result.tally.datagrams.malformed, 711);
    tally_add(&m->result.tally.datagrams.dropped, 712);
    text = text_of(report_text, m);
    assert_has(text, "\nUDP          711 datagrams malformed, an unknown number dropped by this "
                     "host\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"udp\": {\n    \"malformed\": 711,\n    \"dropped\": null\n  }");
    free(text);
    m->config.knows_drops = true;
    text = text_of(report_text, m);
    assert_has(text, "\nUDP          711 datagrams malformed, 712 dropped by this host\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"udp\": {\n    \"malformed\": 711,\n    \"dropped\": 712\n  }");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_but_one_resumed_is_not_100_percent),
        TEST(no_handshake_has_no_share_of_resumed_ones),
        TEST(both_reports_have_version_share_and_time_of_tls),
        TEST(both_reports_have_the_clients_of_proxy_headers),
        TEST(both_reports_have_malformed_and_dropped_datagrams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
