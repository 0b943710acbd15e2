/* SPDX-License-Identifier: MIT
 * calls_datagram: the datagrams that pass through a UDP socket.  In the simulated network they
 * begin with their length, as messages on a connection do: it is added and removed here. */
#undef _FORTIFY_SOURCE /* with it glibc defines some of these inline */

#include "call.h"
#include "calls_data.h"
#include "descriptor.h"
#include "drive.h"
#include "fiber.h"
#include "ledger.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LENGTH_BYTES = 2, MOST_MESSAGE_BYTES = 65535, MOST_MESSAGES = 64 };

static uint32_t begin(const char *what, int fd, bool is_send)
{
    int64_t i;

    call_begin();
    i = call_tcp(fd);
    LAW(i >= 0 && tcp_at((uint32_t)i)->is_datagram, "%s(%d): no UDP socket", what, fd);
    if (is_send)
        ledger_on_write((uint32_t)i);
    else
        ledger_on_turn();
    return (uint32_t)i;
}

static int fault(uint64_t permille)
{
    static const int errnos[] = {ECONNREFUSED, ECONNREFUSED, ENOBUFS, ENOMEM, EPERM};
    static const int again[] = {EAGAIN, EINTR};
    const int error = CALL_FAULT(world.scenario.again_permille, again);

    return error != 0 ? error : CALL_FAULT(permille, errnos);
}

/* An event that would reset a connection is an ICMP message here, which the next call reports
 * first. */
static int64_t pending_error(uint32_t i)
{
    const int error = tcp_take_error(i);

    return error == ECONNRESET ? -ECONNREFUSED : -error;
}

/* --- sending --- */

/* Returns 1, or -errno. */
static int64_t send_one(uint32_t i, const struct msghdr *message)
{
    static uint8_t with_length[LENGTH_BYTES + MOST_MESSAGE_BYTES];
    const struct iovec *part = message->msg_iov;
    const size_t n_bytes = LENGTH_BYTES + part->iov_len;
    const int error = fault(world.scenario.send_permille);
    int64_t n = -error;

    LAW(message->msg_iovlen == 1 && part->iov_len <= MOST_MESSAGE_BYTES &&
            message->msg_name == NULL,
        "not simulated: sendmmsg() of this");
    with_length[0] = (uint8_t)(part->iov_len >> 8);
    with_length[1] = (uint8_t)part->iov_len;
    memcpy(with_length + LENGTH_BYTES, part->iov_base, part->iov_len);
    if (n == 0)
        n = pending_error(i);
    if (n == 0 && tcp_room(i) < n_bytes)
        n = -EAGAIN;
    if (n == 0)
        n = tcp_send(i, with_length, n_bytes);
    if (n < 0)
        return n;
    LAW(n == (int64_t)n_bytes, "a datagram is cut off");
    tcp_figures.bytes_sent -= LENGTH_BYTES;
    world_trace_bytes(with_length, n_bytes);
    return 1;
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
    int64_t result = 1;
    unsigned k = 0;
    uint32_t i;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_sendmmsg, fd, messages, n, flags);
    i = begin("sendmmsg", fd, true);
    LAW(flags == MSG_NOSIGNAL && n > 0, "sendmmsg(%d): %u, flags %x", fd, n, flags);
    while (k < n && result > 0) {
        result = send_one(i, &messages[k].msg_hdr);
        k += result > 0;
    }
    tcp_at(i)->was_short = k < n;
    if (k < n)
        tcp_at(i)->was_full = true;
    if (k > 0)
        result = k;
    calls_data_note(i, result, true);
    return (int)call_return("sendmmsg", fd, result);
}

/* --- receiving --- */

static size_t length_of(const uint8_t *message)
{
    return (size_t)message[0] << 8 | message[1];
}

/* Takes the next datagram from the network.  Returns its number of bytes, with the length field, or
 * -errno. */
static int64_t take_one(uint32_t i, uint8_t *message)
{
    int64_t n = pending_error(i);

    if (n == 0)
        n = tcp_receive(i, message, LENGTH_BYTES);
    if (n < 0)
        return n;
    LAW(n == LENGTH_BYTES && (length_of(message) == 0 ||
                              tcp_receive(i, message + LENGTH_BYTES, length_of(message)) ==
                                  (ssize_t)length_of(message)),
        "a datagram arrives in parts");
    tcp_figures.bytes_received -= LENGTH_BYTES;
    return LENGTH_BYTES + (int64_t)length_of(message);
}

/* Copies as much of the datagram as there is room for.  Returns the number of bytes. */
static size_t copy(void *data, size_t room, const uint8_t *message)
{
    const size_t n_bytes = length_of(message) < room ? length_of(message) : room;

    memcpy(data, message + LENGTH_BYTES, n_bytes);
    return n_bytes;
}

/* Receives up to n datagrams and copies them, with their lengths, to `all`. Returns how many, or
 * -errno. */
static int64_t receive(uint32_t i, struct mmsghdr *messages, unsigned n, uint64_t arrived_ns,
                       uint8_t *all, size_t *n_all)
{
    int64_t result = 0;
    unsigned k = 0;

    for (*n_all = 0; k < n; k++) {
        struct msghdr *m = &messages[k].msg_hdr;

        result = take_one(i, all + *n_all);
        if (result < 0)
            break;
        copy(m->msg_iov->iov_base, m->msg_iov->iov_len, all + *n_all);
        messages[k].msg_len = (unsigned)result - LENGTH_BYTES;
        if (m->msg_control != NULL)
            calls_data_put_stamp(m, arrived_ns);
        *n_all += (size_t)result;
    }
    return k > 0 ? k : result;
}

/* The datagrams that the product has read, with their lengths; result: that of the call. */
static void note_read(uint32_t i, const uint8_t *all, size_t n_all, uint64_t arrived_ns,
                      int64_t result)
{
    calls_data_note(i, result, false);
    fiber_read_from[fiber_current()] = i;
    if (n_all == 0)
        return;
    world_trace_bytes(all, n_all);
    ledger_on_received(i, all, n_all, arrived_ns, drive_is_drained(fiber_current()));
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout)
{
    static uint8_t all[MOST_MESSAGES * (LENGTH_BYTES + MOST_MESSAGE_BYTES)];
    uint64_t arrived_ns = 0;
    int64_t result;
    size_t n_all = 0;
    uint32_t i;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_recvmmsg, fd, messages, n, flags, timeout);
    i = begin("recvmmsg", fd, false);
    LAW(flags == MSG_TRUNC && timeout == NULL && n <= MOST_MESSAGES, "not simulated: recvmmsg(%d)",
        fd);
    if (messages->msg_hdr.msg_control != NULL)
        arrived_ns = tcp_at(i)->arrived_ns;
    result = -fault(world.scenario.receive_permille);
    if (result == 0)
        result = receive(i, messages, n, arrived_ns, all, &n_all);
    note_read(i, all, n_all, arrived_ns, result);
    return (int)call_return("recvmmsg", fd, result);
}

ssize_t calls_datagram_receive(int fd, void *data, size_t n_bytes, int flags, uint64_t *arrived_ns)
{
    static uint8_t message[LENGTH_BYTES + MOST_MESSAGE_BYTES];
    const char *what = arrived_ns != NULL ? "recvmsg" : "recv";
    const uint32_t i = begin(what, fd, false);
    const uint64_t stamp_ns = arrived_ns != NULL ? tcp_at(i)->arrived_ns : 0;
    int64_t result = -fault(world.scenario.receive_permille);

    if (result == 0)
        result = take_one(i, message);
    if (arrived_ns != NULL)
        *arrived_ns = result > 0 ? stamp_ns : 0;
    note_read(i, message, result > 0 ? (size_t)result : 0, stamp_ns, result);
    if (result < 0)
        return (ssize_t)call_return(what, fd, result);
    n_bytes = copy(data, n_bytes, message);
    return (ssize_t)call_return(what, fd,
                                flags & MSG_TRUNC ? result - LENGTH_BYTES : (int64_t)n_bytes);
}
