/* SPDX-License-Identifier: MIT
 * test_outcome_report: counts by phase and reason as text, JSON and metrics. */
#include "measure/outcome_report.h"

#include "base/json.h"
#include "base/log.h"
#include "measure/openmetrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tally tally;
static const struct tally *const counted = &tally;
static char *text;
static size_t n_bytes;
static FILE *out;

static int setup(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    out = open_memstream(&text, &n_bytes);
    return out != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(text);
    return 0;
}

static void count_some(void)
{
    tally_add(&tally.errors[PHASE_RUN][REASON_FINISHED], 12345);
    tally_add(&tally.errors[PHASE_CONNECT][REASON_REFUSED], 1);
}

static void nothing_is_printed_without_counts(void **state)
{
    (void)state;
    outcome_report_text(out, "Title", counted->errors, true);
    fclose(out);
    assert_string_equal(text, "");
}

static void counts_are_printed_in_order_of_the_phases(void **state)
{
    (void)state;
    count_some();
    outcome_report_text(out, "Title", counted->errors, false);
    fclose(out);
    assert_string_equal(text, "\nTitle\n"
                              "           1  connect: refused\n"
                              "      12,345  run: finished\n");
}

static void remedies_follow_what_is_wrong_and_name_the_guide(void **state)
{
    char expected[1000];

    (void)state;
    count_some();
    outcome_report_text(out, "Title", counted->errors, true);
    fclose(out);
    snprintf(expected, sizeof expected,
             "\nTitle\n"
             "           1  connect: refused\n"
             "              -> %s\n"
             "      12,345  run: finished\n"
             "              (docs/limits.md explains each reason)\n",
             outcome_remedy(REASON_REFUSED));
    assert_string_equal(text, expected);
}

static void the_guide_is_not_named_if_nothing_is_wrong(void **state)
{
    (void)state;
    tally_add(&tally.errors[PHASE_RUN][REASON_FINISHED], 1);
    outcome_report_text(out, "Title", counted->errors, true);
    fclose(out);
    assert_string_equal(text, "\nTitle\n           1  run: finished\n");
}

static void what_is_wrong_is_logged_with_its_remedy(void **state)
{
    (void)state;
    count_some();
    tally_add(&tally.errors[PHASE_TLS][REASON_CERT_UNTRUSTED], 2000);
    log_set_stream(out);
    outcome_report_log(counted->errors);
    log_set_stream(NULL);
    fclose(out);
    assert_string_equal(text,
                        "test_outcome_report: 1 connection: connect: refused: nothing listens "
                        "on that port, or a firewall rejects the connection\n"
                        "test_outcome_report: 2,000 connections: tls: certificate not "
                        "trusted: use --tls-ca with the CA that signed it, or "
                        "--tls-insecure\n");
}

static void json_has_a_key_for_each_count_above_0(void **state)
{
    struct json j;

    (void)state;
    count_some();
    json_init(&j, out);
    outcome_report_json(&j, NULL, counted->errors);
    fclose(out);
    assert_string_equal(text, "{\n  \"connect/refused\": 1,\n  \"run/finished\": 12345\n}\n");
}

static void metrics_have_a_sample_for_each_count_above_0(void **state)
{
    struct openmetrics m;

    (void)state;
    count_some();
    openmetrics_init(&m, out, "application/openmetrics-text;version=1.0.0");
    outcome_report_metrics(&m, "x_ends", "Help.", counted->errors);
    fclose(out);
    assert_string_equal(text, "# TYPE x_ends counter\n# HELP x_ends Help.\n"
                              "x_ends_total{outcome=\"connect/refused\"} 1\n"
                              "x_ends_total{outcome=\"run/finished\"} 12345\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_printed_without_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_are_printed_in_order_of_the_phases, setup, teardown),
        cmocka_unit_test_setup_teardown(remedies_follow_what_is_wrong_and_name_the_guide, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_guide_is_not_named_if_nothing_is_wrong, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_logged_with_its_remedy, setup, teardown),
        cmocka_unit_test_setup_teardown(json_has_a_key_for_each_count_above_0, setup, teardown),
        cmocka_unit_test_setup_teardown(metrics_have_a_sample_for_each_count_above_0, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
