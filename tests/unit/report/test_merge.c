/* SPDX-License-Identifier: MIT
 * test_merge: which figures of two results are added and which become null; fingerprint: how two
 * results differ. */
#include "report/merge.h"

#include "report/fingerprint.h"
#include "report/result.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NEEDED "\"schema\":1,\"program\":\"tcpclient\",\"latency_ns\":{\"response\":{\"count\":1}},"
#define QUERIES(sent, more)                                                                        \
    "\"queries\":{\"scheduled\":9,\"sent\":" sent                                                  \
    ",\"unsent\":1,\"answered\":7,\"timeout\":1,\"error\":0,\"cancelled\":0,\"outcomes\":{" more   \
    "}},"

static const char one[] = "{" NEEDED QUERIES(
    "18446744073709551000",
    "\"receive/reset\":2") "\"version\":\"0.1.0\","
                           "\"target\":\"a:1\",\"started\":\"2026-01-31T23:59:59.123Z\",\"seed\":1,"
                           "\"options\":{\"rate\":100,\"connections\":5,\"json\":\"x\",\"seed\":1,"
                           "\"target\":\"a\",\"config\":\"a.conf\",\"report\":\"a.html\","
                           "\"watch\":\"1\",\"assert\":\"p99<5ms\",\"require\":\"p90\","
                           "\"proxy-source\":\"10.0.0.0/24\",\"tls-name\":\"a\",\"tls-ca\":\"a\","
                           "\"pace\":\"auto\"},"
                           "\"host\":{\"kernel\":\"6\",\"cpus\":2},"
                           "\"connections\":{\"asked\":5,\"live_at_end\":4,\"connect_elapsed_s\":1."
                           "5,"
                           "\"connect_rate_per_s\":3.5},"
                           "\"rate\":{\"asked_qps\":100,\"achieved_qps\":99.5,\"duration_s\":2},"
                           "\"resources\":{\"user_s\":1},\"search\":{\"capacity\":5},"
                           "\"proxy\":{\"first_identity\":\"10.0.0.1:1024\"},\"diagnosis\":"
                           "[{\"limit\":\"x\"}],"
                           "\"interrupted\":false,"
                           "\"broken_law\":null,\"verdict\":\"VALID\",\"reasons\":[]}";

static const char other[] = "{" NEEDED QUERIES(
    "15", "\"receive/reset\":3,\"send/reset\":4") "\"version\":\"0.1.0\","
                                                  "\"target\":\"a:1\",\"started\":\"2026-01-31T23:"
                                                  "59:58.123Z\",\"seed\":2,"
                                                  "\"options\":{\"rate\":200,\"connections\":5,"
                                                  "\"json\":\"y\",\"seed\":2,\"target\":\"b\","
                                                  "\"config\":\"b.conf\",\"pace\":\"auto\","
                                                  "\"report\":\"b.html\",\"watch\":null},"
                                                  "\"host\":{\"kernel\":\"6\",\"cpus\":4},"
                                                  "\"connections\":{\"asked\":6,\"live_at_end\":6,"
                                                  "\"connect_elapsed_s\":0.5,"
                                                  "\"connect_rate_per_s\":null},"
                                                  "\"rate\":{\"asked_qps\":200,\"achieved_qps\":"
                                                  "100.25,\"duration_s\":3},"
                                                  "\"resources\":{\"user_s\":1},\"search\":{"
                                                  "\"capacity\":5},\"diagnosis\":[{"
                                                  "\"limit\":\"x\"}],\"interrupted\":true,"
                                                  "\"broken_law\":null,\"verdict\":\"SUSPECT\","
                                                  "\"reasons\":[\"unsent\",\"host-noise\"]}";

static struct json_object *parse(const char *text)
{
    char error[RESULT_ERROR_BYTES];

    return result_parse(text, strlen(text), error);
}

static void assert_text(const struct json_object *r, const char *path, const char *wanted)
{
    assert_string_equal(result_text(r, path), wanted);
}

/* Owned by the caller. */
static struct json_object *sum_of(const char *one_text, const char *other_text)
{
    struct json_object *sum = parse(one_text), *b = parse(other_text);

    assert_non_null(sum);
    assert_non_null(b);
    assert_int_equal(merge_add(sum, b), 0);
    result_free(b);
    return sum;
}

static void counts_and_rates_add_and_the_rest_is_honest(void **state)
{
    struct json_object *a = parse(one), *b = parse(other), *sum = merge_first(a);

    (void)state;
    assert_non_null(b);
    assert_int_equal(merge_add(sum, b), 0);
    assert_text(sum, "queries.sent", "18446744073709551015");
    assert_text(sum, "queries.outcomes.receive/reset", "5");
    assert_text(sum, "queries.outcomes.send/reset", "4");
    assert_text(sum, "connections.asked", "11");
    assert_text(sum, "connections.connect_elapsed_s", "1.5");
    assert_text(sum, "connections.connect_rate_per_s", "3.5"); /* the other established none */
    assert_text(sum, "rate.asked_qps", "300.0");
    assert_text(sum, "rate.achieved_qps", "199.75");
    assert_text(sum, "rate.duration_s", "3");
    assert_text(sum, "options.rate", "null");
    assert_text(sum, "options.connections", "5"); /* requested by both, not a sum */
    assert_text(sum, "host.cpus", "null");
    assert_text(sum, "host.kernel", "\"6\"");
    assert_text(sum, "seed", "null");
    assert_text(sum, "target", "\"a:1\"");
    assert_text(sum, "resources", "null");
    assert_text(sum, "search", "null"); /* what each found is no capacity of all */
    assert_text(sum, "started", "\"2026-01-31T23:59:58.123Z\"");
    assert_text(sum, "verdict", "\"SUSPECT\"");
    assert_text(sum, "interrupted", "true");
    assert_null(result_find(sum, "latency_ns"));
    assert_null(result_find(sum, "program"));
    assert_false(json_object_object_get_ex(sum, "version", NULL)); /* not even null */
    assert_null(result_find(sum, "proxy")); /* no instance alone has these identities */
    result_free(sum);
    result_free(a);
    result_free(b);
}

/* A result with these members of on_demand. */
#define MINIMAL(members)                                                                           \
    "{" NEEDED QUERIES("1", "") "\"started\":\"2026-01-31T23:59:58.123Z\",\"verdict\":\"VALID\","  \
                                "\"connections\":{\"asked\":1,\"live_at_end\":1},"                 \
                                "\"on_demand\":{" members "}}"

static void ratios_of_a_sum_are_not_known(void **state)
{
#define ON_DEMAND(ratio, mean, more)                                                               \
    MINIMAL("\"opened\":3,\"reuse_ratio\":" ratio ",\"mean_queries_per_connection\":" mean         \
            ",\"queries_per_connection\":{\"1\":2" more "}")
    struct json_object *sum = sum_of(ON_DEMAND("0", "2", ""), ON_DEMAND("1", "2", ",\"3-4\":1"));

    (void)state;
    assert_text(sum, "on_demand.opened", "6");
    assert_text(sum, "on_demand.reuse_ratio", "null");
    assert_text(sum, "on_demand.mean_queries_per_connection", "null");
    assert_text(sum, "on_demand.queries_per_connection.1", "4");
    assert_text(sum, "on_demand.queries_per_connection.3-4", "1");
    result_free(sum);
}

static void timeouts_of_servers_are_merged_by_their_extremes(void **state)
{
#define KEEPALIVE(min, max, most)                                                                  \
    MINIMAL("\"keepalive\":{\"timeouts\":3,\"min_s\":" min ",\"max_s\":" max                       \
            ",\"most_common_s\":" most ",\"most_common\":2}")
    static const char *const texts[] = {KEEPALIVE("2", "9", "3"), KEEPALIVE("1", "4", "4")};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct json_object *sum = sum_of(texts[i], texts[1 - i]);

        assert_text(sum, "on_demand.keepalive.timeouts", "6");
        assert_text(sum, "on_demand.keepalive.min_s", "1");
        assert_text(sum, "on_demand.keepalive.max_s", "9");
        assert_text(sum, "on_demand.keepalive.most_common_s", "null");
        assert_text(sum, "on_demand.keepalive.most_common", "null");
        result_free(sum);
    }
}

/* A result with these additional members. */
#define WITH(members)                                                                              \
    "{" NEEDED QUERIES(                                                                            \
        "1", "") "\"started\":\"2026-01-31T23:59:58.123Z\",\"verdict\":\"VALID\"," members         \
                 ",\"connections\":{\"asked\":1,\"live_at_end\":1}}"

static void what_the_instances_share_is_not_added(void **state)
{
#define SHARED                                                                                     \
    WITH("\"server\":{\"accepted\":300},\"churn\":{\"per_s\":2.5,\"most_per_s\":500},"             \
         "\"recovery\":{\"lost\":2,\"listen_overflows\":7,\"listen_drops\":7}")
    struct json_object *sum = sum_of(SHARED, SHARED);

    (void)state;
    assert_text(sum, "server", "null");
    assert_text(sum, "churn.per_s", "5.0");
    assert_text(sum, "churn.most_per_s", "null");
    assert_text(sum, "recovery.lost", "4");
    assert_text(sum, "recovery.listen_overflows", "null");
    assert_text(sum, "recovery.listen_drops", "null");
    result_free(sum);
}

static void null_is_no_loss_no_minimum_and_no_time(void **state)
{
#define SOME                                                                                       \
    WITH("\"measured_from\":\"2026-01-31T23:59:58.123Z\",\"recovery\":{\"lost\":2},"               \
         "\"push\":{\"negative\":4,\"least_ns\":-5}")
#define NONE                                                                                       \
    WITH("\"measured_from\":null,\"recovery\":null,\"push\":{\"negative\":0,\"least_ns\":null}")
    static const char *const texts[][2] = {{SOME, NONE}, {NONE, SOME}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct json_object *sum = sum_of(texts[i][0], texts[i][1]);

        assert_text(sum, "measured_from", "\"2026-01-31T23:59:58.123Z\"");
        assert_text(sum, "recovery.lost", "2");
        assert_text(sum, "push.negative", "4");
        assert_text(sum, "push.least_ns", "-5");
        result_free(sum);
    }
}

static void a_merged_run_holds_as_far_as_all_of_its_instances(void **state)
{
    static const char *const results[] = {
        WITH("\"valid_to\":\"none\""), WITH("\"valid_to\":\"p50\""), WITH("\"valid_to\":\"max\"")};
    static const char *const texts[] = {"\"none\"", "\"p50\"", "\"max\""};

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            struct json_object *sum = sum_of(results[i], results[k]);

            assert_text(sum, "valid_to", texts[i < k ? i : k]);
            result_free(sum);
        }
}

static void a_percentile_holds_if_it_holds_in_all_instances(void **state)
{
    struct json_object *sum = sum_of(WITH("\"holds\":{\"p50\":true,\"p90\":true,\"p99\":false}"),
                                     WITH("\"holds\":{\"p50\":true,\"p90\":false,\"p99\":true}"));

    (void)state;
    assert_text(sum, "holds.p50", "true");
    assert_text(sum, "holds.p90", "false");
    assert_text(sum, "holds.p99", "false");
    result_free(sum);
}

/* One that could not connect, for example, or was interrupted in its warm-up. */
static void an_instance_that_measured_nothing_leaves_the_rest_known(void **state)
{
    static const char nothing[] =
        "{" NEEDED
        "\"queries\":{\"scheduled\":0,\"sent\":0,\"unsent\":0,\"answered\":0,\"timeout\":0,"
        "\"error\":0,\"cancelled\":0},\"connections\":{\"asked\":5,\"live_at_end\":0},"
        "\"started\":\"2026-01-31T23:59:59.123Z\",\"verdict\":\"SUSPECT\",\"push\":null,"
        "\"rate\":{\"asked_qps\":50,\"achieved_qps\":null},\"valid_to\":null,\"holds\":null}";
    static const char something[] = WITH("\"push\":null,\"rate\":{\"asked_qps\":50,"
                                         "\"achieved_qps\":49.5},\"valid_to\":\"p99\","
                                         "\"holds\":{\"p50\":true,\"max\":false}");
    static const char *const pairs[][2] = {{nothing, something}, {something, nothing}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct json_object *sum = sum_of(pairs[i][0], pairs[i][1]);

        assert_text(sum, "verdict", "\"SUSPECT\"");
        assert_text(sum, "rate.asked_qps", "100.0");
        assert_text(sum, "rate.achieved_qps", "49.5");
        assert_text(sum, "valid_to", "\"p99\"");
        assert_text(sum, "holds.p50", "true");
        assert_text(sum, "holds.max", "false");
        result_free(sum);
    }
}

static void a_listener_that_measured_nothing_leaves_the_rate_of_messages_known(void **state)
{
    struct json_object *sum =
        sum_of(WITH("\"push\":{\"measured\":0,\"messages_per_s\":null,\"clock\":null}"),
               WITH("\"push\":{\"measured\":609,\"messages_per_s\":304.5,\"clock\":\"mixed\"}"));

    (void)state;
    assert_text(sum, "push.measured", "609");
    assert_text(sum, "push.messages_per_s", "304.5");
    assert_text(sum, "push.clock", "\"mixed\"");
    result_free(sum);
}

static void an_instance_that_connected_nothing_leaves_the_rates_of_connections_known(void **state)
{
#define CONNECTIONS(more) "\"connections\":{\"asked\":5,\"live_at_end\":0," more "}"
    static const char nothing[] = "{" NEEDED QUERIES("1", "")
        CONNECTIONS("\"connect_rate_per_s\":null,"
                    "\"connect_elapsed_s\":null") ","
                                                  "\"started\":\"2026-01-31T23:59:59.123Z\","
                                                  "\"verdict\":\"SUSPECT\","
                                                  "\"churn\":{\"per_s\":null}}";
    static const char something[] = "{" NEEDED QUERIES("1", "")
        CONNECTIONS("\"connect_rate_per_s\":250.5,"
                    "\"connect_elapsed_s\":0.02") ","
                                                  "\"started\":\"2026-01-31T23:59:59.123Z\","
                                                  "\"verdict\":\"VALID\","
                                                  "\"churn\":{\"per_s\":12.5}}";
    static const char *const pairs[][2] = {{nothing, something}, {something, nothing}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct json_object *sum = sum_of(pairs[i][0], pairs[i][1]);

        assert_text(sum, "connections.connect_rate_per_s", "250.5");
        assert_text(sum, "connections.connect_elapsed_s", "0.02");
        assert_text(sum, "churn.per_s", "12.5");
        result_free(sum);
    }
}

static void instances_that_measured_nothing_have_no_rate(void **state)
{
    static const char nothing[] = WITH("\"rate\":{\"achieved_qps\":null},\"valid_to\":null");
    struct json_object *sum = sum_of(nothing, nothing);

    (void)state;
    assert_null(result_find(sum, "rate.achieved_qps"));
    assert_null(result_find(sum, "valid_to"));
    result_free(sum);
}

/* As in a result of an older version. */
static void a_missing_key_is_unknown_like_null(void **state)
{
#define NEWER                                                                                      \
    WITH("\"goals\":[{\"goal\":\"p99<5ms\",\"result\":\"met\"}],\"valid_to\":\"max\","             \
         "\"holds\":{\"p50\":true},\"tls\":{\"handshakes\":3},\"recovery\":{\"lost\":2},"          \
         "\"reasons\":[\"unsent\"]")
#define OLDER WITH("\"seed\":1")
    static const char *const texts[][2] = {{NEWER, OLDER}, {OLDER, NEWER}};
    static const char *const unknown[] = {"goals", "valid_to", "holds", "tls", "seed"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct json_object *sum = sum_of(texts[i][0], texts[i][1]);

        for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
            assert_null(result_find(sum, unknown[k]));
        assert_text(sum, "recovery.lost", "2");
        assert_text(sum, "reasons", "[\n  \"unsent\"\n]");
        result_free(sum);
    }
}

static void a_missing_count_is_unknown_but_what_is_not_listed_did_not_occur(void **state)
{
#define OF_NEWER                                                                                   \
    WITH("\"tls\":{\"handshakes\":3,\"resumed\":1},\"answers\":{\"rcodes\":{\"NOERROR\":5}},"      \
         "\"classes\":{\"a\":{\"clients\":2}}")
#define OF_OLDER                                                                                   \
    WITH("\"tls\":{\"handshakes\":4},\"answers\":{\"rcodes\":{\"REFUSED\":1}},"                    \
         "\"classes\":{\"b\":{\"clients\":6}}")
    static const char *const texts[][2] = {{OF_NEWER, OF_OLDER}, {OF_OLDER, OF_NEWER}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct json_object *sum = sum_of(texts[i][0], texts[i][1]);

        assert_text(sum, "tls.handshakes", "7");
        assert_text(sum, "tls.resumed", "null");
        assert_text(sum, "answers.rcodes.NOERROR", "5");
        assert_text(sum, "answers.rcodes.REFUSED", "1");
        assert_text(sum, "classes.a.clients", "2");
        assert_text(sum, "classes.b.clients", "6");
        result_free(sum);
    }
}

static void a_sum_beyond_64_bits_is_not_known(void **state)
{
    struct json_object *a = parse(one), *sum = merge_first(a);

    (void)state;
    assert_int_equal(merge_add(sum, a), 0);
    assert_text(sum, "queries.sent", "null");
    assert_text(sum, "queries.scheduled", "18");
    result_free(sum);
    result_free(a);
}

static void verdict_is_the_worst_and_reasons_are_those_of_any(void **state)
{
    struct json_object *a = parse(one), *b = parse(other), *sum = merge_first(b);

    (void)state;
    assert_int_equal(merge_add(sum, a), 0);
    assert_int_equal(merge_add(sum, b), 0);
    assert_string_equal(result_string(sum, "verdict"), "SUSPECT");
    assert_text(sum, "reasons", "[\n  \"unsent\",\n  \"host-noise\"\n]");
    assert_text(sum, "diagnosis",
                "[\n  {\n    \"limit\": \"x\"\n  },\n  {\n    \"limit\": \"x\"\n  },\n  {\n    "
                "\"limit\": \"x\"\n  }\n]");
    result_free(sum);
    sum = merge_first(a);
    assert_int_equal(merge_add(sum, a), 0);
    assert_string_equal(result_string(sum, "verdict"), "VALID");
    result_free(sum);
    result_free(a);
    result_free(b);
}

/* Otherwise the counts of all would look right. */
static void a_law_broken_by_one_instance_is_broken(void **state)
{
    static const char *const laws[] = {WITH("\"broken_law\":null"), WITH("\"broken_law\":\"x\""),
                                       WITH("\"broken_law\":\"y\"")};
    static const char *const broken[3][3] = {
        {"null", "\"x\"", "\"y\""}, {"\"x\"", "\"x\"", "\"x\""}, {"\"y\"", "\"y\"", "\"y\""}};

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            struct json_object *sum = sum_of(laws[i], laws[k]);

            assert_text(sum, "broken_law", broken[i][k]);
            result_free(sum);
        }
}

static void fingerprints_name_what_differs(void **state)
{
    struct json_object *a = parse(one), *b = parse(other);
    char text[FINGERPRINT_TEXT_BYTES];

    (void)state;
    /* outputs, seeds, goals and the target are ignored */
    assert_int_equal(fingerprint_settings(a, b, text), 1);
    assert_string_equal(text, "rate 100 and 200");
    assert_int_equal(fingerprint_settings(a, a, text), 0);
    assert_string_equal(text, "");
    assert_int_equal(fingerprint_host(a, b, text), 1);
    assert_string_equal(text, "cpus 2 and 4");
    assert_int_equal(fingerprint_program(a, b, text), 0);
    result_free(a);
    result_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_rates_add_and_the_rest_is_honest),
        cmocka_unit_test(ratios_of_a_sum_are_not_known),
        cmocka_unit_test(timeouts_of_servers_are_merged_by_their_extremes),
        cmocka_unit_test(what_the_instances_share_is_not_added),
        cmocka_unit_test(null_is_no_loss_no_minimum_and_no_time),
        cmocka_unit_test(a_merged_run_holds_as_far_as_all_of_its_instances),
        cmocka_unit_test(a_percentile_holds_if_it_holds_in_all_instances),
        cmocka_unit_test(an_instance_that_measured_nothing_leaves_the_rest_known),
        cmocka_unit_test(a_listener_that_measured_nothing_leaves_the_rate_of_messages_known),
        cmocka_unit_test(an_instance_that_connected_nothing_leaves_the_rates_of_connections_known),
        cmocka_unit_test(instances_that_measured_nothing_have_no_rate),
        cmocka_unit_test(a_missing_key_is_unknown_like_null),
        cmocka_unit_test(a_missing_count_is_unknown_but_what_is_not_listed_did_not_occur),
        cmocka_unit_test(a_sum_beyond_64_bits_is_not_known),
        cmocka_unit_test(verdict_is_the_worst_and_reasons_are_those_of_any),
        cmocka_unit_test(a_law_broken_by_one_instance_is_broken),
        cmocka_unit_test(fingerprints_name_what_differs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
