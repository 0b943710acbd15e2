/* SPDX-License-Identifier: MIT
 * test_show_counts: which counts of a result are shown, and which lines are left out. */
#include "report/show_counts.h"

#include "report/result.h"

#include <stdlib.h>

#include "../print_steps.h"

/* Returns what is shown of a result, to be freed by the caller. */
static char *shown(void (*show)(FILE *, const struct json_object *), const char *text)
{
    char error[RESULT_ERROR_BYTES];
    struct json_object *result = result_parse_any(text, strlen(text), error);

    assert_non_null(result);
    show(print_open(), result);
    result_free(result);
    return print_close();
}

#define ASSERT_SHOWN(show, result, wanted)                                                         \
    do {                                                                                           \
        char *of_result = shown(show, result);                                                     \
        assert_string_equal(of_result, wanted);                                                    \
        free(of_result);                                                                           \
    } while (0)

static void a_run_without_incidents_has_no_lines_of_incidents(void **state)
{
    (void)state;
    ASSERT_SHOWN(show_counts,
                 "{\"connections\": {\"asked\": 2, \"connected\": 2, \"proven\": 2, \"half_open\": "
                 "0, \"live_at_end\": 2, \"reopened\": 0, \"retransmits\": 0, \"syn_retransmits\": "
                 "0, \"with_timeouts\": 0}, \"churn\": {\"per_s\": null}, \"queries\": "
                 "{\"scheduled\": 5, \"sent\": 5, \"answered\": 5, \"timeout\": 0, \"error\": 0, "
                 "\"cancelled\": 0, \"unsent\": 0, \"blocked\": 0, \"rerouted\": 0, \"late\": 0, "
                 "\"duplicate\": 0, \"unknown_id\": 0}, \"warmup\": {\"scheduled\": 0}, "
                 "\"answers\": {\"rcodes\": {}, \"echoed\": 5, \"truncated\": 0}, \"rate\": "
                 "{\"achieved_qps\": 5, \"duration_s\": 1}}",
                 "Connections  2 requested, 2 connected, 2 proven, 0 half-open, 2 live at the end\n"
                 "Queries      5 scheduled, 5 sent, 5 answered\n"
                 "             0 timed out, 0 failed, 0 cancelled, 0 unsent\n"
                 "Rate         5.0 q/s achieved, measured for 1.00 s\n");
}

static void connections_have_replacements_and_retransmits(void **state)
{
    (void)state;
    ASSERT_SHOWN(show_counts,
                 "{\"connections\": {\"asked\": 2, \"reopened\": 1, \"retransmits\": 3, "
                 "\"with_retransmits\": 1, \"needless_retransmits\": 2, \"syn_retransmits\": "
                 "1000}, \"churn\": {\"per_s\": 0.5}, \"push\": {\"measured\": 4, \"before\": 1, "
                 "\"after\": 2, \"unfinished_connections\": 7}}",
                 "Connections  2 requested\n"
                 "             1 replacement attempted, 0.5/s connected\n"
                 "             3 retransmits on 1 connection, 2 spurious\n"
                 "             1,000 SYN retransmits in all attempts\n"
                 "Messages     4 received, 1 before, 2 after the measurement\n"
                 "             \n"
                 "             7 connections not read to the end\n");
}

static void queries_have_their_timeouts_strays_warmup_and_answers(void **state)
{
    char *text;

    (void)state;
    text = shown(
        show_counts,
        "{\"connections\": {\"with_timeouts\": 3, \"unresponsive_at_end\": 1}, \"queries\": "
        "{\"scheduled\": 2500, \"answered\": 2000, \"blocked\": 0, \"rerouted\": 9, \"late\": 4, "
        "\"duplicate\": 0, \"unknown_id\": 1}, \"warmup\": {\"scheduled\": 1200}, \"probes\": "
        "{\"timeout\": 0}, \"answers\": {\"rcodes\": {\"NOERROR\": 1500, \"SERVFAIL\": 499}, "
        "\"echoed\": 1, \"truncated\": 7}}");
    assert_has(text, "\n             all timeouts (warm-up included) are on 3 connections, 1 "
                     "unresponsive at the end\n"
                     "             0 waited for a free id, 9 moved to another connection\n"
                     "             stray answers (warm-up included): 4 late, 0 duplicate, 1 with "
                     "unknown id\n"
                     "             1,200 more in the warm-up, not included\n"
                     "Answers      1,500 NOERROR, 499 SERVFAIL, 7 truncated, 1 echoed\n");
    free(text);
    text = shown(show_counts, "{\"search\": {\"trials\": []}, \"queries\": {\"late\": 1}, "
                              "\"warmup\": {\"scheduled\": 3}, \"probes\": {\"timeout\": 1}}");
    assert_has(text, "stray answers (warm-up and queries that prove connections included): 1 late");
    assert_has(text, " 3 more at the start of trials and in overloads, not included\n");
    free(text);
}

static void keepalive_has_its_answers(void **state)
{
    char *text;

    (void)state;
    text = shown(show_counts, "{\"on_demand\": {\"clients\": 2, \"keepalive\": {\"timeouts\": 3, "
                              "\"none\": 1, \"malformed\": 0}}}");
    assert_has(text, "\nKeepalive    3 answers with a timeout, 1 without, 0 malformed\n");
    free(text);
    text = shown(show_counts, "{\"on_demand\": {\"clients\": 2, \"keepalive\": null}}");
    assert_null(strstr(text, "Keepalive"));
    free(text);
}

static void servers_that_answered_have_their_counts(void **state)
{
    (void)state;
    ASSERT_SHOWN(
        show_counts_server,
        "{\"server\": {\"accepted\": 9, \"refused\": 1, \"active\": 8, \"not_accepted\": 2}}",
        "\nServer       9 accepted, 1 refused, 8 active, 2 connected here, but not accepted\n");
    ASSERT_SHOWN(show_counts_server, "{\"server\": {\"accepted\": null, \"restarted\": false}}",
                 "");
    ASSERT_SHOWN(show_counts_server, "{\"server\": null}", "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_incidents_has_no_lines_of_incidents),
        cmocka_unit_test(connections_have_replacements_and_retransmits),
        cmocka_unit_test(queries_have_their_timeouts_strays_warmup_and_answers),
        cmocka_unit_test(keepalive_has_its_answers),
        cmocka_unit_test(servers_that_answered_have_their_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
