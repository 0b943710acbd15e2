/* SPDX-License-Identifier: MIT
 * test_servers: the addresses of --server-control, the servers there, and what they counted
 * together. Linked with --wrap=server_stats_read. */
#include "client/servers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct client_servers s;
static char error[CONTROL_SOCKET_ERROR_BYTES];

static void addresses_are_separated_by_commas(void **state)
{
    (void)state;
    assert_int_equal(client_servers_parse(&s, "127.0.0.1:9000", error), 0);
    assert_int_equal(s.n, 1);
    assert_string_equal(s.addresses[0], "127.0.0.1:9000");
    assert_int_equal(client_servers_parse(&s, "unix:/a,[::1]:9000,unix:/b", error), 0);
    assert_int_equal(s.n, 3);
    assert_string_equal(s.addresses[0], "unix:/a");
    assert_string_equal(s.addresses[1], "[::1]:9000");
    assert_string_equal(s.addresses[2], "unix:/b");
}

static void assert_refused(const char *list, const char *why)
{
    assert_int_equal(client_servers_parse(&s, list, error), -1);
    if (strstr(error, why) == NULL)
        fail_msg("no '%s' in: %s", why, error);
}

static void bad_lists_are_refused(void **state)
{
    char list[CLIENT_SERVERS_MOST * 16 + 200] = "";

    (void)state;
    assert_refused(",", "expected ADDRESS:PORT or unix:PATH");
    assert_refused("unix:/a,", "expected ADDRESS:PORT or unix:PATH");
    assert_refused("unix:/a,,unix:/b", "expected ADDRESS:PORT or unix:PATH");
    assert_refused("unix:/a,unix:/b,unix:/a", "expected different addresses");
    memset(list, 'x', CLIENT_SERVERS_ADDRESS_BYTES);
    assert_refused(list, "expected ADDRESS:PORT or unix:PATH");
    list[0] = '\0';
    for (int i = 0; i <= CLIENT_SERVERS_MOST; i++)
        snprintf(list + strlen(list), 16, "%sh:%d", i > 0 ? "," : "", i);
    assert_refused(list, "expected at most 16 addresses");
    *strrchr(list, ',') = '\0';
    assert_int_equal(client_servers_parse(&s, list, error), 0);
}

static void sum_is_unknown_if_a_server_did_not_answer(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    s.n = 2;
    s.before[0] = s.before[1] = (struct server_stats){.is_known = true, .listen_drops = 1};
    s.after[0] = (struct server_stats){.is_known = true, .accepted = 3, .listen_drops = 2};
    assert_false(client_servers_sum(&s).is_known);
    s.after[1] = (struct server_stats){.is_known = true, .accepted = 4, .listen_drops = 2};
    assert_true(client_servers_sum(&s).is_known);
    assert_int_equal(client_servers_sum(&s).accepted, 7);
    assert_true(client_servers_sum(&s).listen_drops == UINT64_MAX);
    s.n = 1;
    assert_int_equal(client_servers_sum(&s).listen_drops, 1);
}

/* --- reading --- */

/* When each of three servers started, by the number at the end of its address (0 to 2); 0: it does
 * not answer. */
static uint64_t starts[3];
static int wait_given_ms;

int __wrap_server_stats_read(struct server_stats *stats, const char *address,
                             const struct control_token *token, int wait_ms, char *why);

int __wrap_server_stats_read(struct server_stats *stats, const char *address,
                             const struct control_token *token, int wait_ms, char *why)
{
    const int i = address[strlen(address) - 1] - '0';

    assert_null(token);
    wait_given_ms = wait_ms;
    *stats = (struct server_stats){
        .is_known = starts[i] > 0, .started_epoch_ns = starts[i], .accepted = (uint64_t)i + 1};
    if (starts[i] == 0)
        snprintf(why, CONTROL_SOCKET_ERROR_BYTES, "%s is silent", address);
    return starts[i] > 0 ? 0 : -1;
}

static void servers_are_read_before_if_they_are_different_and_answer(void **state)
{
    static const struct {
        uint64_t starts[3];
        const char *error;
    } cases[] = {
        {{7, 8, 9}, NULL},
        {{7, 0, 9}, "unix:/1 is silent"},
        {{7, 8, 0}, "unix:/2 is silent"},
        {{7, 7, 9}, "'unix:/0' and 'unix:/1' are the same tcpserver: give only one"},
        {{7, 8, 7}, "'unix:/0' and 'unix:/2' are the same tcpserver: give only one"},
        {{UINT64_MAX, UINT64_MAX, 9}, NULL}, /* of older versions, which do not tell */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;

        assert_int_equal(client_servers_parse(&s, "unix:/0,unix:/1,unix:/2", error), 0);
        memcpy(starts, cases[i].starts, sizeof starts);
        status = client_servers_read_before(&s, NULL, 500, error);
        assert_int_equal(status, cases[i].error != NULL ? -1 : 0);
        assert_int_equal(wait_given_ms, 500);
        if (cases[i].error != NULL)
            assert_string_equal(error, cases[i].error);
        else
            for (unsigned k = 0; k < 3; k++)
                assert_int_equal(s.before[k].accepted, k + 1);
    }
}

static void each_server_is_read_afterwards_whether_the_others_answer_or_not(void **state)
{
    (void)state;
    assert_int_equal(client_servers_parse(&s, "unix:/0,unix:/1,unix:/2", error), 0);
    memcpy(starts, (uint64_t[]){7, 0, 9}, sizeof starts);
    client_servers_read_after(&s, NULL);
    assert_int_equal(wait_given_ms, CONTROL_SOCKET_WAIT_MS);
    assert_true(s.after[0].is_known && !s.after[1].is_known && s.after[2].is_known);
    assert_int_equal(s.after[2].accepted, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_separated_by_commas),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(sum_is_unknown_if_a_server_did_not_answer),
        cmocka_unit_test(servers_are_read_before_if_they_are_different_and_answer),
        cmocka_unit_test(each_server_is_read_afterwards_whether_the_others_answer_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
