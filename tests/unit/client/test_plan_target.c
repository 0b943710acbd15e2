/* SPDX-License-Identifier: MIT
 * test_plan_target: the server's address and TLS, from the options.
 * Linked with --wrap=sock_resolve_server and
 * --wrap=tls_client_context. */
#include "client/plan_target.h"

#include "client/opts_class.h"
#include "net/sock_resolve.h"
#include "net/tls_context.h"
#include "protocol/query_dns.h"
#include "protocol/query_echo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The port that was tried; -1: none. */
static int tried_port;

int __real_sock_resolve_server(const struct endpoint *e, int family,
                               const struct sock_greeting *greeting, struct sock_address *address,
                               char *error);
int __wrap_sock_resolve_server(const struct endpoint *e, int family,
                               const struct sock_greeting *greeting, struct sock_address *address,
                               char *error);

int __wrap_sock_resolve_server(const struct endpoint *e, int family,
                               const struct sock_greeting *greeting, struct sock_address *address,
                               char *error)
{
    tried_port = e->port;
    return __real_sock_resolve_server(e, family, greeting, address, error);
}

static struct tls_client_options tls_options;

struct tls_context *__real_tls_client_context(const struct tls_client_options *options,
                                              char *error);
struct tls_context *__wrap_tls_client_context(const struct tls_client_options *options,
                                              char *error);

struct tls_context *__wrap_tls_client_context(const struct tls_client_options *options, char *error)
{
    tls_options = *options;
    return __real_tls_client_context(options, error);
}

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

/* If a host name has several addresses, one that accepts connections is chosen; the target has the
 * port of the run, which the port of a class replaces later. */
static void a_port_is_tried_that_connections_go_to(void **state)
{
    static const struct {
        unsigned n_classes;
        uint16_t ports[2];
        bool datagrams;
        int expected;
    } cases[] = {
        {0, {0, 0}, false, 53},   {1, {853, 0}, false, 853}, {2, {853, 54}, false, 853},
        {2, {853, 0}, false, 53}, {2, {0, 853}, false, 53},  {0, {0, 0}, true, -1},
        {2, {853, 54}, true, -1},
    };
    struct client_config config = {0};
    char text[SOCK_TEXT_BYTES];

    (void)state;
    srcplan_init(&config.plan);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client_opts_class classes[2] = {0};
        struct client_opts o = {.server = {.host = "127.0.0.1", .port = 53}};

        for (int k = 0; k < 2; k++)
            classes[k].opts.server.port = cases[i].ports[k];
        o.classes = classes;
        o.n_classes = cases[i].n_classes;
        config.socket.datagrams = cases[i].datagrams;
        tried_port = -1;
        assert_int_equal(client_plan_target(&config, text, &o), 0);
        if (tried_port != cases[i].expected)
            fail_msg("case %zu: %d", i, tried_port);
        assert_string_equal(text, "127.0.0.1:53");
    }
    srcplan_free(&config.plan);
}

static void without_tls_there_is_no_context(void **state)
{
    struct client_config config = {0};

    (void)state;
    assert_int_equal(client_plan_tls(&config, &(struct client_opts){.server = {.host = "h"}}), 0);
    assert_null(config.tls);
}

static void tls_is_as_the_options_say(void **state)
{
    struct client_config config = {.query = {.protocol = &query_dns_protocol}};
    struct client_opts o = {.server = {.host = "h"}, .tls = true, .tls_insecure = true};

    (void)state;
    assert_int_equal(client_plan_tls(&config, &o), 0);
    tls_context_free(config.tls);
    assert_string_equal(tls_options.name, "h");
    assert_string_equal(tls_options.alpn, "dot");
    assert_int_equal(tls_options.min, TLS_MIN_1_2);
    assert_true(tls_options.insecure);
    assert_true(tls_options.resume); /* unless --tls-resume no */
    assert_null(tls_options.ciphers);
    config.query.protocol = &query_echo_protocol;
    o.tls_name = "name";
    o.tls_ciphers = "TLS_AES_128_GCM_SHA256";
    o.tls_min = TLS_MIN_1_3;
    o.tls_resume = CLIENT_NO;
    assert_int_equal(client_plan_tls(&config, &o), 0);
    tls_context_free(config.tls);
    assert_string_equal(tls_options.name, "name");
    assert_null(tls_options.alpn);
    assert_int_equal(tls_options.min, TLS_MIN_1_3);
    assert_false(tls_options.resume);
    assert_string_equal(tls_options.ciphers, o.tls_ciphers);
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
        cmocka_unit_test(a_port_is_tried_that_connections_go_to),
        cmocka_unit_test(without_tls_there_is_no_context),
        cmocka_unit_test(tls_is_as_the_options_say),
        cmocka_unit_test(certificate_authorities_that_cannot_be_read_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
