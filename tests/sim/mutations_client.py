# SPDX-License-Identifier: MIT
"""Hand-made bugs of tcpclient, but for those of classes (mutations_classes.py)."""

# name: file, what is replaced, by what
MUTATIONS = {
    "answer_counted_twice": (
        "src/client/worker/answer.c",
        "    client_query_count(qs, q, TALLY_OF(answered));",
        "    client_query_count(qs, q, TALLY_OF(answered));\n    client_query_count(qs, q, TALLY_OF(answered));",
    ),
    "response_from_sent": (
        "src/client/worker/answer.c",
        "hist_record(&metrics[CLIENT_RESPONSE], received_ns - q->intended_ns);",
        "hist_record(&metrics[CLIENT_RESPONSE], received_ns - q->sent_ns);",
    ),
    "datagram_sent_again": (
        "src/client/worker/udp.c",
        "n_taken += n_sent_bytes + (size_t)n_sent * DATAGRAMS_LENGTH_BYTES;",
        "n_taken += n_sent_bytes;",
    ),
    "datagrams_behind_the_first_forgotten": (
        "src/client/worker/udp.c",
        "pass_all(c, (unsigned)n);",
        "pass_all(c, 1);",
    ),
    "waiting_for_a_connection_hides_the_own_delay": (
        "src/client/worker/answer.c",
        "(uint64_t)q->late_us * 1000",
        "0",
    ),
    "waiting_for_the_connect_rate_is_not_the_own_delay": (
        "src/client/worker/demand.c",
        "    if (!client_hold_is_kept(hold))",
        "    if (client_hold_is_kept(hold))",
    ),
    "own_delay_begins_when_the_query_is_to_be_sent": (
        "src/client/worker/dispatch.c",
        "const uint64_t now_ns = d->span->now_ns;",
        "const uint64_t now_ns = query->intended_ns;",
    ),
    "net_counts_the_send_lag": (
        "src/client/worker/answer.c",
        "arrived_ns > q->sent_ns ? arrived_ns - q->sent_ns : 0);",
        "arrived_ns > q->sent_ns ? arrived_ns - q->intended_ns : 0);",
    ),
    "damaged_messages_not_beyond": (
        "src/client/worker/subscribe.c",
        "hist_record_beyond(&t->figures->metrics[CLIENT_RESPONSE], n_lost + damaged);",
        "hist_record_beyond(&t->figures->metrics[CLIENT_RESPONSE], n_lost);",
    ),
    "message_cut_by_a_reset_not_damaged": (
        "src/client/worker/subscribe.c",
        "outcome.reason == REASON_RESET && sub->partial != NULL)",
        "outcome.reason == REASON_SELF && sub->partial != NULL)",
    ),
    "end_of_messages_read_again_and_again": (
        "src/client/worker/subscribe.c",
        "    poller_stop(&s->transport->poller, &c->socket);\n    stop_awaiting(s, sub);",
        "    stop_awaiting(s, sub);",
    ),
    "expires_1_ms_early": (
        "src/client/worker/query.c",
        "inflight_at(t, slot)->sent_ns + timeout_ns <= until_ns)",
        "inflight_at(t, slot)->sent_ns + timeout_ns <= until_ns + 1000000)",
    ),
    "credited_at_the_timeout": (
        "src/client/worker/answer.c",
        "- sent_ns >= t->config->timeout_ns;",
        "- sent_ns > t->config->timeout_ns;",
    ),
    "late_if_it_is_read_late": (
        "src/client/worker/answer.c",
        "return arrival_ns(t, sent_ns, received_ns) - sent_ns",
        "return received_ns - sent_ns",
    ),
    "given_up_before_the_sockets_are_read": (
        "src/client/worker/query.c",
        "        qs->overdue_ns = clock_now_ns();",
        "        expire_oldest(qs, qs->overdue_ns = clock_now_ns(), UINT32_MAX);",
    ),
    "mailbox_loses_messages": (
        "src/net/worker.c",
        "            w->ops->on_message(w, kind, values[kind]);",
        "            { w->ops->on_message(w, kind, values[kind]); break; }",
    ),
    "mailbox_repeats_messages": (
        "src/net/worker.c",
        "    w->posted = 0;\n    pthread_mutex_unlock(&w->lock);",
        "    pthread_mutex_unlock(&w->lock);",
    ),
    "loop_sleeps_over_an_earlier_query": (
        "src/client/worker/load.c",
        "    if (l->due->is_sooner)\n        arm_timer(l);\n",
        "",
    ),
    "late_answer_credited_to_the_next_query": (
        "src/workload/inflight.c",
        "return list->n_reserved == 0 ? head : NONE;",
        "return head;",
    ),
    "expired_id_not_reserved": (
        "src/workload/inflight.c",
        "        inflight_ids_add_expired(t, list, slot);",
        "        inflight_ids_release(t, list, t->slots[slot].id), inflight_slots_release(t, slot);",
    ),
    "percentile_rank_rounded_down": (
        "src/measure/hist.c",
        "n / den * num + (n % den * num + den - 1) / den;",
        "n / den * num + n % den * num / den;",
    ),
    "unsent_bytes_leak": (
        "src/client/worker/conn.c",
        "    client_io_discard(c);\n    count_end(c, outcome);",
        "    count_end(c, outcome);",
    ),
    "socket_leaks_after_a_reset": (
        "src/client/worker/conn.c",
        "    if (fd >= 0)\n        close(fd);\n}",
        "    if (fd >= 0 && outcome.reason != REASON_RESET)\n        close(fd);\n}",
    ),
    "short_write_loses_a_byte": (
        "src/client/worker/send.c",
        "client_io_keep(c, s->to_send + n_written, n_begun - n_written)",
        "client_io_keep(c, s->to_send + n_written + (n_begun > n_written), n_begun - n_written - (n_begun > n_written))",
    ),
    "backlog_sent_again": (
        "src/client/worker/io.c",
        "    b->n_sent += (size_t)n;\n",
        "    b->n_sent = (size_t)n;\n",
    ),
    "header_cut_short": (
        "src/client/worker/io.c",
        "keep_header(c, header + n, n_header - (size_t)n);",
        "keep_header(c, header + n + 1, n_header - (size_t)n - 1);",
    ),
    "half_open_gauge_kept": (
        "src/client/worker/conn.c",
        "    if (c->state == CLIENT_CONN_HALF_OPEN)\n        tally_sub(&f->n_half_open, 1);\n",
        "",
    ),
    "coordinated_omission": (
        "src/client/worker/dispatch.c",
        "    query->intended_ns = intended_ns;\n",
        "    query->intended_ns = clock_now_ns();\n",
    ),
    "stamped_after_the_write": (
        "src/client/worker/send.c",
        "        error = write_encoded(s, c, n_bytes);\n",
        "        error = write_encoded(s, c, n_bytes);\n        sent_ns = clock_now_ns();\n",
    ),
    "window_never_freed": (
        "src/client/worker/connect.c",
        "    cc->n_in_window--;\n",
        "",
    ),
    "duplicates_called_unknown": (
        "src/client/worker/answer.c",
        "&tally->duplicate\n",
        "&tally->unknown_id\n",
    ),
    "replacements_starve_the_others": (
        "src/client/worker/connect.c",
        "return cc->reopen.n > 0 && !(cc->was_reopened && has_fresh(cc));",
        "return cc->reopen.n > 0;",
    ),
    "held_and_never_released": (
        "src/client/worker/connect.c",
        "    cc->unlimited = true;\n    want_more(cc);",
        "    cc->unlimited = true;\n    if (has_more(cc))\n        want_more(cc);",
    ),
    "waits_use_up_the_timers": (
        "src/net/worker.c",
        "if (reserve_timers(event_get_base(timer), 1 + WORKER_TIMERS) != 0)",
        "if (reserve_timers(event_get_base(timer), 1) != 0)",
    ),
    "schedule_cut_off": (
        "src/client/worker/load.c",
        "begin_ns >= span->end_ns && client_due_next_ns(l->due) == PACER_NEVER)",
        "begin_ns + 1000000 >= span->end_ns)",
    ),
    "event_kept_after_close": (
        "src/client/worker/conn.c",
        "    poller_stop(&t->poller, &c->socket);\n    if (t->udp != NULL)\n        client_udp_end",
        "    if (t->udp != NULL)\n        client_udp_end",
    ),
    "overdue_answer_credited": (
        "src/client/worker/answer.c",
        "if (slot != INFLIGHT_NONE && is_overdue(qs, slot, received_ns)) {",
        "if (slot == 0x7fffffff && is_overdue(qs, slot, received_ns)) {",
    ),
    "closed_as_idle_with_a_query_in_flight": (
        "src/client/worker/demand.c",
        "    client_idle_leave(d->idle, c);\n    client_send_join(d->send, c);",
        "    client_send_join(d->send, c);",
    ),
    "idle_ends_1_us_early": (
        "src/client/worker/idle.c",
        "deadlines_next_ns(&idle->deadlines) <= now_ns;",
        "deadlines_next_ns(&idle->deadlines) <= now_ns + 1000;",
    ),
    "idle_from_the_first_answer": (
        "src/client/worker/idle.c",
        "    deadlines_set(&idle->deadlines, client_conn_slot(c), now_ns + most_ns);",
        "    if (idle->deadlines.positions[client_conn_slot(c)] == 0)\n"
        "        deadlines_set(&idle->deadlines, client_conn_slot(c), now_ns + most_ns);",
    ),
    "sends_after_it_was_told_to_close": (
        "src/client/worker/idle.c",
        "    if (timeout > 0 || c->state != CLIENT_CONN_LIVE)",
        "    if (timeout > 0 || c->state != CLIENT_CONN_LIVE || c->queries.head != INFLIGHT_NONE)",
    ),
    "keepalive_timeout_of_another_unit": (
        "src/client/worker/idle.c",
        "allowed * DNS_KEEPALIVE_UNIT_NS;",
        "allowed * 2 * DNS_KEEPALIVE_UNIT_NS;",
    ),
    "keepalive_timeout_of_the_connection_before": (
        "src/client/worker/demand.c",
        "    client_idle_allow_any(d->idle, c);\n",
        "",
    ),
    "keepalive_counted_when_late": (
        "src/client/worker/demand.c",
        "    if (client_answer_take_one(d->answers, c, received_ns))\n        count_keepalive",
        "    (void)client_answer_take_one(d->answers, c, received_ns);\n        count_keepalive",
    ),
    "reuse_counted_twice": (
        "src/client/worker/demand.c",
        "tally_add(&counts(d)->reused, 1);",
        "tally_add(&counts(d)->reused, 2);",
    ),
    "query_waits_and_nobody_connects": (
        "src/client/worker/demand.c",
        "    if (is_first && client_conn_is_free(&d->transport->conns[slot]))\n",
        "    if (is_first && d->transport->conns[slot].state == CLIENT_CONN_NEW)\n",
    ),
    "unconnected_without_its_outcome": (
        "src/client/worker/query.c",
        "                tally_add(&tally->errors[outcome.phase][outcome.reason], 1);\n        }\n        inflight_remove",
        "                tally_add(&tally->errors[PHASE_RUN][REASON_IDLE], 0);\n        }\n        inflight_remove",
    ),
    "carried_counted_from_the_first_connection": (
        "src/client/worker/demand.c",
        "    client->n_sent_before = n_sent;\n",
        "",
    ),
    "lost_queries_not_counted_beyond": (
        "src/client/worker/query.c",
        "                client_query_unanswered(qs, client_query_class(qs, q), true);",
        "                client_query_unanswered(qs, client_query_class(qs, q), false);",
    ),
    "last_datagrams_counted_as_cut_off": (
        "src/client/worker/udp.c",
        "recv(fd, data, n_bytes, MSG_TRUNC)",
        "recv(fd, data, n_bytes, 0)",
    ),
    "stream_kept_after_a_malformed_datagram": (
        "src/client/worker/answer.c",
        "    c->stream = (struct query_stream){0};\n",
        "",
    ),
    "gives_up_after_three_failures": (
        "src/client/worker/turnover.c", "        begin_after_wait(to, c, slot->n_failures);\n",
        "        if (slot->n_failures < 3)\n            begin_after_wait(to, c, slot->n_failures);\n"),
    "tls_leaks_after_a_reset": (
        "src/client/worker/conn.c",
        "    if (t->tls != NULL)\n        client_tls_end(c, outcome.phase == PHASE_RUN);",
        "    if (t->tls != NULL && outcome.reason != REASON_RESET)\n        client_tls_end(c, outcome.phase == PHASE_RUN);",
    ),
    "handshake_never_times_out": (
        "src/client/worker/handshake.c",
        "    return poller_set_own_timeout(&c->transport->poller, &c->socket, &left);",
        "    (void)left;\n    return 0;",
    ),
    "handshake_timeout_begins_again": (
        "src/client/worker/handshake.c",
        "end_ns = c->connect_start_ns + c->transport->config->connect_timeout_ns;\n    const uint64_t now_ns = clock_now_ns();",
        "now_ns = clock_now_ns();\n    const uint64_t end_ns = now_ns + c->transport->config->connect_timeout_ns;",
    ),
    "handshake_time_from_the_connect": (
        "src/client/worker/handshake.c",
        "    c->state = CLIENT_CONN_SECURING;\n    c->connect_start_ns = established_ns;\n",
        "    c->state = CLIENT_CONN_SECURING;\n    (void)established_ns;\n",
    ),
    "timeout_survives_the_close": (
        "src/net/poller.c",
        "    poller_clear_timeout(s);\n    if (s->ready_index != 0)",
        "    if (s->ready_index != 0)",
    ),
    "handshakes_go_on_after_the_stop": (
        "src/client/worker/turnover.c",
        "c->state == CLIENT_CONN_CONNECTING || c->state == CLIENT_CONN_SECURING ||",
        "c->state == CLIENT_CONN_CONNECTING ||",
    ),
    "own_output_of_tls_lost": (
        "src/client/worker/tls.c",
        "    return client_io_backlog_bytes(c) < MOST_BACKLOG_BYTES ? transmit(c, n_bytes) : EPROTO;",
        "    return 0;",
    ),
    "records_sent_again": (
        "src/client/worker/tls.c",
        "    const size_t n_sealed = w->n_out;\n\n    w->n_out = 0;\n",
        "    const size_t n_sealed = w->n_out;\n\n",
    ),
    "resumption_not_counted": (
        "src/client/worker/tls.c",
        "    tally_add(&f->tally.connections.resumed, tls_is_resumed(tls));\n",
        "",
    ),
    "ticket_never_used": (
        "src/net/tls.c", "return w->ticket == NULL || use_ticket(ssl, w->ticket);",
        "return w->ticket == NULL || (use_ticket(ssl, w->ticket) && SSL_set_session(ssl, NULL) == 1);"),
    "ticket_used_up": (
        "src/net/tls.c", "SSL_SESSION *copy = SSL_SESSION_dup(ticket);",
        "SSL_SESSION *copy = SSL_SESSION_up_ref(ticket) == 1 ? ticket : NULL;"),
    "poll_instead_of_epoll": (
        "src/net/worker.c",
        '        event_config_avoid_method(config, "poll") == 0 &&\n',
        "",
    ),
    "first_window_never_passed": (
        "src/client/run_stages.c",
        "        client_workers_post(&r->workers, CLIENT_OPEN_ALL, 0);\n",
        "",
    ),
    "closes_without_a_reset": (
        "src/client/worker/conn.c",
        "    if (fd >= 0 && t->config->close == CLIENT_CLOSE_RST)\n        sock_reset_on_close(fd);\n",
        "",
    ),
    "last_interval_lost": (
        "src/client/run_result.c",
        "    client_intervals_finish(&r->intervals, clock_now_ns());\n",
        "",
    ),
    "load_begins_when_the_gate_opens": (
        "src/client/start_gate.c",
        "gate->opened(gate->arg, clock_monotonic_of_ns(at_ns));",
        "gate->opened(gate->arg, clock_now_ns());",
    ),
    "nobody_left_and_it_waits": (
        "src/client/run_stages.c",
        "        if (is_deserted(r))\n            client_run_stop(r);",
        "        if (is_deserted(r))\n            return;",
    ),
    "load_without_connections": (
        "src/client/run_stages.c",
        "    if (is_deserted(r))\n        client_run_stop(r);\n    else\n        start_load(r, begin_ns);",
        "    start_load(r, begin_ns);",
    ),
}
