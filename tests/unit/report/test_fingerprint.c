/* SPDX-License-Identifier: MIT
 * test_fingerprint: how two runs differ. */
#include "report/fingerprint.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char text[FINGERPRINT_TEXT_BYTES];

static unsigned differences(const char *a, const char *b)
{
    struct json_object *of_a = json_tokener_parse(a), *of_b = json_tokener_parse(b);
    unsigned n;

    assert_true(of_a != NULL && of_b != NULL);
    n = fingerprint_settings(of_a, of_b, text);
    json_object_put(of_a);
    json_object_put(of_b);
    return n;
}

static void options_that_only_one_has_are_differences(void **state)
{
    (void)state;
    assert_int_equal(differences("{\"options\":{\"rate\":5}}", "{\"options\":{\"rate\":5}}"), 0);
    assert_string_equal(text, "");
    assert_int_equal(differences("{\"options\":{\"rate\":5,\"tls\":true}}",
                                 "{\"options\":{\"rate\":6,\"udp\":0}}"),
                     3);
    assert_string_equal(text, "rate 5 and 6, tls true and null, udp null and 0");
    assert_int_equal(differences("{\"options\":{\"rate\":5}}", "{}"), 1);
    assert_int_equal(differences("{}", "{}"), 0);
}

/* The other one is of an earlier version. */
static void an_option_that_only_one_has_may_be_off(void **state)
{
    static const char before[] = "{\"options\":{\"rate\":5}}";
    static const char now[] = "{\"options\":{\"rate\":5,\"udp\":false,\"watched\":null}}";

    (void)state;
    assert_int_equal(differences(before, now), 0);
    assert_int_equal(differences(now, before), 0);
    assert_int_equal(differences("{\"options\":{\"udp\":null}}", "{\"options\":{\"udp\":false}}"),
                     1);
}

static void outputs_and_what_instances_must_not_share_are_none(void **state)
{
    (void)state;
    assert_int_equal(differences("{\"options\":{\"json\":\"a\",\"seed\":1,\"source\":\"x\"}}",
                                 "{\"options\":{\"seed\":2,\"late-max\":3}}"),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_only_one_has_are_differences),
        cmocka_unit_test(an_option_that_only_one_has_may_be_off),
        cmocka_unit_test(outputs_and_what_instances_must_not_share_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
