/* SPDX-License-Identifier: MIT
 * test_plan_target: the server's address and TLS, from the options. */
#include "client/plan_target.h"

#include "net/tls_context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void the_target_has_the_family_of_the_sources(void **state)
{
    static const struct client_opts v4 = {.server = {.host = "127.0.0.1", .port = 53}},
                                    v6 = {.server = {.host = "::1", .port = 53}};
    struct client_config config = {0};
    char text[SOCK_TEXT_BYTES], error[SRCPLAN_ERROR_BYTES];

    (void)state;
    srcplan_init(&config.plan);
    assert_int_equal(srcplan_add_sources(&config.plan, "127.0.0.2", error), 0);
    assert_int_equal(client_plan_target(&config, text, &v6), -1);
    assert_int_equal(client_plan_target(&config, text, &v4), 0);
    assert_string_equal(text, "127.0.0.1:53");
    assert_true(config.target_is_here);
    assert_int_equal(sock_port(&config.target), 53);
    srcplan_free(&config.plan);
}

static void a_link_local_target_needs_an_interface(void **state)
{
    static const struct client_opts without = {.server = {.host = "fe80::1", .port = 53}};
    struct client_config config = {0};
    char text[SOCK_TEXT_BYTES], error[SRCPLAN_ERROR_BYTES];

    (void)state;
    srcplan_init(&config.plan);
    assert_int_equal(client_plan_target(&config, text, &without), -1);
    assert_int_equal(srcplan_add_sources(&config.plan, "fe80::2%1", error), 0);
    assert_int_equal(client_plan_target(&config, text, &without), 0);
    assert_string_equal(text, "[fe80::1]:53");
    assert_false(config.target_is_here);
    srcplan_free(&config.plan);
}

static int plan_for(const char *host)
{
    struct client_opts o = {.server.port = 53};
    struct client_config config = {0};
    char text[SOCK_TEXT_BYTES];

    snprintf(o.server.host, sizeof o.server.host, "%s", host);
    srcplan_init(&config.plan);
    return client_plan_target(&config, text, &o);
}

static void a_target_is_one_host(void **state)
{
    static const char *const groups[] = {"224.0.0.1", "255.255.255.255", "127.255.255.255",
                                         "ff0e::1"},
                             *const hosts[] = {"0.0.0.0", "127.255.255.254", "240.0.0.1", "::1"};

    (void)state;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (plan_for(groups[i]) != -1)
            fail_msg("%s", groups[i]);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (plan_for(hosts[i]) != 0)
            fail_msg("%s", hosts[i]);
}

static void without_tls_there_is_no_context(void **state)
{
    struct client_config config = {0};

    (void)state;
    assert_int_equal(client_plan_tls(&config, &(struct client_opts){.server = {.host = "h"}}), 0);
    assert_null(config.tls);
}

static void certificate_authorities_that_cannot_be_read_are_refused(void **state)
{
    struct client_config config = {0};
    struct client_opts o = {.server = {.host = "h"}, .tls = true, .tls_insecure = true};

    (void)state;
    assert_int_equal(client_plan_tls(&config, &o), 0);
    assert_non_null(config.tls);
    tls_context_free(config.tls);
    o.tls_insecure = false;
    o.tls_ca = "/nonexistent";
    assert_int_equal(client_plan_tls(&config, &o), -1);
    assert_null(config.tls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_target_has_the_family_of_the_sources),
        cmocka_unit_test(a_link_local_target_needs_an_interface),
        cmocka_unit_test(a_target_is_one_host),
        cmocka_unit_test(without_tls_there_is_no_context),
        cmocka_unit_test(certificate_authorities_that_cannot_be_read_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
