/* SPDX-License-Identifier: MIT
 * test_control_connections: connections are limited, and only those that do not ask are closed.
 */
#include "net/control_connections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 16, NOFILE = 8 * MOST };

struct pairs {
    struct control_connections c;
    int fds[MOST][2]; /* this end and the peer's */
};

static void open_pair(struct pairs *p, unsigned i, uint64_t now_ns)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p->fds[i]), 0);
    assert_true(control_connections_make_room(&p->c, now_ns));
    control_connections_add(&p->c, p->fds[i], p->fds[i][0], now_ns);
}

/* Opens the maximum number, one per nanosecond. */
static void open_all(struct pairs *p)
{
    control_connections_init(&p->c, NOFILE);
    for (unsigned i = 0; i < MOST; i++)
        open_pair(p, i, i);
}

static void close_all(const struct pairs *p)
{
    for (unsigned i = 0; i < MOST; i++) {
        close(p->fds[i][0]);
        close(p->fds[i][1]);
    }
}

static bool is_shut_down(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static unsigned n_shut_down(const struct pairs *p)
{
    unsigned n = 0;

    for (unsigned i = 0; i < MOST; i++)
        n += is_shut_down(p->fds[i][0]);
    return n;
}

static void new_connections_are_not_shut_down(void **state)
{
    struct pairs p;

    (void)state;
    open_all(&p);
    assert_false(control_connections_make_room(&p.c, CONTROL_CONNECTIONS_GRACE_NS - 1));
    assert_int_equal(n_shut_down(&p), 0);
    close_all(&p);
}

static void the_oldest_are_shut_down_after_their_grace(void **state)
{
    struct pairs p;

    (void)state;
    open_all(&p);
    assert_false(control_connections_make_room(&p.c, CONTROL_CONNECTIONS_GRACE_NS));
    assert_int_equal(n_shut_down(&p), 1);
    assert_true(is_shut_down(p.fds[0][0]));
    assert_false(control_connections_make_room(&p.c, 2 * CONTROL_CONNECTIONS_GRACE_NS));
    assert_int_equal(n_shut_down(&p), 2);
    close(p.fds[0][0]); /* the owner closes it */
    assert_true(control_connections_make_room(&p.c, 2 * CONTROL_CONNECTIONS_GRACE_NS));
    close_all(&p);
}

static void a_connection_with_an_unread_request_is_never_shut_down(void **state)
{
    struct pairs p;

    (void)state;
    open_all(&p);
    assert_int_equal(send(p.fds[0][1], "G", 1, 0), 1);
    assert_false(control_connections_make_room(&p.c, 100 * CONTROL_CONNECTIONS_GRACE_NS));
    assert_int_equal(recv(p.fds[0][0], (char[1]){0}, 1, MSG_DONTWAIT), 1);
    assert_false(is_shut_down(p.fds[0][0]));
    assert_true(is_shut_down(p.fds[1][0])); /* the control: these have sent nothing */
    assert_true(is_shut_down(p.fds[2][0]));
    close_all(&p);
}

static void a_half_read_request_has_its_own_time(void **state)
{
    const uint64_t begun_ns = 10 * CONTROL_CONNECTIONS_GRACE_NS;
    struct pairs p;

    (void)state;
    open_all(&p);
    for (unsigned i = 0; i < MOST; i++)
        control_connections_received(&p.c, p.fds[i], begun_ns);
    control_connections_received(&p.c, p.fds[0], 2 * begun_ns); /* from the first byte on */
    assert_false(
        control_connections_make_room(&p.c, begun_ns + CONTROL_CONNECTIONS_REQUEST_NS - 1));
    assert_int_equal(n_shut_down(&p), 0);
    assert_false(control_connections_make_room(&p.c, begun_ns + CONTROL_CONNECTIONS_REQUEST_NS));
    assert_int_equal(n_shut_down(&p), MOST / 8);
    assert_true(is_shut_down(p.fds[0][0]));
    close_all(&p);
}

static void a_connection_that_is_being_answered_is_never_shut_down(void **state)
{
    struct pairs p;

    (void)state;
    open_all(&p);
    for (unsigned i = 0; i < MOST; i++)
        control_connections_received(&p.c, p.fds[i], i);
    for (unsigned i = 0; i + 1 < MOST; i++)
        control_connections_answers(&p.c, p.fds[i]);
    assert_false(control_connections_make_room(&p.c, 100 * CONTROL_CONNECTIONS_REQUEST_NS));
    assert_int_equal(n_shut_down(&p), 1);
    assert_true(is_shut_down(p.fds[MOST - 1][0]));
    close_all(&p);
}

static void an_id_in_use_again_is_that_of_the_newest(void **state)
{
    struct pairs p;

    (void)state;
    open_all(&p);
    close(p.fds[0][0]);
    close(p.fds[0][1]);
    open_pair(&p, 0, MOST); /* no room: the first is forgotten, and its id used again */
    control_connections_answers(&p.c, p.fds[0]);
    assert_int_equal(p.c.n, MOST);
    assert_true(p.c.list[MOST - 1].answers);
    p.c.list[0].id = p.fds[0]; /* as if it had ended unnoticed */
    control_connections_received(&p.c, p.fds[0], MOST);
    assert_int_equal(p.c.list[0].received_ns, 0);
    assert_int_equal(p.c.list[MOST - 1].received_ns, MOST);
    close_all(&p);
}

static void an_ended_connection_makes_room_even_if_its_descriptor_is_reused(void **state)
{
    struct pairs p;
    int fd;

    (void)state;
    open_all(&p);
    close(p.fds[3][0]);
    fd = dup(STDERR_FILENO);
    assert_int_equal(fd, p.fds[3][0]);
    assert_true(control_connections_make_room(&p.c, MOST));
    assert_int_equal(p.c.n, MOST - 1);
    close_all(&p);
}

static void most_is_a_part_of_the_descriptors(void **state)
{
    static const struct {
        uint64_t nofile;
        unsigned most;
    } rows[] = {{0, 8}, {100, 12}, {1024, 128}, {20000, 256}, {UINT64_MAX, 256}};
    struct control_connections c;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        control_connections_init(&c, rows[i].nofile);
        assert_int_equal(c.most, rows[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_connections_are_not_shut_down),
        cmocka_unit_test(the_oldest_are_shut_down_after_their_grace),
        cmocka_unit_test(a_connection_with_an_unread_request_is_never_shut_down),
        cmocka_unit_test(a_half_read_request_has_its_own_time),
        cmocka_unit_test(a_connection_that_is_being_answered_is_never_shut_down),
        cmocka_unit_test(an_id_in_use_again_is_that_of_the_newest),
        cmocka_unit_test(an_ended_connection_makes_room_even_if_its_descriptor_is_reused),
        cmocka_unit_test(most_is_a_part_of_the_descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
