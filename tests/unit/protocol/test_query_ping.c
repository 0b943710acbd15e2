/* SPDX-License-Identifier: MIT
 * test_query_ping: Ping and Pong, both sides. */
#include "protocol/query_init.h"
#include "protocol/query_ping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* How many Pongs the client finds in pieces separated by '|'. */
static int count_pongs(const char *pieces)
{
    struct query_stream stream = {0};
    char error[QUERY_ERROR_BYTES];
    struct query q;
    int found = 0;

    assert_int_equal(query_init(&q, QUERY_PING, &(struct query_ask){0}, error), 0);
    for (; *pieces != '\0'; pieces += strcspn(pieces, "|"), pieces += *pieces == '|') {
        struct query_input in = {(const uint8_t *)pieces, strcspn(pieces, "|")};

        while (query_next(&q, &stream, &in) == QUERY_REPLY)
            found++;
    }
    query_free(&q);
    return found;
}

/* How many Pongs the server answers. */
static size_t count_answers(const char *pieces)
{
    uint8_t matched = 0, out[64];
    size_t n_bytes = 0;

    for (; *pieces != '\0'; pieces += strcspn(pieces, "|"), pieces += *pieces == '|') {
        size_t n = query_ping_answer(&matched, (const uint8_t *)pieces, strcspn(pieces, "|"), out);

        assert_int_equal(n % 4, 0);
        for (size_t i = 0; i < n; i += 4)
            assert_memory_equal(out + i, "Pong", 4);
        n_bytes += n;
    }
    return n_bytes / 4;
}

static void query_is_the_four_bytes_ping(void **state)
{
    char error[QUERY_ERROR_BYTES];
    struct query q;
    uint8_t out[4];

    (void)state;
    assert_int_equal(query_init(&q, QUERY_PING, &(struct query_ask){0}, error), 0);
    assert_int_equal(q.n_bytes, 4);
    query_encode(&q, 0, 999, out);
    assert_memory_equal(out, "Ping", 4);
    query_free(&q);
}

static void client_finds_each_pong(void **state)
{
    (void)state;
    assert_int_equal(count_pongs("Pong"), 1);
    assert_int_equal(count_pongs("Po|ng"), 1);
    assert_int_equal(count_pongs("P|o|n|gP|ong"), 2);
    assert_int_equal(count_pongs("PongPong"), 2);
    assert_int_equal(count_pongs("PPong"), 1);
    assert_int_equal(count_pongs("PoPong"), 1);
    assert_int_equal(count_pongs("xxPongyyPong"), 2);
    assert_int_equal(count_pongs("Ping pong Pon"), 0);
}

static void server_answers_each_ping_once(void **state)
{
    (void)state;
    assert_int_equal(count_answers("Ping"), 1);
    assert_int_equal(count_answers("Pi|ng"), 1);
    assert_int_equal(count_answers("PingPing"), 2);
    assert_int_equal(count_answers("gPingPin|gP|ing"), 3);
    assert_int_equal(count_answers("PPing"), 1);
    assert_int_equal(count_answers("Pin|Ping"), 1);
    assert_int_equal(count_answers("Pong ping Pin"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_is_the_four_bytes_ping),
        cmocka_unit_test(client_finds_each_pong),
        cmocka_unit_test(server_answers_each_ping_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
