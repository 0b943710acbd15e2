/* SPDX-License-Identifier: MIT
 * test_datagrams: messages become datagrams and datagrams messages. */
#include "net/datagrams.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int ends[2]; /* of a connection that keeps datagrams apart */
static struct datagrams_out out;
static struct datagrams_in in;
static uint8_t room[DATAGRAMS_MOST_RECEIVED * DATAGRAMS_ROOM_BYTES];

static int setup(void **state)
{
    (void)state;
    datagrams_out_init(&out);
    datagrams_in_init(&in, room, false);
    return socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends);
}

static int teardown(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

/* n messages of one byte each, which is their number. */
static size_t count_up(uint8_t *messages, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        datagrams_put_length(messages + 3 * i, 1);
        messages[3 * i + 2] = (uint8_t)i;
    }
    return 3 * n;
}

static void messages_are_split_by_their_lengths(void **state)
{
    static const uint8_t messages[] = {0, 3, 'a', 'b', 'c', 0, 0, 0, 1, 'd'};

    (void)state;
    datagrams_split(&out, messages, sizeof messages);
    assert_int_equal(out.n, 3);
    assert_int_equal(out.parts[0].iov_len, 3);
    assert_memory_equal(out.parts[0].iov_base, "abc", 3);
    assert_int_equal(out.parts[1].iov_len, 0);
    assert_int_equal(out.parts[2].iov_len, 1);
    assert_memory_equal(out.parts[2].iov_base, "d", 1);
    datagrams_split(&out, messages, 5);
    assert_int_equal(out.n, 1);
    datagrams_split(&out, messages, 0);
    assert_int_equal(out.n, 0);
}

static void a_length_has_two_bytes(void **state)
{
    static uint8_t message[2 + 0x1234];

    (void)state;
    datagrams_put_length(message, 0x1234);
    assert_memory_equal(message, "\x12\x34", 2);
    datagrams_split(&out, message, sizeof message);
    assert_int_equal(out.n, 1);
    assert_int_equal(out.parts[0].iov_len, 0x1234);
}

static void one_call_has_a_limit(void **state)
{
    uint8_t messages[3 * (DATAGRAMS_MOST_SENT + 1)];
    const size_t n_bytes = count_up(messages, DATAGRAMS_MOST_SENT + 1);

    (void)state;
    datagrams_split(&out, messages, n_bytes);
    assert_int_equal(out.n, DATAGRAMS_MOST_SENT);
    datagrams_split(&out, messages + 3 * DATAGRAMS_MOST_SENT, 3);
    assert_int_equal(out.n, 1);
}

static void assert_message(unsigned i, const void *bytes, size_t n_bytes)
{
    const struct datagram d = datagrams_at(&in, i);

    assert_int_equal(d.n_bytes, DATAGRAMS_LENGTH_BYTES + n_bytes);
    assert_int_equal(d.message[0] << 8 | d.message[1], n_bytes);
    assert_memory_equal(d.message + 2, bytes, n_bytes);
    assert_int_equal(d.stamp_ns, 0);
}

static void datagrams_arrive_as_messages(void **state)
{
    static const uint8_t messages[] = {0, 3, 'a', 'b', 'c', 0, 0, 0, 1, 'd'};
    size_t n_bytes;

    (void)state;
    datagrams_split(&out, messages, sizeof messages);
    assert_int_equal(datagrams_send(ends[0], &out, &n_bytes), 3);
    assert_int_equal(n_bytes, 4);
    assert_int_equal(datagrams_receive(ends[1], &in, &n_bytes), 3);
    assert_int_equal(n_bytes, 4);
    assert_message(0, "abc", 3);
    assert_message(1, "", 0);
    assert_message(2, "d", 1);
    assert_int_equal(datagrams_receive(ends[1], &in, &n_bytes), 0);
    assert_int_equal(n_bytes, 0);
}

static void a_datagram_beyond_the_room_is_cut_off_and_its_length_known(void **state)
{
    static uint8_t message[2 + DATAGRAMS_ROOM_BYTES] = {0, 0, 'x'};
    struct datagram d;
    size_t n_bytes;

    (void)state;
    datagrams_put_length(message, DATAGRAMS_ROOM_BYTES);
    datagrams_split(&out, message, sizeof message);
    assert_int_equal(datagrams_send(ends[0], &out, &n_bytes), 1);
    assert_int_equal(datagrams_receive(ends[1], &in, &n_bytes), 1);
    assert_int_equal(n_bytes, DATAGRAMS_ROOM_BYTES);
    d = datagrams_at(&in, 0);
    assert_int_equal(d.n_bytes, DATAGRAMS_ROOM_BYTES);
    assert_int_equal(d.message[0] << 8 | d.message[1], DATAGRAMS_ROOM_BYTES - 2);
    assert_int_equal(d.message[2], 'x');
}

static void a_full_socket_takes_whole_datagrams_only(void **state)
{
    uint8_t messages[3 * DATAGRAMS_MOST_SENT];
    const size_t n_all = count_up(messages, DATAGRAMS_MOST_SENT);
    size_t n_bytes;
    int n_sent = 0, n, n_received = 0;

    (void)state;
    do {
        datagrams_split(&out, messages, n_all);
        n = datagrams_send(ends[0], &out, &n_bytes);
        assert_int_equal(n_bytes, n);
        n_sent += n;
    } while (n > 0);
    assert_int_equal(n, 0); /* no error */
    while ((n = datagrams_receive(ends[1], &in, &n_bytes)) > 0)
        for (int i = 0; i < n; i++)
            assert_int_equal(datagrams_at(&in, (unsigned)i).message[2],
                             n_received++ % DATAGRAMS_MOST_SENT);
    assert_int_equal(n_received, n_sent);
}

static void an_error_is_told(void **state)
{
    static const uint8_t message[] = {0, 1, 'a'};
    size_t n_bytes;

    (void)state;
    close(ends[1]);
    datagrams_split(&out, message, sizeof message);
    assert_int_equal(datagrams_send(ends[0], &out, &n_bytes), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(n_bytes, 0);
    ends[1] = dup(ends[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(messages_are_split_by_their_lengths),
        TEST(a_length_has_two_bytes),
        TEST(one_call_has_a_limit),
        TEST(datagrams_arrive_as_messages),
        TEST(a_datagram_beyond_the_room_is_cut_off_and_its_length_known),
        TEST(a_full_socket_takes_whole_datagrams_only),
        TEST(an_error_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
