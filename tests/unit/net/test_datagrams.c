/* SPDX-License-Identifier: MIT
 * test_datagrams: messages become datagrams and datagrams messages; when they arrived, and which
 * were dropped. */
#include "net/datagrams.h"

#include "base/clock.h"
#include "base/units.h"
#include "net/sock_stamp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
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

/* --- sockets of UDP --- */

/* Two that are connected to each other; datagrams from and to this host, whose buffers are small.
 */
static void connect_udp(void)
{
    struct sockaddr_in at[2];
    socklen_t length = sizeof at[0];

    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        ends[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        at[i] =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        assert_int_equal(bind(ends[i], (const struct sockaddr *)&at[i], sizeof at[i]), 0);
        assert_int_equal(getsockname(ends[i], (struct sockaddr *)&at[i], &length), 0);
        assert_int_equal(setsockopt(ends[i], SOL_SOCKET, SO_RCVBUF, &(int){0}, sizeof(int)), 0);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(connect(ends[i], (const struct sockaddr *)&at[1 - i], sizeof at[0]), 0);
}

/* Loopback may be slower than the one who sends. */
static int receive_some(int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    size_t n_bytes;

    assert_int_equal(poll(&readable, 1, -1), 1);
    return datagrams_receive(fd, &in, &n_bytes);
}

/* Not with qemu-user, which does not know the option. */
static bool can_stamp(void)
{
    const int nothing = 0;

    return setsockopt(ends[1], SOL_SOCKET, SO_TIMESTAMPING, &nothing, sizeof nothing) == 0 ||
           errno != ENOPROTOOPT;
}

/* Not with qemu-user, which passes on only the first of the numbers. */
static bool can_count_drops(void)
{
    uint32_t numbers[SK_MEMINFO_VARS];
    socklen_t n_bytes = sizeof numbers;

    return getsockopt(ends[1], SOL_SOCKET, SO_MEMINFO, numbers, &n_bytes) != 0 ||
           n_bytes != sizeof *numbers;
}

/* The kernel begins to stamp with some delay. */
static void what_is_stamped_tells_when_it_arrived(void **state)
{
    static const uint8_t message[] = {0, 1, 'a'};
    uint64_t begin_ns, stamp_ns = 0;
    size_t n_bytes;

    (void)state;
    connect_udp();
    if (!can_stamp())
        skip();
    assert_int_equal(sock_stamp_received(ends[1]), 0);
    datagrams_in_init(&in, room, true);
    for (int n_stamped = 0; n_stamped < 2; n_stamped += stamp_ns != 0) { /* one after the other */
        begin_ns = clock_now_ns() + clock_realtime_offset_ns();
        datagrams_split(&out, message, sizeof message);
        assert_int_equal(datagrams_send(ends[0], &out, &n_bytes), 1);
        assert_int_equal(receive_some(ends[1]), 1);
        stamp_ns = datagrams_at(&in, 0).stamp_ns;
        if (stamp_ns != 0) /* the clocks are read one after the other */
            assert_true(stamp_ns + UNITS_NS_PER_S > begin_ns);
    }
}

static void each_message_has_room_of_its_own(void **state)
{
    uint8_t messages[3 * DATAGRAMS_MOST_RECEIVED];
    size_t n_bytes;

    (void)state;
    datagrams_split(&out, messages, count_up(messages, DATAGRAMS_MOST_RECEIVED));
    assert_int_equal(datagrams_send(ends[0], &out, &n_bytes), DATAGRAMS_MOST_RECEIVED);
    assert_int_equal(datagrams_receive(ends[1], &in, &n_bytes), DATAGRAMS_MOST_RECEIVED);
    for (unsigned i = 0; i < DATAGRAMS_MOST_RECEIVED; i++)
        assert_ptr_equal(datagrams_at(&in, i).message, room + i * DATAGRAMS_ROOM_BYTES);
}

static void what_finds_no_room_is_counted_as_dropped(void **state)
{
    uint8_t messages[3 * DATAGRAMS_MOST_SENT];
    size_t n_bytes;
    uint32_t n_dropped = 1;
    int n_received = 0;

    (void)state;
    connect_udp();
    if (!can_count_drops())
        skip();
    assert_int_equal(datagrams_find_dropped(), 0);
    assert_int_equal(datagrams_dropped(ends[1], &n_dropped), 0);
    assert_int_equal(n_dropped, 0);
    datagrams_split(&out, messages, count_up(messages, DATAGRAMS_MOST_SENT));
    assert_int_equal(datagrams_send(ends[0], &out, &n_bytes), DATAGRAMS_MOST_SENT);
    do {
        n_received += datagrams_receive(ends[1], &in, &n_bytes);
        assert_int_equal(datagrams_dropped(ends[1], &n_dropped), 0);
    } while (n_received + (int)n_dropped < DATAGRAMS_MOST_SENT);
    assert_true(n_dropped > 0);
    assert_int_equal(n_received + (int)n_dropped, DATAGRAMS_MOST_SENT);
}

static void a_datagram_that_nobody_receives_is_an_error_once(void **state)
{
    static const uint8_t message[] = {0, 1, 'a'};
    size_t n_bytes;

    (void)state;
    connect_udp();
    close(ends[1]);
    ends[1] = dup(ends[0]);
    datagrams_split(&out, message, sizeof message);
    assert_int_equal(datagrams_send(ends[0], &out, &n_bytes), 1);
    assert_int_equal(receive_some(ends[0]), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(datagrams_receive(ends[0], &in, &n_bytes), 0);
}

static void a_socket_that_is_none_has_no_count(void **state)
{
    uint32_t n_dropped;

    (void)state;
    assert_int_equal(datagrams_dropped(-1, &n_dropped), -1);
    assert_int_equal(errno, EBADF);
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
        TEST(each_message_has_room_of_its_own),
        TEST(what_is_stamped_tells_when_it_arrived),
        TEST(what_finds_no_room_is_counted_as_dropped),
        TEST(a_datagram_that_nobody_receives_is_an_error_once),
        TEST(a_socket_that_is_none_has_no_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
