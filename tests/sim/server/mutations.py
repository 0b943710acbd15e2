#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hand-made bugs of tcpserver; the commands are those of ../mutations.py."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from mutations import main  # noqa: E402

# name: file, what is replaced, by what
MUTATIONS = {
    "rest_sent_from_its_start": (
        "src/server/io.c",
        "keep_unsent(c, fd, data + n, n_bytes - (size_t)n);",
        "keep_unsent(c, fd, data, n_bytes - (size_t)n);",
    ),
    "held_bytes_sent_again": (
        "src/server/io.c",
        "    held->n_sent += (uint32_t)n;\n",
        "    held->n_sent = (uint32_t)n;\n",
    ),
    "held_bytes_leak": (
        "src/server/conn.c",
        "    free(c->held);\n",
        "",
    ),
    "not_read_after_the_pause": (
        "src/server/io.c",
        "    error = server_io_watch(c, fd);\n",
        "    error = n == 0 ? server_io_watch(c, fd) : 0;\n",
    ),
    "reads_while_it_holds": (
        "src/server/io.c",
        "    error = watch(c, fd, EV_WRITE | EV_ET, on_writable);",
        "    error = watch(c, fd, EV_READ | EV_WRITE, on_writable);",
    ),
    "forgets_a_byte_it_held": (
        "src/server/io.c",
        "    memcpy(c->held->data, data, n_bytes);",
        "    memcpy(c->held->data, data, n_bytes - 1);",
    ),
    "never_accepts_again": (
        "src/server/accept.c",
        "        a->paused = false;\n        event_del(&a->timer_event);\n        watch_listeners(a);\n    }\n}\n\nint server",
        "        a->paused = false;\n        event_del(&a->timer_event);\n    }\n}\n\nint server",
    ),
    "no_idle_timeout_while_sending": (
        "src/server/io.c",
        "fd, what, callback, c->conns->idle_timeout);",
        "fd, what, callback, what & EV_WRITE ? NULL : c->conns->idle_timeout);",
    ),
    "closes_idle_ones_without_a_look": (
        "src/server/io.c",
        "    n = receive(c, fd);\n    /* after a stall",
        "    n = what & EV_READ ? receive(c, fd) : 0;\n    /* after a stall",
    ),
    "leaves_unread_bytes_to_the_kernel": (
        "src/server/io.c",
        "    if (c->held != NULL || sock_has_unacknowledged(fd))\n        sock_reset_on_close(fd);\n",
        "    if (c->held != NULL)\n        sock_reset_on_close(fd);\n",
    ),
    "resets_nothing": (
        "src/net/sock.c",
        "{.l_onoff = 1, .l_linger = 0}",
        "{.l_onoff = 0, .l_linger = 0}",
    ),
    "accepts_blocking_sockets": (
        "src/server/spare.c",
        "&peer->length,\n                   SOCK_NONBLOCK | SOCK_CLOEXEC);",
        "&peer->length,\n                   SOCK_CLOEXEC);",
    ),
    "resets_all_idle_ones": (
        "src/server/io.c",
        "    if (c->held != NULL || sock_has_unacknowledged(fd))\n        sock_reset_on_close(fd);\n",
        "    sock_reset_on_close(fd);\n",
    ),
    "interrupted_read_closes": (
        "src/server/io.c",
        "        if (errno != EAGAIN && errno != EINTR)\n            close_failed(c, phase_of(c), errno);",
        "        if (errno != EAGAIN)\n            close_failed(c, phase_of(c), errno);",
    ),
    "event_kept_after_close": (
        "src/server/conn.c",
        "    poller_stop(&c->conns->poller, &c->socket);\n    close(c->socket.fd);\n",
        "    close(c->socket.fd);\n",
    ),
    "peak_one_too_low": (
        "src/server/active.c",
        "    return n + 1;\n",
        "    return n > 0 ? n : 1;\n",
    ),
    "limit_off_by_one": (
        "src/server/active.c",
        "        if (n >= most)\n",
        "        if (n > most)\n",
    ),
    "reset_called_closed_by_peer": (
        "src/server/io.c",
        "    if (n == 0) {\n",
        "    if (n == 0 || (n < 0 && errno == ECONNRESET)) {\n",
    ),
    "begun_ping_forgotten": (
        "src/server/io.c",
        "        size_t n_replies = query_ping_answer(",
        "        c->ping_matched &= 1;\n        size_t n_replies = query_ping_answer(",
    ),
    "refused_socket_leaks": (
        "src/server/admission.c",
        "    sock_reset_on_close(fd);\n    close(fd);\n",
        "    sock_reset_on_close(fd);\n    if (why != SERVER_REFUSED_SOURCE)\n        close(fd);\n",
    ),
    "pause_never_ends": (
        "src/server/accept.c",
        "    a->paused = true;\n    set_timer(a, ns);\n",
        "    a->paused = true;\n    set_timer(a, ns + 3600000000000);\n",
    ),
    "limit_of_epoll_called_memory": (
        "src/server/admission.c",
        "    refuse(conns, fd, server_refusal_of_errno(error));\n",
        "    refuse(conns, fd, SERVER_REFUSED_MEMORY);\n",
    ),
    "spare_fd_lost_for_good": (
        "src/server/spare.c",
        "    if (s->fd < 0)\n        reserve(s);\n",
        "    errno = 0;\n",
    ),
    "full_worker_still_counts_as_helper": (
        "src/server/accept.c",
        "        server_overflow_leave(&a->config->overflow);\n",
        "        (void)a;\n",
    ),
    "refuses_though_others_have_room": (
        "src/server/accept.c",
        "!server_overflow_call_helper(&a->config->overflow) && a->listener_fd >= 0;",
        "a->listener_fd >= 0;",
    ),
    "listener_offered_for_good": (
        "src/server/accept.c",
        "    server_overflow_withdraw(&a->config->overflow, a->listener_fd);\n",
        "",
    ),
    "source_counted_for_good": (
        "src/server/conn.c",
        "        source_limit_leave(limit, c->source_entry);\n",
        "        (void)limit;\n",
    ),
    "header_never_late": (
        "src/server/header.c",
        "    else if ((what & EV_READ) == 0)\n        server_conn_refuse(c, SERVER_REFUSED_HEADER_LATE);\n",
        "    else if ((what & EV_WRITE) != 0)\n        server_conn_refuse(c, SERVER_REFUSED_HEADER_LATE);\n",
    ),
    "refuses_late_headers_without_a_look": (
        "src/server/header.c",
        "    n = recv(s->fd, c->conns->buffer, SERVER_BUFFER_BYTES, 0);\n",
        "    errno = EAGAIN;\n    n = what & EV_READ ? recv(s->fd, c->conns->buffer, SERVER_BUFFER_BYTES, 0) : -1;\n",
    ),
    "payload_behind_the_header_lost": (
        "src/server/header.c",
        "    if (c->open && rest->n_bytes > 0)\n",
        "    if (c->open && rest->n_bytes > 1)\n",
    ),
    "source_of_the_proxy_counted": (
        "src/server/header.c",
        "identity->address.family != AF_UNSPEC ? identity : peer",
        "identity->address.family == AF_INET6 ? identity : peer",
    ),
    "refused_header_still_counts_as_active": (
        "src/server/conn.c",
        "    release(c);\n    server_conn_drop(c);\n    server_active_leave(conns->config);\n    conns->ended",
        "    release(c);\n    server_conn_drop(c);\n    conns->ended",
    ),
    "moved_subscriber_not_told": (
        "src/server/push.c",
        "    p->subscribers[c->subscriber].conn->subscriber = c->subscriber;\n",
        "",
    ),
    "dropped_message_not_missing": (
        "src/server/push.c",
        "        tally_add(&conns->tally.push_dropped, n - n_taken);\n",
        "        tally_add(&conns->tally.push_dropped, n - n_taken);\n        s->sequence -= n - n_taken;\n",
    ),
    "greeting_dropped": (
        "src/server/push.c",
        "    server_io_send_all(c, p->out, PUSH_MIN_BYTES);\n",
        "    server_io_send(c, p->out, 1, PUSH_MIN_BYTES);\n",
    ),
    "new_worker_never_wanted": (
        "src/server/overflow.c",
        "    if (write(o->wanted_fd, &one, sizeof one) < 0)\n        assert(errno == EAGAIN);\n",
        "    (void)one;\n",
    ),
    "turn_never_passed": (
        "src/server/accept.c",
        "    if (a->has_turn)\n        server_overflow_pass_turn(&a->config->overflow);\n    a->has_turn = false;",
        "    a->has_turn = false;",
    ),
    "all_watch_the_full_ones": (
        "src/server/overflow.c",
        "    return read(o->turn_fd, &turn, sizeof turn) == sizeof turn;",
        "    return read(o->turn_fd, &turn, sizeof turn) != 0;",
    ),
    "tls_leaks": (
        "src/server/conn.c",
        "    free(c->held);\n    tls_free(c->tls);\n",
        "    free(c->held);\n",
    ),
    "ends_of_handshakes_called_receive": (
        "src/server/io.c",
        "    return c->conns->config->tls == NULL || is_secured(c) ? PHASE_RECEIVE : PHASE_TLS;",
        "    return c->conns->config->tls == NULL || c->tls == NULL || is_secured(c) ? PHASE_RECEIVE : PHASE_TLS;",
    ),
    "records_sent_again": (
        "src/server/io.c",
        "    const size_t n_bytes = tls->n_out;\n\n    tls->n_out = 0;\n",
        "    const size_t n_bytes = tls->n_out;\n\n",
    ),
    "failure_counted_as_lack_of_memory": (
        "src/server/io.c",
        "server_conn_close(c, (struct outcome){phase, conns->tls.reason});",
        "server_conn_close(c, c->held != NULL ? (struct outcome){PHASE_SEND, REASON_MEMORY} : (struct outcome){phase, conns->tls.reason});",
    ),
    "output_of_tls_left_to_the_next_one": (
        "src/server/io.c",
        "    if (c->open && c->held == NULL)\n        transmit_sealed(c, fd);\n    if",
        "    if (c->open && c->held == NULL && n_plain == 0)\n        transmit_sealed(c, fd);\n    if",
    ),
    "ends_without_close_notify": (
        "src/server/io.c",
        "        tls_end(c->tls);\n",
        "",
    ),
    "closes_idle_ones_without_close_notify": (
        "src/server/conn.c",
        "    if (c->open)\n        send_close_notify(c);\n    server_conn_close",
        "    server_conn_close",
    ),
    "ends_the_last_ones_without_close_notify": (
        "src/server/conn.c",
        "    send_close_notify(c);\n    release(c);\n}\n\nvoid server_conns_free",
        "    release(c);\n}\n\nvoid server_conns_free",
    ),
    "close_notify_not_counted": (
        "src/server/conn.c",
        "n > 0 ? (uint64_t)n : 0);",
        "n > 1 ? 1 : 0);",
    ),
    "close_notify_not_taken_as_the_end": (
        "src/server/io.c",
        "    else if (c->open && status == TLS_CLOSED && c->held == NULL)\n        close_politely(c, fd);\n",
        "",
    ),
    "resumption_not_counted": (
        "src/server/io.c",
        "        tally_add(&conns->tally.resumed, tls_is_resumed(c->tls));\n",
        "",
    ),
}

if __name__ == "__main__":
    main(MUTATIONS, "sim_server")
