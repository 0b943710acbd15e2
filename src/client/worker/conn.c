/* SPDX-License-Identifier: MIT
 * client_conn: see client/worker/conn.h. */
#include "client/worker/conn.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "client/worker/io.h"
#include "client/worker/setup_times.h"
#include "client/worker/tls.h"
#include "client/worker/udp.h"
#include "net/sock.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Half the minimum retransmission timeout of Linux (200 ms): no retransmission comes sooner. */
#define RETRANSMIT_NS (100 * UNITS_NS_PER_MS)

/* --- opening --- */

void client_conn_begin(struct client_conn *c, struct client_transport *t)
{
    struct client_record *record;

    assert(client_conn_is_free(c));
    c->transport = t;
    record = client_conn_record(c);
    if (record != NULL)
        client_record_begin(record);
    tally_add(&t->figures->tally.connections.attempted, 1);
    client_conn_count_in_class(c, CLASS_TALLY_OF(attempted));
    inflight_list_init(&c->queries);
    c->proven = c->replaces = c->opens_slowly = c->timed_out = c->awaits_room = c->record_lost =
        c->owes_earlier = false;
    c->header_due = t->config->proxy != PROXY_HEADER_NONE;
    c->state = CLIENT_CONN_CONNECTING;
    c->connect_start_ns = clock_now_ns();
}

/* Retransmits of segments that were lost, without tail loss probes (RFC 8985) and timeouts caused
 * by late acknowledgements. */
static uint32_t needed_retransmits(const struct sock_tcp *tcp)
{
    return tcp->retransmits > tcp->duplicates ? tcp->retransmits - tcp->duplicates : 0;
}

void client_conn_opening_took(struct client_conn *c, uint64_t ns)
{
    c->opens_slowly |= ns >= RETRANSMIT_NS;
}

void client_conn_become_usable(struct client_conn *c)
{
    struct client_transport *t = c->transport;
    struct client_figures *f = t->figures;
    struct client_class_figures *class = client_conn_class_figures(c);

    if (c->state == CLIENT_CONN_HALF_OPEN)
        tally_sub(&f->n_half_open, 1);
    c->state = CLIENT_CONN_LIVE;
    tally_add(&f->n_live, 1);
    if (class != NULL)
        tally_add(&class->n_live, 1);
    tally_add(&f->n_ever_usable, 1);
    if (c->opens_slowly) {
        const struct sock_tcp tcp = sock_tcp(c->socket.fd);

        tally_add(&f->tally.connections.opening_retransmits, needed_retransmits(&tcp));
    }
    t->ops->usable(t->owner, c);
}

void client_conn_mark_proven(struct client_conn *c)
{
    if (!c->proven) {
        c->proven = true;
        client_setup_times_answered(c);
        tally_add(&c->transport->figures->tally.connections.proven, 1);
        client_conn_count_in_class(c, CLASS_TALLY_OF(proven));
        poller_clear_timeout(&c->socket); /* of the greeting */
    }
    if (c->state == CLIENT_CONN_PROVING || c->state == CLIENT_CONN_HALF_OPEN)
        client_conn_become_usable(c);
}

void client_conn_mark_half_open(struct client_conn *c)
{
    struct client_transport *t = c->transport;

    if (t->config->reconnect) {
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_HALF_OPEN}, 0);
        return;
    }
    c->state = CLIENT_CONN_HALF_OPEN;
    tally_add(&t->figures->n_half_open, 1);
    t->ops->half_open(t->owner, c);
}

/* --- sending --- */

ssize_t client_conn_write(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    if (!c->transport->has_codec)
        return client_io_send(c, data, n_bytes);
    if (c->transport->udp != NULL)
        return client_udp_write(c, data, n_bytes);
    if (!client_conn_uses_tls(c))
        return client_io_send(c, data, n_bytes);
    errno = client_tls_send(c, data, n_bytes);
    return errno == 0 ? (ssize_t)n_bytes : -1;
}

int client_conn_send(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    return client_conn_uses_tls(c) ? client_tls_send(c, data, n_bytes)
                                   : client_io_transmit(c, data, n_bytes);
}

/* --- unresponsive connections --- */

/* Whether anything has arrived since: then the connection is not unresponsive, and only the query
 * was lost. Data that TCP received within one tick of the kernel's clock counts as received before.
 */
static bool was_heard_since(const struct client_conn *c, uint64_t sent_ns, uint64_t now_ns)
{
    const struct client_udp *udp = c->transport->udp;
    const uint64_t step_ns = 10000000;
    struct sock_tcp tcp;

    if (udp != NULL)
        return udp->heard_ns[client_conn_slot(c)] >= sent_ns;
    tcp = sock_tcp(c->socket.fd);
    return now_ns > sent_ns + (uint64_t)tcp.unheard_ms * 1000000 + step_ns;
}

void client_conn_unheard(struct client_conn *c, uint64_t sent_ns, uint64_t now_ns)
{
    struct client_figures *f = c->transport->figures;

    if (!c->timed_out)
        tally_add(&f->tally.connections.with_timeouts, 1);
    c->timed_out = true;
    if (c->transport->udp != NULL)
        client_udp_count_dropped(c);
    if (c->n_unheard == CLIENT_CONN_UNRESPONSIVE || was_heard_since(c, sent_ns, now_ns))
        return;
    c->n_unheard++;
    if (c->n_unheard == CLIENT_CONN_UNRESPONSIVE)
        tally_add(&f->n_unresponsive, 1);
}

void client_conn_heard(struct client_conn *c)
{
    if (c->n_unheard == CLIENT_CONN_UNRESPONSIVE)
        tally_sub(&c->transport->figures->n_unresponsive, 1);
    if (c->n_unheard > 0)
        c->n_unheard = 0;
}

/* --- closing --- */

/* The connection was LIVE. */
static void become_unusable(struct client_conn *c)
{
    struct client_transport *t = c->transport;
    struct client_class_figures *class = client_conn_class_figures(c);

    tally_sub(&t->figures->n_live, 1);
    if (class != NULL)
        tally_sub(&class->n_live, 1);
    t->ops->unusable(t->owner, c);
}

void client_conn_finish(struct client_conn *c)
{
    c->state = CLIENT_CONN_FINISHING;
    become_unusable(c);
}

void client_conn_close_if_finished(struct client_conn *c)
{
    const struct client_config *config = c->transport->config;

    if (config->listens)
        shutdown(c->socket.fd, SHUT_WR);
    else if (c->queries.head == INFLIGHT_NONE)
        client_conn_close(
            c, (struct outcome){PHASE_RUN, config->on_demand ? REASON_KEEPALIVE : REASON_FINISHED},
            0);
}

/* Counts the SYNs of a connection that was never established. */
static void count_syns(struct client_conn *c, int fd)
{
    struct client_record *record = client_conn_record(c);
    const struct sock_tcp tcp = sock_tcp(fd);

    tally_add(&c->transport->figures->tally.connections.syn_retransmits, tcp.retransmits);
    if (record != NULL)
        record->syn_retransmits += tcp.retransmits;
}

/* How long the connection was idle before the server closed it.  close_notify is data, too: if it
 * was received, the time since the last query was sent is the best estimate. */
static uint64_t idle_ns(const struct client_conn *c, const struct sock_tcp *tcp)
{
    const bool said_so = c->transport->tls != NULL && client_tls_is_ended_by_peer(c);

    return (uint64_t)(said_so ? tcp->unsent_ms : tcp->idle_ms) * 1000000;
}

static bool is_loss(const struct client_conn *c, struct outcome outcome)
{
    return c->proven && (outcome.reason == REASON_PEER || outcome.reason == REASON_RESET);
}

/* Before its queries are forgotten. */
static void count_answers(struct client_conn *c, struct outcome outcome)
{
    const uint32_t n_answers = inflight_ids_answered(&c->queries);

    if (is_loss(c, outcome) && n_answers > 0)
        losses_add_answers(&c->transport->figures->losses, n_answers);
}

/* Counts the retransmits of an established connection. */
static void count_segments(struct client_conn *c, int fd, bool was_usable, struct outcome outcome)
{
    struct client_figures *f = c->transport->figures;
    struct client_record *record = client_conn_record(c);
    const struct sock_tcp tcp = sock_tcp(fd);

    tally_add(&f->tally.connections.retransmits, tcp.retransmits);
    tally_add(&f->tally.connections.with_retransmits, tcp.retransmits > 0);
    tally_add(&f->tally.connections.needless_retransmits,
              tcp.retransmits - needed_retransmits(&tcp));
    if (!was_usable)
        tally_add(&f->tally.connections.opening_retransmits, needed_retransmits(&tcp));
    if (c->n_unheard == CLIENT_CONN_UNRESPONSIVE && tcp.timeouts > 0)
        tally_add(&f->tally.connections.unresponsive_unacknowledged, 1);
    if (!c->proven && tcp.timeouts > 0)
        tally_add(&f->tally.connections.unproven_unacknowledged, 1);
    if (c->n_unheard == CLIENT_CONN_UNRESPONSIVE && !c->proven && outcome.phase == PHASE_RUN)
        tally_add(&f->tally.connections.unresponsive_unproven, 1);
    if (is_loss(c, outcome))
        losses_add(&f->losses, clock_now_ns(), idle_ns(c, &tcp));
    if (tcp.min_rtt_us > 0)
        hist_record(&f->min_rtts, (uint64_t)tcp.min_rtt_us * 1000);
    if (record != NULL) {
        record->retransmits += tcp.retransmits;
        record->min_rtt_us = tcp.min_rtt_us;
    }
}

void client_conn_log(const struct client_conn *c, struct outcome outcome, const char *text)
{
    static atomic_flag warned[OUTCOME_N_PHASES][OUTCOME_N_REASONS];
    const struct client_transport *t = c->transport;

    /* the remedy of REASON_OTHER refers to this line */
    if (text == NULL || (t->config->quiet && outcome.reason != REASON_OTHER) ||
        atomic_flag_test_and_set(&warned[outcome.phase][outcome.reason]))
        return;
    log_error("connection %u: %s: %s (%s); further errors are only counted",
              t->first_conn + client_conn_slot(c), outcome_phase_name(outcome.phase),
              outcome_reason_name(outcome.reason), text);
}

/* state: the one before closing. */
static void close_socket(struct client_conn *c, enum client_conn_state state,
                         struct outcome outcome)
{
    struct client_transport *t = c->transport;
    const int fd = c->socket.fd;

    poller_stop(&t->poller, &c->socket);
    if (t->udp != NULL)
        client_udp_end(c);
    else if (state == CLIENT_CONN_CONNECTING)
        count_syns(c, fd);
    else
        count_segments(c, fd, state == CLIENT_CONN_LIVE || state == CLIENT_CONN_FINISHING, outcome);
    if (t->tls != NULL)
        client_tls_end(c, outcome.phase == PHASE_RUN);
    if (fd >= 0 && t->config->close == CLIENT_CLOSE_RST)
        sock_reset_on_close(fd);
    if (fd >= 0)
        close(fd);
}

static void count_end(struct client_conn *c, struct outcome outcome)
{
    struct client_record *record = client_conn_record(c);

    tally_add(&c->transport->figures->tally.connections.ended[outcome.phase][outcome.reason], 1);
    client_conn_count_in_class(c, CLASS_TALLY_OF(ended));
    if (outcome.reason == REASON_REFUSED || outcome.reason == REASON_SELF)
        client_conn_count_in_class(c, CLASS_TALLY_OF(refused));
    client_setup_times_ended(c);
    if (record != NULL) {
        record->ended_phase = (uint8_t)outcome.phase;
        record->ended_reason = (uint8_t)outcome.reason;
        record->proven = c->proven;
    }
}

static void queue_ended(struct client_conn *c, struct outcome outcome)
{
    struct client_transport *t = c->transport;
    const uint32_t slot = client_conn_slot(c);

    c->next_ended = CLIENT_CONN_NONE;
    c->ended_phase = (uint8_t)outcome.phase;
    c->ended_reason = (uint8_t)outcome.reason;
    if (t->first_ended == CLIENT_CONN_NONE)
        t->first_ended = slot;
    else
        t->conns[t->last_ended].next_ended = slot;
    t->last_ended = slot;
}

void client_conn_close(struct client_conn *c, struct outcome outcome, int error)
{
    struct client_transport *t = c->transport;
    const enum client_conn_state state = (enum client_conn_state)c->state;

    if (state == CLIENT_CONN_ENDED)
        return;
    client_conn_log(c, outcome, error != 0 ? strerror(error) : NULL);
    c->state = CLIENT_CONN_ENDED;
    c->is_queued = true;
    if (state == CLIENT_CONN_LIVE)
        become_unusable(c);
    else if (state == CLIENT_CONN_HALF_OPEN)
        tally_sub(&t->figures->n_half_open, 1);
    count_answers(c, outcome);
    t->ops->ended(t->owner, c, outcome);
    close_socket(c, state, outcome);
    client_conn_heard(c); /* it no longer counts as unresponsive */
    client_io_discard(c);
    count_end(c, outcome);
    queue_ended(c, outcome);
}

void client_conn_fail(struct client_conn *c, struct outcome outcome, int error)
{
    c->socket.fd = -1;
    client_conn_close(c, outcome, error);
}

struct client_conn *client_conn_take_ended(struct client_transport *t, struct outcome *outcome)
{
    struct client_conn *c;

    if (t->first_ended == CLIENT_CONN_NONE)
        return NULL;
    c = &t->conns[t->first_ended];
    t->first_ended = c->next_ended;
    c->is_queued = false;
    *outcome =
        (struct outcome){(enum outcome_phase)c->ended_phase, (enum outcome_reason)c->ended_reason};
    return c;
}
