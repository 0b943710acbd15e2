/* SPDX-License-Identifier: MIT
 * test_slo: the goals of a service level, and which counts meet them. */
#include "client/search/slo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct slo parsed(const char *text)
{
    char error[SLO_ERROR_BYTES] = "";
    struct slo slo;

    assert_int_equal(slo_parse(&slo, text, error), 0);
    return slo;
}

static void goals_are_separated_by_commas(void **state)
{
    const struct slo slo = parsed("p99<10ms,service.p999<0.1s,connect.max<2s,lost<0.1%");

    (void)state;
    assert_int_equal(slo.n, 4);
    assert_int_equal(slo.goals[0].metric, SLO_RESPONSE);
    assert_int_equal(slo.goals[0].share_ppm, 10000);
    assert_int_equal(slo.goals[0].limit_ns, 10000000);
    assert_string_equal(slo.goals[0].text, "p99<10ms");
    assert_int_equal(slo.goals[1].metric, SLO_SERVICE);
    assert_int_equal(slo.goals[1].share_ppm, 1000);
    assert_int_equal(slo.goals[1].limit_ns, 100000000);
    assert_int_equal(slo.goals[2].metric, SLO_CONNECT);
    assert_int_equal(slo.goals[2].share_ppm, 0);
    assert_int_equal(slo.goals[3].metric, SLO_LOST);
    assert_int_equal(slo.goals[3].share_ppm, 1000);
    assert_true(slo_has(&slo, SLO_CONNECT));
    assert_false(slo_has(&(struct slo){.n = 0}, SLO_CONNECT));
}

static void every_percentile_has_a_name(void **state)
{
    const struct slo slo = parsed("p50<1ms,p90<2ms,p99<3ms,p999<4ms,max<5ms");
    const struct slo falling = parsed("p99<9ms,p50<1ms");

    (void)state;
    assert_int_equal(slo.goals[0].share_ppm, 500000);
    assert_int_equal(slo.goals[1].share_ppm, 100000);
    assert_int_equal(slo.goals[3].share_ppm, 1000);
    assert_int_equal(slo.goals[4].share_ppm, 0);
    assert_int_equal(slo_longest_limit_ns(&slo), 5000000);
    assert_int_equal(slo_longest_limit_ns(&falling), 9000000);
}

static void bad_goals_are_named_in_one_line(void **state)
{
    static const struct {
        const char *text, *named;
    } bad[] = {
        {"", "''"},
        {"p99", "'p99'"},
        {"p99<", "'p99<'"},
        {"p99<0", "'p99<0'"},
        {"p99<10", NULL}, /* seconds */
        {"p99<1h", NULL},
        {"p99<2h", "'p99<2h'"},
        {"p99<600000h", "'p99<600000h'"},
        {"p99<-1ms", "'p99<-1ms'"},
        {"p99=10ms", "'p99=10ms'"},
        {"p98<10ms", "'p98<10ms'"},
        {"server.p99<10ms", "'server.p99<10ms'"},
        {"service.lost<1%", "'service.lost<1%'"},
        {"lost<0", "'lost<0'"},
        {"lost<0%", "'lost<0%'"},
        {"lost<0.0001%", NULL}, /* one in a million */
        {"lost<0.00009%", "'lost<0.00009%'"},
        {"lost<100%", "'lost<100%'"},
        {"lost<0.1", "'lost<0.1'"},
        {"lost=1%", "'lost=1%'"},
        {"p99<10ms,", "''"},
        {"p99<10ms,p99<20ms", "'p99<20ms'"},
        {"lost<1%,lost=0", "'lost=0'"},
        {"p99<10ms, lost<1%", "' lost<1%'"},
        {"p99<100000000000000000000000000000ms", "'p99<100000000000000000000000000..."},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        char error[SLO_ERROR_BYTES] = "";
        struct slo slo;

        assert_int_equal(slo_parse(&slo, bad[i].text, error), bad[i].named == NULL ? 0 : -1);
        if (bad[i].named != NULL && strstr(error, bad[i].named) == NULL)
            fail_msg("%s: %s", bad[i].text, error);
        assert_null(strchr(error, '\n'));
    }
}

static void a_percentile_is_met_by_counting(void **state)
{
    const struct slo slo = parsed("p99<10ms,max<1s");

    (void)state;
    assert_true(slo_is_met(&slo.goals[0], 29, 2900));
    assert_false(slo_is_met(&slo.goals[0], 30, 2900));
    assert_true(slo_is_met(&slo.goals[0], 0, 99));
    assert_false(slo_is_met(&slo.goals[0], 1, 99)); /* of 99 values the slowest is the p99 */
    assert_true(slo_is_met(&slo.goals[1], 0, 1000));
    assert_false(slo_is_met(&slo.goals[1], 1, 1000000000));
}

static void fewer_are_lost_than_the_limit(void **state)
{
    const struct slo slo = parsed("lost<0.1%"), none = parsed(SLO_DEFAULT);

    (void)state;
    assert_true(slo_is_met(&slo.goals[0], 9, 10000));
    assert_false(slo_is_met(&slo.goals[0], 10, 10000));
    assert_true(slo_is_met(&none.goals[0], 0, 10000));
    assert_false(slo_is_met(&none.goals[0], 1, 10000));
}

static void a_rare_event_needs_many_queries(void **state)
{
    const struct slo p99 = parsed("p99<10ms,lost<0.5%"), p999 = parsed("p50<1ms,p999<1s"),
                     lost = parsed("p50<1ms,lost<0.1%"), none = parsed("max<1s,lost=0");

    (void)state;
    assert_int_equal(slo_queries_needed(&p99), 10000);
    assert_int_equal(slo_queries_needed(&p999), 30000);
    assert_int_equal(slo_queries_needed(&lost), 10000);
    assert_int_equal(slo_queries_needed(&none), 100);
}

static void as_many_values_as_a_percentile_needs(void **state)
{
    const struct slo goals = parsed("p50<1ms,p99<1ms,p999<1ms,max<1s,lost<0.1%");
    const struct slo rounded_up = parsed("lost<0.3%");
    static const uint64_t needed[] = {20, 1000, 10000, 1, 10000};

    (void)state;
    assert_int_equal(slo_values_needed(&rounded_up.goals[0]), 3334);
    assert_int_equal(goals.n, COUNT(needed));
    for (unsigned i = 0; i < goals.n; i++)
        assert_int_equal(slo_values_needed(&goals.goals[i]), needed[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goals_are_separated_by_commas),
        cmocka_unit_test(every_percentile_has_a_name),
        cmocka_unit_test(bad_goals_are_named_in_one_line),
        cmocka_unit_test(a_percentile_is_met_by_counting),
        cmocka_unit_test(fewer_are_lost_than_the_limit),
        cmocka_unit_test(a_rare_event_needs_many_queries),
        cmocka_unit_test(as_many_values_as_a_percentile_needs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
