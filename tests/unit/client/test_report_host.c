/* SPDX-License-Identifier: MIT
 * test_report_host: figures of this host, its network and its sockets in the text and the JSON. */
#include "report_steps.h"

#include <errno.h>

/* 1,000 more connections were open for a while. */
static void memory_is_that_of_the_connections_still_open(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    r->host_before.rss_bytes = r->host_before.slab_bytes = 1 << 20;
    r->host_after.rss_bytes = (1 << 20) + 99 * 500;
    r->host_after.slab_bytes = (1 << 20) + 99 * 2048;
    tally_add(&r->tally.connections.connected, 1000);
    text = text_of(report_json, m);
    assert_has(text, "\"rss_bytes_per_connection\": 500,");
    assert_has(text, "\"slab_bytes_per_connection\": 2048,");
    free(text);
}

/* The text has this figure only if fixed costs no longer matter. */
static void memory_of_a_connection_takes_a_thousand_of_them(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    for (uint64_t n = 999; n <= 1000; n++) {
        r->connections_live = n;
        r->connections_half_open = 0;
        r->host_before.rss_bytes = r->host_before.slab_bytes = 1 << 20;
        r->host_after.rss_bytes = (1 << 20) + n * 500;
        r->host_after.slab_bytes = (1 << 20) + n * 2048;
        text = text_of(report_text, m);
        if (n < 1000)
            assert_null(strstr(text, "per connection"));
        else
            assert_has(text, ", 500 B more per connection; kernel slab 2.00 KiB per connection\n");
        free(text);
    }
}

static void memory_that_is_unknown_or_did_not_grow_has_no_figure(void **state)
{
    static const struct {
        uint64_t rss_before, rss_after, slab_before, slab_after;
        const char *line;
    } readings[] = {
        {100000, 100000, 100000, 100000, "; 97.7 KiB resident\n"},
        {100000, 90000, 100000, 90000, "; 87.9 KiB resident\n"},
        {100, HOST_COUNTERS_UNKNOWN, 100, HOST_COUNTERS_UNKNOWN, " s system\n"},
        {100, HOST_COUNTERS_UNKNOWN, HOST_COUNTERS_UNKNOWN, 200, " s system\n"},
    };
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    r->connections_live = 1000;
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        r->host_before.rss_bytes = readings[i].rss_before;
        r->host_after.rss_bytes = readings[i].rss_after;
        r->host_before.slab_bytes = readings[i].slab_before;
        r->host_after.slab_bytes = readings[i].slab_after;
        text = text_of(report_text, m);
        assert_has(text, readings[i].line);
        assert_null(strstr(text, "per connection"));
        free(text);
    }
}

static void assert_start(struct made_up *m, int64_t margin_ns, const char *expected)
{
    char *text;

    m->result.start = (struct client_start){.requested = true,
                                            .at_epoch_ns = 1700000000000000000,
                                            .margin_ns = margin_ns,
                                            .late_ns = UINT64_MAX,
                                            .missed = margin_ns < 0};
    text = text_of(report_text, m);
    assert_has(text, expected);
    free(text);
}

static void start_is_known_before_or_after_it(void **state)
{
    assert_start(*state, 2500 * (int64_t)MS,
                 "\nStart        at 2023-11-14T22:13:20.000Z, known 2.50 s before; clock");
    assert_start(*state, -656 * (int64_t)MS,
                 "\nStart        at 2023-11-14T22:13:20.000Z, known 656 ms after it; clock not "
                 "synchronized\n");
}

static void start_says_how_exact_it_was(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.start = (struct client_start){.requested = true,
                                            .at_epoch_ns = 1700000000000000000,
                                            .margin_ns = 2500 * (int64_t)MS,
                                            .late_ns = 30 * US};
    m->result.start.clock.is_synchronized = true;
    m->result.start.clock.max_error_ns = 4 * MS;
    text = text_of(report_text, m);
    assert_has(text, " known 2.50 s before; first query 30.0 us late; clock within 4.00 ms\n");
    free(text);
}

/* A reading before the load, one when it begins, and one after it: each figure has its own. */
static void make_host(struct client_result *r)
{
    r->host_before = (struct host_counters){.user_us = 1000000,
                                            .system_us = 2000000,
                                            .involuntary_switches = 100,
                                            .cpu_ticks = 5000,
                                            .listen_overflows = 1,
                                            .listen_drops = 2};
    r->host_loaded = (struct host_counters){
        .cpu_ticks = 10000, .steal_ticks = 100, .retransmits = 50, .loss_probes = 60, .dsacks = 70};
    r->host_after = (struct host_counters){.user_us = 4250000,
                                           .system_us = 3500000,
                                           .involuntary_switches = 117,
                                           .cpu_ticks = 12000,
                                           .steal_ticks = 150,
                                           .rss_bytes = 8 << 20,
                                           .slab_bytes = 9 << 20,
                                           .retransmits = 51,
                                           .loss_probes = 62,
                                           .dsacks = 73,
                                           .listen_overflows = 5,
                                           .listen_drops = 7};
    tally_add(&r->tally.bytes_sent, 3001);
    tally_add(&r->tally.bytes_received, 4002);
}

static void figures_of_the_host_are_differences(void **state)
{
    struct made_up *m = *state;
    char *text;

    make_host(&m->result);
    text = text_of(report_text, m);
    assert_has(text, "\nHost         3.25 s user, 1.50 s system; 8.00 MiB resident");
    assert_has(text, "\n             1 retransmit under load, 4 listen overflows, 17 involuntary "
                     "switches\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"resources\": {\n    \"user_s\": 3.25,\n    \"system_s\": 1.5,\n"
                     "    \"rss_bytes\": 8388608,\n");
    assert_has(text, "    \"slab_bytes\": 9437184,\n");
    assert_has(text, "    \"involuntary_switches\": 17,\n    \"steal_percent\": 2.5,\n"
                     "    \"retransmits\": 1,\n    \"loss_probes\": 2,\n    \"dsacks\": 3,\n"
                     "    \"listen_overflows\": 4,\n    \"listen_drops\": 5,\n");
    assert_has(text, "    \"bytes_sent\": 3001,\n    \"bytes_received\": 4002\n  }");
    free(text);
}

static void figures_of_the_network_are_those_under_load(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text = text_of(report_json, m);

    assert_has(text, "\"network\": null,"); /* the interface is unknown */
    free(text);
    r->has_interface = true;
    strcpy(r->interface, "eth7");
    r->net_loaded = (struct netdev_counters){1000, 1 << 20, 2000, 2 << 20};
    r->net_after = (struct netdev_counters){1005, 4 << 20, 2001, 7 << 20};
    text = text_of(report_text, m);
    assert_has(text, "\nNetwork      eth7 under load: in 5 packets, 3.00 MiB; out 1 packet, 5.00 "
                     "MiB\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"network\": {\n    \"interface\": \"eth7\",\n    \"rx_packets\": 5,\n"
                     "    \"rx_bytes\": 3145728,\n    \"tx_packets\": 1,\n"
                     "    \"tx_bytes\": 5242880\n  }");
    free(text);
}

static void sockets_left_are_told_apart(void **state)
{
    struct made_up *m = *state;
    char *text = text_of(report_json, m);

    assert_has(text, "\"sockets\": null,");
    free(text);
    m->result.has_sockets = true;
    m->result.sockets.syn_sent = 11;
    m->result.sockets.fin_wait = 12;
    m->result.sockets.time_wait = 13;
    m->result.sockets.close_wait = 14;
    m->result.sockets.other = 15;
    text = text_of(report_json, m);
    assert_has(text, "\"sockets\": {\n    \"syn_sent\": 11,\n    \"fin_wait\": 12,\n"
                     "    \"time_wait\": 13,\n    \"close_wait\": 14,\n    \"other\": 15\n  }");
    free(text);
}

static void what_the_run_did_not_have_is_left_out(void **state)
{
    static const char *const words[] = {"Limiting factors", "Network", "Raw output", "Start  "};
    struct made_up *m = *state;
    char *text;

    m->result.start.requested = true; /* it ended before the time was known */
    text = text_of(report_text, m);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_null(strstr(text, words[i]));
    free(text);
    m->result.start = (struct client_start){.at_epoch_ns = 1};
    m->result.has_interface = true;
    m->result.loaded = false;
    text = text_of(report_text, m);
    assert_null(strstr(text, "under load"));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_null(strstr(text, words[i]));
    free(text);
}

static void every_limit_has_its_evidence_and_its_remedy(void **state)
{
    struct made_up *m = *state;
    struct diagnosis *d = &m->result.diagnosis;
    char *text;

    d->n_lines = 2;
    d->lines[0] = (struct diagnosis_line){.limit = "one", .connections = 1200};
    strcpy(d->lines[0].evidence, "seen");
    strcpy(d->lines[0].remedy, "raise it");
    d->lines[1] = (struct diagnosis_line){.limit = "another", .connections = 3};
    strcpy(d->lines[1].evidence, "seen, too");
    strcpy(d->lines[1].remedy, "lower it");
    text = text_of(report_text, m);
    assert_has(text, "\nLimiting factors\n"
                     "       1,200  one: seen\n              -> raise it\n"
                     "           3  another: seen, too\n              -> lower it\n");
    free(text);
}

static void rows_of_both_kinds_count(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.has_rows = true;
    m->result.rows = (struct rows_result){
        .written = {100, 20}, .dropped = {300, 4}, .left_out = {5000, 600}, .error = ENOSPC};
    text = text_of(report_text, m);
    assert_has(text, "\nRaw output   120 rows written, 304 missing, 5,600 not sampled: No space");
    free(text);
    m->result.rows = (struct rows_result){
        .written = {1, 1}, .dropped = {1, 1}, .left_out = {3, 3}, .error = ENOSPC};
    text = text_of(report_text, m);
    assert_has(text, "\nRaw output   2 rows written, 2 missing, 6 not sampled: No space");
    free(text);
    m->result.rows = (struct rows_result){.error = ENOSPC};
    text = text_of(report_text, m);
    assert_has(text, "\nRaw output   nothing was written, not even the header: No space");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(memory_is_that_of_the_connections_still_open),
        TEST(memory_of_a_connection_takes_a_thousand_of_them),
        TEST(memory_that_is_unknown_or_did_not_grow_has_no_figure),
        TEST(start_is_known_before_or_after_it),
        TEST(start_says_how_exact_it_was),
        TEST(figures_of_the_host_are_differences),
        TEST(figures_of_the_network_are_those_under_load),
        TEST(sockets_left_are_told_apart),
        TEST(what_the_run_did_not_have_is_left_out),
        TEST(every_limit_has_its_evidence_and_its_remedy),
        TEST(rows_of_both_kinds_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
