/* SPDX-License-Identifier: MIT
 * calls_data: the bytes that pass through a socket, and read(2) and write(2) of an eventfd. */
#undef _GNU_SOURCE /* as in calls_socket.c */
#define _DEFAULT_SOURCE
#undef _FORTIFY_SOURCE

#include "calls_data.h"

#include "call.h"
#include "descriptor.h"
#include "drive.h"
#include "fiber.h"
#include "ledger.h"
#include "readiness.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { UNSTAMPED_PERMILLE = 50, MOST_MESSAGE_BYTES = 140000 };

void calls_data_note(uint32_t i, int64_t result, bool is_send)
{
    const uint64_t before_ns = tcp_at(i)->last.at_ns;

    if (tcp_at(i)->tls.is_ended) /* close_notify: whether it is sent or not has no consequence */
        return;
    tcp_at(i)->last = (struct tcp_call){.at_ns = world.now_ns,
                                        .result = (int32_t)result,
                                        .is_send = is_send,
                                        .n_refusals = fiber_n_refusals[fiber_current()]};
    if (result == -EAGAIN || result == -EINTR)
        tcp_at(i)->last.at_ns = before_ns;
}

/* --- sending --- */

static size_t shortened(size_t n_bytes)
{
    if (n_bytes < 2 || !world_chance(world.scenario.short_permille))
        return n_bytes;
    world.n_faults++;
    return 1 + (size_t)world_up_to(n_bytes - 2);
}

ssize_t send(int fd, const void *data, size_t n_bytes, int flags)
{
    static const int errnos[] = {ECONNRESET, EPIPE, ENOBUFS, ENOMEM, ETIMEDOUT};
    static const int again[] = {EAGAIN, EINTR};
    int64_t i, n;
    int error;

    if (!descriptor_is_simulated(fd))
        return syscall(SYS_sendto, fd, data, n_bytes, flags, NULL, 0);
    call_begin();
    i = call_tcp(fd);
    LAW(i >= 0, "send(%d): no socket", fd);
    LAW((flags & ~MSG_MORE) == MSG_NOSIGNAL && n_bytes > 0, "send(%d): %zu bytes, flags %x", fd,
        n_bytes, flags);
    ledger_on_turn();
    error = CALL_FAULT(world.scenario.again_permille, again);
    if (error == 0)
        error = CALL_FAULT(world.scenario.send_permille, errnos);
    n = error != 0 ? -error : tcp_send((uint32_t)i, data, shortened(n_bytes));
    tcp_at((uint32_t)i)->was_short = n < (int64_t)n_bytes;
    if (n < (int64_t)n_bytes) {
        tcp_at((uint32_t)i)->was_full = true;
        readiness_changed(fd); /* after a fault it has room again at once */
    }
    if (n > 0)
        world_trace_bytes(data, (size_t)n);
    calls_data_note((uint32_t)i, n, true);
    return (ssize_t)call_return("send", fd, n);
}

/* Only for a small message. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    uint8_t all[MOST_MESSAGE_BYTES];
    size_t n = 0;

    if (!descriptor_is_simulated(fd))
        return syscall(SYS_sendmsg, fd, message, flags);
    for (size_t k = 0; k < message->msg_iovlen; k++) {
        const struct iovec *part = &message->msg_iov[k];

        LAW(n + part->iov_len <= sizeof all, "not simulated: sendmsg(%d) of so much", fd);
        memcpy(all + n, part->iov_base, part->iov_len);
        n += part->iov_len;
    }
    return send(fd, all, n, flags);
}

/* --- receiving --- */

/* arrived_ns: when the data that it returns arrived; the product gets this time. */
static ssize_t receive(const char *what, int fd, void *data, size_t n_bytes, uint64_t *arrived_ns)
{
    static const int errnos[] = {ECONNRESET, ETIMEDOUT, EHOSTUNREACH, ENOMEM};
    static const int again[] = {EAGAIN, EINTR};
    int64_t i, n;
    int error;

    call_begin();
    i = call_tcp(fd);
    LAW(i >= 0, "recv(%d): no socket", fd);
    ledger_on_turn();
    error = CALL_FAULT(world.scenario.again_permille, again);
    if (error == 0)
        error = CALL_FAULT(world.scenario.receive_permille, errnos);
    tcp_at((uint32_t)i)->looked_ns = world.now_ns;
    n = error != 0 ? -error : tcp_receive((uint32_t)i, data, shortened(n_bytes));
    if (error != 0)
        readiness_changed(fd); /* after a fault there is as much to read as before */
    calls_data_note((uint32_t)i, n, false);
    if (arrived_ns != NULL)
        *arrived_ns =
            n > 0 && !world_chance(UNSTAMPED_PERMILLE) ? tcp_at((uint32_t)i)->arrived_ns : 0;
    if (n == 0 || n == -ECONNRESET)
        ledger_on_end((uint32_t)i);
    if (n > 0)
        world_trace_bytes(data, (size_t)n);
    fiber_read_from[fiber_current()] = (uint32_t)i;
    if (n > 0)
        ledger_on_received((uint32_t)i, data, (size_t)n, arrived_ns != NULL ? *arrived_ns : 0,
                           drive_is_drained(fiber_current()));
    return (ssize_t)call_return(what, fd, n);
}

/* Returns whether there is data to read; without faults. */
static ssize_t peek(int fd, size_t n_bytes)
{
    int64_t i;

    LAW(n_bytes == 1, "not simulated: a look at %zu bytes", n_bytes);
    call_begin();
    i = call_tcp(fd);
    LAW(i >= 0, "recv(%d): no socket", fd);
    return (ssize_t)call_return("peek", fd, tcp_peek((uint32_t)i));
}

ssize_t recv(int fd, void *data, size_t n_bytes, int flags)
{
    if (!descriptor_is_simulated(fd))
        return syscall(SYS_recvfrom, fd, data, n_bytes, flags, NULL, NULL);
    if (flags == MSG_PEEK)
        return peek(fd, n_bytes);
    if (call_tcp(fd) >= 0 && tcp_at((uint32_t)call_tcp(fd))->is_datagram)
        return calls_datagram_receive(fd, data, n_bytes, flags, NULL);
    LAW(flags == 0, "not simulated: recv flags %x", flags);
    return receive("recv", fd, data, n_bytes, NULL);
}

void calls_data_put_stamp(struct msghdr *message, uint64_t arrived_ns)
{
    const uint64_t epoch_ns = WORLD_EPOCH_NS + arrived_ns;
    struct scm_timestamping stamps = {
        .ts[0] = {(time_t)(epoch_ns / 1000000000), (long)(epoch_ns % 1000000000)}};
    struct cmsghdr *c = CMSG_FIRSTHDR(message);

    message->msg_controllen = 0;
    if (arrived_ns == 0)
        return;
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SO_TIMESTAMPING;
    c->cmsg_len = CMSG_LEN(sizeof stamps);
    memcpy(CMSG_DATA(c), &stamps, sizeof stamps);
    message->msg_controllen = CMSG_SPACE(sizeof stamps);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    uint64_t arrived_ns;
    ssize_t n;

    if (!descriptor_is_simulated(fd))
        return syscall(SYS_recvmsg, fd, message, flags);
    LAW(message->msg_iovlen == 1, "not simulated: recvmsg(%d)", fd);
    if (call_tcp(fd) >= 0 && tcp_at((uint32_t)call_tcp(fd))->is_datagram) {
        n = calls_datagram_receive(fd, message->msg_iov->iov_base, message->msg_iov->iov_len, flags,
                                   &arrived_ns);
    } else {
        LAW(flags == 0, "not simulated: recvmsg flags %x", flags);
        n = receive("recvmsg", fd, message->msg_iov->iov_base, message->msg_iov->iov_len,
                    &arrived_ns);
    }
    calls_data_put_stamp(message, arrived_ns);
    return n;
}

int shutdown(int fd, int how)
{
    int64_t i;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_shutdown, fd, how);
    call_begin();
    i = call_tcp(fd);
    LAW(i >= 0 && how == SHUT_WR, "not simulated: shutdown(%d)", fd);
    tcp_shutdown((uint32_t)i);
    return (int)call_return("shutdown", fd, 0);
}

/* --- read(2), write(2): of eventfds --- */

static bool is_event(const struct descriptor *d)
{
    return d != NULL && (d->kind == DESCRIPTOR_EVENT || d->kind == DESCRIPTOR_SEMAPHORE);
}

ssize_t read(int fd, void *data, size_t n_bytes)
{
    struct descriptor *d;
    uint64_t n;

    if (!descriptor_is_simulated(fd))
        return syscall(SYS_read, fd, data, n_bytes);
    call_begin();
    d = descriptor_of(fd);
    LAW(is_event(d) && n_bytes == sizeof n, "not simulated: read(%d)", fd);
    if (d->count == 0)
        return (ssize_t)call_return("read", fd, -EAGAIN);
    n = d->kind == DESCRIPTOR_SEMAPHORE ? 1 : d->count;
    memcpy(data, &n, sizeof n);
    d->count -= n;
    return (ssize_t)call_return("read", fd, (int64_t)n_bytes);
}

ssize_t write(int fd, const void *data, size_t n_bytes)
{
    struct descriptor *d;
    uint64_t more;

    if (!descriptor_is_simulated(fd))
        return syscall(SYS_write, fd, data, n_bytes);
    call_begin();
    d = descriptor_of(fd);
    LAW(is_event(d) && n_bytes == sizeof more, "not simulated: write(%d)", fd);
    memcpy(&more, data, sizeof more);
    d->count += more;
    readiness_changed(fd);
    if (d->watcher < 0) /* the main thread's */
        fiber_wake(0);
    return (ssize_t)call_return("write", fd, (int64_t)n_bytes);
}
