/* SPDX-License-Identifier: MIT
 * test_control_request: every path with its method and parameter, and permissions. */
#include "net/control_request.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct control_request q;
static char error[CONTROL_REQUEST_ERROR_BYTES];

static enum control_status parse(const char *method, const char *target)
{
    return control_request_parse(&q, method, target, ~0u, error);
}

static void every_path_is_known_by_its_method(void **state)
{
    static const struct {
        const char *method, *target;
        enum control_command command;
    } all[] = {
        {"GET", "/", CONTROL_PATHS},
        {"GET", "/stats", CONTROL_STATS},
        {"GET", "/metrics", CONTROL_METRICS},
        {"POST", "/connections/start?n=1", CONTROL_START_CONNECTIONS},
        {"POST", "/connections/stop?n=1", CONTROL_STOP_CONNECTIONS},
        {"POST", "/rate?qps=1", CONTROL_RATE},
        {"POST", "/pause", CONTROL_PAUSE},
        {"POST", "/resume", CONTROL_RESUME},
        {"POST", "/stop", CONTROL_STOP},
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_int_equal(parse(all[i].method, all[i].target), CONTROL_OK);
        assert_int_equal(q.command, all[i].command);
        assert_string_equal(control_request_method(all[i].target), all[i].method);
        assert_int_equal(parse(all[i].method[0] == 'G' ? "POST" : "GET", all[i].target),
                         CONTROL_NOT_ALLOWED);
        assert_int_equal(parse("HEAD", all[i].target), CONTROL_NOT_ALLOWED);
        assert_int_equal(control_request_parse(&q, all[i].method, all[i].target,
                                               ~CONTROL_BIT(all[i].command), error),
                         CONTROL_UNKNOWN);
    }
}

static void target_may_be_absolute(void **state)
{
    (void)state;
    assert_int_equal(parse("GET", "http://127.0.0.1:8080/stats"), CONTROL_OK);
    assert_int_equal(q.command, CONTROL_STATS);
    assert_int_equal(parse("POST", "HTTP://[::1]/connections/stop?n=7"), CONTROL_OK);
    assert_int_equal(q.command, CONTROL_STOP_CONNECTIONS);
    assert_int_equal(q.n, 7);
    assert_int_equal(parse("GET", "http://localhost"), CONTROL_OK);
    assert_int_equal(q.command, CONTROL_PATHS);
    assert_string_equal(control_request_method("http://localhost/pause"), "POST");
    assert_int_equal(parse("GET", "http://localhost/x"), CONTROL_UNKNOWN);
    assert_int_equal(parse("GET", "http://localhost?/stats"), CONTROL_UNKNOWN);
    assert_int_equal(parse("GET", "ftp://localhost/stats"), CONTROL_UNKNOWN);
}

static void parameters_have_units(void **state)
{
    (void)state;
    assert_int_equal(parse("POST", "/connections/start?n=10k"), CONTROL_OK);
    assert_int_equal(q.n, 10000);
    assert_int_equal(parse("POST", "/rate?qps=2.5k"), CONTROL_OK);
    assert_true(q.qps == 2500);
    assert_int_equal(parse("POST", "/rate?qps=1G"), CONTROL_OK);
    assert_true(q.qps == 1e9);
    assert_int_equal(parse("POST", "/rate?qps=0"), CONTROL_OK);
}

static void bad_parameters_are_refused(void **state)
{
    static const char *const bad[] = {
        "/rate",
        "/rate?",
        "/rate?qps=",
        "/rate?qps=-1",
        "/rate?qps=nan",
        "/rate?qps=1e10",
        "/rate?qps=2G",
        "/rate?qps=1&qps=2",
        "/rate?rate=1",
        "/rate?qps=%31",
        "/connections/stop?n=",
        "/connections/stop?n=0",
        "/connections/stop?n=-1",
        "/connections/stop?n=1.5",
        "/connections/start?n=99999999999999999999",
        "/pause?now",
        "/stop?",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(parse("POST", bad[i]), CONTROL_BAD);
    assert_int_equal(parse("GET", "/stats?n=1"), CONTROL_BAD);
    assert_int_equal(parse("POST", "/rate?qps=1e9"), CONTROL_BAD);
    assert_string_equal(error, "invalid parameter: expected /rate?qps=QPS, 0 to 1G per second");
}

static void other_paths_are_unknown(void **state)
{
    static const char *const unknown[] = {"",
                                          "*",
                                          "/stats/",
                                          "/Stats",
                                          "//stats",
                                          "/stat",
                                          "/stats/../stop",
                                          "/connections",
                                          "ftp://x/stats"};

    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_int_equal(parse("GET", unknown[i]), CONTROL_UNKNOWN);
        assert_string_equal(control_request_method(unknown[i]), "");
    }
}

static void list_has_what_is_known(void **state)
{
    char *text;

    (void)state;
    control_request_list(print_open(), CONTROL_BIT(CONTROL_PATHS) | CONTROL_BIT(CONTROL_RATE) |
                                           CONTROL_BIT(CONTROL_STOP));
    text = print_close();
    assert_non_null(strstr(text, "\"GET /\""));
    assert_non_null(strstr(text, "\"POST /rate?qps=QPS\""));
    assert_non_null(strstr(text, "\"POST /stop\""));
    assert_null(strstr(text, "/stats"));
    free(text);
}

static enum control_status check(const char *origin, const char *host, const char *authorization,
                                 const char *token)
{
    return control_request_check(&(struct control_sender){origin, host, authorization}, token,
                                 false, error);
}

static void token_is_wanted_where_there_is_one(void **state)
{
    (void)state;
    assert_int_equal(check(NULL, "far.example", "Bearer secret", "secret"), CONTROL_OK);
    assert_int_equal(check(NULL, "far.example", "bearer secret", "secret"), CONTROL_OK);
    assert_int_equal(check(NULL, "localhost", NULL, "secret"), CONTROL_NO_TOKEN);
    assert_int_equal(check(NULL, "localhost", "Bearer ", "secret"), CONTROL_NO_TOKEN);
    assert_int_equal(check(NULL, "localhost", "Bearer secre", "secret"), CONTROL_NO_TOKEN);
    assert_int_equal(check(NULL, "localhost", "Bearer secretsecret", "secret"), CONTROL_NO_TOKEN);
    assert_int_equal(check(NULL, "localhost", "Bearer Secret", "secret"), CONTROL_NO_TOKEN);
    assert_int_equal(check(NULL, "localhost", "Basic secret", "secret"), CONTROL_NO_TOKEN);
}

static void pages_in_a_browser_are_refused(void **state)
{
    static const char *const ours[] = {"localhost", "LocalHost:80", "127.0.0.1:9000",
                                       "127.1.2.3", "[::1]:9000",   "[::1]"};
    static const char *const foreign[] = {"evil.example",
                                          "evil.example:9000",
                                          "127.0.0.1.evil.example",
                                          "localhost.evil.example",
                                          "10.0.0.1",
                                          "",
                                          ":9000"};

    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        assert_int_equal(check(NULL, ours[i], NULL, NULL), CONTROL_OK);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        assert_int_equal(check(NULL, foreign[i], NULL, NULL), CONTROL_FOREIGN);
    assert_int_equal(check(NULL, NULL, NULL, NULL), CONTROL_OK);
    assert_int_equal(check("null", "localhost", NULL, NULL), CONTROL_FOREIGN);
    assert_int_equal(check("http://localhost", "localhost", "Bearer secret", "secret"),
                     CONTROL_FOREIGN);
    assert_int_equal(
        control_request_check(&(struct control_sender){NULL, "x", NULL}, NULL, true, error),
        CONTROL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_is_known_by_its_method),
        cmocka_unit_test(target_may_be_absolute),
        cmocka_unit_test(parameters_have_units),
        cmocka_unit_test(bad_parameters_are_refused),
        cmocka_unit_test(other_paths_are_unknown),
        cmocka_unit_test(list_has_what_is_known),
        cmocka_unit_test(token_is_wanted_where_there_is_one),
        cmocka_unit_test(pages_in_a_browser_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
