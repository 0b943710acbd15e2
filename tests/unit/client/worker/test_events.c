/* SPDX-License-Identifier: MIT
 * test_events: a connection whose socket refuses data, although it is called writable. */
#undef _FORTIFY_SOURCE /* with it glibc defines recv() inline */

#include "client/worker/events.h"

#include "base/clock.h"
#include "conn_ops_steps.h"
#include "net/worker.h"
#include "stamp_steps.h"
#include "transport_steps.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { TURNS = 20, MANY = 30, ENDLESS = 1 << 16 };

#define S 1000000000ull

static int ends[2]; /* the connection's, its peer's */
static int n_sends, n_full_reads, watch_error;
static bool refuses, has_ended;
static size_t n_received;
static uint64_t arrived_ns; /* of the data received last */

/* As over net.ipv4.tcp_mem. */
ssize_t send(int fd, const void *data, size_t n_bytes, int flags)
{
    if (fd == ends[0])
        n_sends++;
    if (fd != ends[0] || !refuses)
        return syscall(SYS_sendto, fd, data, n_bytes, flags, NULL, 0);
    errno = EAGAIN;
    return -1;
}

/* Called by libevent. */
int epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
    if (watch_error == 0 || operation == EPOLL_CTL_DEL)
        return (int)syscall(SYS_epoll_ctl, epoll_fd, operation, fd, event);
    errno = watch_error;
    return -1;
}

/* Fills the first n_full_reads buffers. */
ssize_t recv(int fd, void *data, size_t n_bytes, int flags)
{
    if (fd != ends[0] || n_full_reads == 0)
        return syscall(SYS_recvfrom, fd, data, n_bytes, flags, NULL, NULL);
    n_full_reads--;
    memset(data, 0, n_bytes);
    return (ssize_t)n_bytes;
}

static void on_data(void *owner, struct client_conn *c, const uint8_t *data, size_t n_bytes,
                    uint64_t received_ns)
{
    (void)owner;
    (void)data;
    (void)received_ns;
    n_received += n_bytes;
    arrived_ns = transport.arrived_ns;
    has_ended |= n_bytes == 0;
    if (n_bytes == 0)
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_PEER}, 0);
}

static void turn(void)
{
    for (int i = 0; i < TURNS; i++)
        event_base_loop(transport.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* A connection that has three bytes to send, which its socket refuses. */
static int setup(void **state)
{
    static struct client_conn_ops ops;

    (void)state;
    ops = ignoring_ops;
    ops.data = on_data;
    has_ended = refuses = false;
    n_full_reads = watch_error = 0;
    n_received = 0;
    if (transport_begin(&ops, 1) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
        return -1;
    client_conn_begin(transport.conns, &transport);
    client_events_open(transport.conns, ends[0]);
    turn();
    refuses = true;
    assert_int_equal(client_conn_send(transport.conns, (const uint8_t *)"abc", 3), 0);
    assert_non_null(transport.conns->backlog);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    client_conn_close(transport.conns, (struct outcome){PHASE_RUN, REASON_FINISHED}, 0);
    close(ends[1]);
    transport_end();
    return 0;
}

static void peer_sends(const char *text)
{
    assert_int_equal(send(ends[1], text, strlen(text), 0), strlen(text));
}

static void a_refusal_is_not_repeated_endlessly(void **state)
{
    (void)state;
    n_sends = 0;
    turn();
    assert_in_range(n_sends, 0, 1);
}

static void what_was_refused_is_sent_once_there_is_room(void **state)
{
    char sent[8];

    (void)state;
    turn();
    refuses = false;
    peer_sends("."); /* as an acknowledgement would */
    turn();
    assert_null(transport.conns->backlog);
    assert_int_equal(recv(ends[1], sent, sizeof sent, 0), 3);
    assert_memory_equal(sent, "abc", 3);
    assert_int_equal(n_received, 1);
}

static void an_end_after_the_last_bytes_is_seen(void **state)
{
    (void)state;
    turn();
    peer_sends("answer");
    shutdown(ends[1], SHUT_WR);
    turn();
    assert_int_equal(n_received, 6);
    assert_true(has_ended);
}

static void more_than_one_callback_reads_is_read(void **state)
{
    (void)state;
    turn();
    n_full_reads = MANY;
    peer_sends(".");
    turn();
    assert_int_equal(n_received, MANY * (size_t)CLIENT_RECEIVE_BYTES + 1);
}

/* It is read while another connection is, whose data arrived at 1. */
static void the_rest_of_a_broken_connection_has_its_timestamp(void **state)
{
    const uint64_t begin_ns = clock_now_ns();

    (void)state;
    config.socket.stamp_received = true;
    transport.arrived_ns = 1;
    peer_sends("answer");
    client_events_broken(transport.conns, ECONNRESET);
    assert_int_equal(n_received, 6);
    assert_in_range(arrived_ns, begin_ns - S, begin_ns + 60 * S);
    assert_int_equal(transport.arrived_ns, 1);
}

/* Its socket lacks memory to send. */
static void a_broken_connection_that_never_stops_receiving_ends(void **state)
{
    (void)state;
    n_full_reads = ENDLESS;
    client_events_broken(transport.conns, ENOBUFS);
    assert_int_equal(transport.conns->state, CLIENT_CONN_ENDED);
    assert_in_range(n_full_reads, 1, ENDLESS);
    n_full_reads = 0;
}

static uint64_t n_ended(enum outcome_phase phase, enum outcome_reason reason)
{
    return tally_get(&figures.tally.connections.ended[phase][reason]);
}

static void reopen(int error)
{
    struct outcome outcome;

    client_conn_close(transport.conns, (struct outcome){PHASE_RUN, REASON_FINISHED}, 0);
    (void)client_conn_take_ended(&transport, &outcome);
    close(ends[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    watch_error = error;
    client_conn_begin(transport.conns, &transport);
    client_events_open(transport.conns, ends[0]);
}

static void limit_of_epoll_is_not_called_memory(void **state)
{
    (void)state;
    reopen(ENOSPC);
    assert_int_equal(n_ended(PHASE_RECEIVE, REASON_WATCHES), 1);
    assert_int_equal(n_ended(PHASE_RECEIVE, REASON_MEMORY), 0);
    reopen(ENOMEM);
    assert_int_equal(n_ended(PHASE_RECEIVE, REASON_MEMORY), 1);
}

/* --- the next connection of the slot --- */

/* Returns the end of its peer. */
static int open_next(struct client_conn *c)
{
    struct outcome outcome;
    int next[2];

    client_conn_close(c, (struct outcome){PHASE_RUN, REASON_FINISHED}, 0);
    assert_ptr_equal(client_conn_take_ended(&transport, &outcome), c);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, next), 0);
    client_conn_begin(c, &transport);
    client_events_open(c, next[0]);
    return next[1];
}

/* SYNs of connections that failed have been counted, too. */
static void a_record_keeps_the_retransmits_of_all_its_connections(void **state)
{
    struct client_record record = {.syn_retransmits = 3};
    int peer_fd;

    (void)state;
    figures.records = &record;
    peer_fd = open_next(transport.conns);
    figures.records = NULL;
    assert_true(record.established_ns > 0);
    assert_int_equal(record.syn_retransmits, 3);
    close(peer_fd);
}

/* Connecting ends with the last slot that is usable, or failed, for the first time. */
static void a_replacement_does_not_prolong_connecting(void **state)
{
    const uint64_t before_ns = figures.last_established_ns;

    (void)state;
    assert_true(before_ns > 0);
    transport.conns->settled = true;
    close(open_next(transport.conns));
    assert_int_equal(figures.last_established_ns, before_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_refusal_is_not_repeated_endlessly, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_refused_is_sent_once_there_is_room, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_end_after_the_last_bytes_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(more_than_one_callback_reads_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(the_rest_of_a_broken_connection_has_its_timestamp, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_broken_connection_that_never_stops_receiving_ends, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_record_keeps_the_retransmits_of_all_its_connections,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_replacement_does_not_prolong_connecting, setup, teardown),
        cmocka_unit_test_setup_teardown(limit_of_epoll_is_not_called_memory, setup, teardown),
    };

    worker_take_messages();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
