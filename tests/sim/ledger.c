/* SPDX-License-Identifier: MIT
 * ledger: see ledger.h. */
#include "ledger.h"

#include "classes.h"
#include "client/worker/query.h"
#include "fiber.h"
#include "ledger_entries.h"
#include "ledger_idle.h"
#include "ledger_push.h"
#include "ledger_stream.h"
#include "ledger_turn.h"
#include "ledger_values.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* To convert a stamp of CLOCK_REALTIME the product looks at CLOCK_MONOTONIC this often. */
enum { CLOCKS_OF_CONVERSION = 4 };

#define LEDGER_OF(count) offsetof(struct ledger_class, count)

static uint64_t timeout_ns;
static bool has_ids;
struct ledger_sums ledger_sums;

void ledger_begin(const struct client_config *config)
{
    timeout_ns = config->timeout_ns;
    has_ids = !config->listens && config->query.protocol->has_id;
    ledger_sums = (struct ledger_sums){0};
    ledger_entries_begin(has_ids);
    ledger_values_begin();
    ledger_push_begin();
    ledger_turns_begin();
}

/* Counts a query, in all and in the class of its connection.  count: LEDGER_OF(). */
static void count(const struct tcp *t, const struct ledger_entry *entry, size_t which)
{
    struct ledger_class *of_clients = &ledger_sums.of_clients[classes_of(t)][entry->class];

    ++*(uint64_t *)(void *)((char *)&ledger_sums.classes[entry->class] + which);
    ++*(uint64_t *)(void *)((char *)of_clients + which);
}

/* --- what is sent --- */

/* Of a query that the product has not yet said is sent. */
static void note_written(const struct tcp *t, uint64_t name, uint16_t id)
{
    struct ledger_turn *now = ledger_turn();

    LAW(ledger_ids_n(&now->wire) == 0 || now->wire_name == name,
        "fd %d: sends before the queries of another are counted", t->fd);
    now->wire_name = name;
    now->wire_ns = fiber_clock_ns[fiber_current()];
    ledger_ids_add(&now->wire, id);
}

void ledger_on_wire(uint32_t i, uint16_t id)
{
    struct tcp *t = tcp_at(i);
    const uint32_t e = ledger_entry_unwritten(i, id);

    if (t->ledger.is_orphan)
        t->ledger.is_orphan = false;
    else if (t->ledger.n_orphans > 0)
        t->ledger.n_orphans--;
    else if (e != LEDGER_NONE)
        ledger_entry_at(e)->on_wire = true;
    else
        note_written(t, tcp_name(i, t), id);
}

/* Whether the query that the running fiber claims to have sent was written just now. */
static bool is_on_wire(uint32_t i, uint16_t id)
{
    struct ledger_turn *now = ledger_turn();

    if (ledger_ids_n(&now->wire) == 0 || now->wire_name != tcp_name(i, tcp_at(i)) ||
        (has_ids && ledger_ids_first(&now->wire) != id))
        return false;
    (void)ledger_ids_take(&now->wire);
    return true;
}

/* Whether the connection may carry this query, by its class. */
static void check_use(struct tcp *t, uint8_t class)
{
    const uint32_t most = classes_queries_per_conn(t);
    const bool is_probe = classes_prove(t) && t->ledger.n_sent == 0;

    LAW((class == TALLY_PROBE) == is_probe, "fd %d: its query %u %s one that proves it", t->fd,
        t->ledger.n_sent, is_probe ? "is not" : "is");
    t->ledger.n_sent++;
    LAW(most == 0 || t->ledger.n_sent - classes_prove(t) <= most, "fd %d: carries %u queries of %u",
        t->fd, t->ledger.n_sent, most);
}

void ledger_on_sent(uint32_t i, const struct inflight_query *q, uint64_t sent_ns)
{
    struct tcp *t = tcp_at(i);
    struct ledger_entry *entry;
    uint32_t e;

    LAW(sent_ns == fiber_clock_ns[fiber_current()],
        "fd %d id %u: sent at %" PRIu64 ", but the clock said %" PRIu64, t->fd, q->id, sent_ns,
        fiber_clock_ns[fiber_current()]);
    LAW(sent_ns >= q->intended_ns, "fd %d id %u: sent before it was due", t->fd, q->id);
    if (has_ids && (e = ledger_entry_find(i, q->id)) != LEDGER_NONE) {
        LAW(ledger_entry_at(e)->state == LEDGER_OWED, "fd %d id %u: in flight twice", t->fd, q->id);
        ledger_entry_free(e);
        ledger_sums.n_recycled++;
    }
    e = ledger_entry_new(i, q->id);
    entry = ledger_entry_at(e);
    entry->class = q->tag & CLIENT_QUERY_CLASS;
    entry->intended_ns = q->intended_ns;
    entry->sent_ns = sent_ns;
    entry->on_wire = is_on_wire(i, q->id);
    entry->is_begun = t->is_secure && q->state != INFLIGHT_WAITING;
    LAW(entry->on_wire || t->was_full || t->tls.has_lost_record,
        "fd %d id %u: counted as sent, but not written", t->fd, q->id);
    LAW(!entry->on_wire || ledger_turn()->wire_ns == sent_ns,
        "fd %d id %u: stamped after it was sent", t->fd, q->id);
    if (has_ids && (t->ledger.highest_id == UINT32_MAX || q->id > t->ledger.highest_id))
        t->ledger.highest_id = q->id;
    if (entry->class != TALLY_PROBE)
        ledger_values_add_due(classes_of(t), q->intended_ns);
    count(t, entry, LEDGER_OF(sent));
    check_use(t, entry->class);
    ledger_idle_sent(i, q->tag & CLIENT_QUERY_WAITED);
    if (entry->class == TALLY_MEASURED)
        ledger_values_add(CLIENT_SEND_LAG, sent_ns - q->intended_ns);
}

/* --- what is received --- */

static void take_answers(struct ledger_turn *now, struct tcp *t, const uint8_t *data,
                         size_t n_bytes)
{
    const struct query *query = classes_query(t);

    for (size_t k = 0; k < n_bytes && !now->is_malformed;) {
        const size_t n_skipped =
            ledger_stream_skip_malformed(t, data + k, ledger_ids_n(&now->answers) == 0);
        const size_t n_whole = ledger_stream_whole(t, query, data + k, n_bytes - k);

        k += n_skipped > 0 ? n_skipped : n_whole > 0 ? n_whole : 1;
        if (n_skipped > 0)
            continue;
        if (n_whole > 0 ||
            (ledger_stream_take(t, query, data[k - 1], &now->is_malformed) && !now->is_malformed))
            ledger_ids_add(&now->answers, t->ledger.id);
    }
}

void ledger_on_received(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t arrived_ns,
                        bool is_drained)
{
    struct tcp *t = tcp_at(i);
    struct ledger_turn *now = ledger_turn();

    now->tcp_name = tcp_name(i, t);
    now->stamp_ns = 0;
    now->arrived_ns = arrived_ns;
    now->n_clocks = arrived_ns != 0 ? CLOCKS_OF_CONVERSION : 0;
    now->is_malformed = false;
    now->is_drained = is_drained;
    if (world.scenario.listen) {
        ledger_push_received(i, n_bytes, arrived_ns);
    } else if (!t->is_secure) {
        ledger_idle_received(i, data, n_bytes);
        take_answers(now, t, data, n_bytes);
    }
}

void ledger_on_plain(const uint8_t *data, size_t n_bytes)
{
    struct ledger_turn *now = ledger_turn();
    const uint32_t i = (uint32_t)now->tcp_name;

    ledger_idle_rest(i);
    ledger_idle_received(i, data, n_bytes);
    take_answers(now, tcp_at(i), data, n_bytes);
}

void ledger_on_end(uint32_t i)
{
    if (world.scenario.listen)
        ledger_push_ended(i);
}

void ledger_on_clock(uint64_t now_ns)
{
    struct ledger_turn *now = ledger_turn();

    fiber_clock_ns[fiber_current()] = now_ns;
    if (now->tcp_name == 0 || now->stamp_ns != 0)
        return;
    if (now->n_clocks-- > 0)
        return;
    now->stamp_ns = now_ns;
    if (!tcp_at((uint32_t)now->tcp_name)
             ->is_secure) /* a record without data leaves a connection idle */
        ledger_idle_rest((uint32_t)now->tcp_name);
    if (world.scenario.listen)
        ledger_push_stamped(now_ns);
}

static void count_stray(const struct ledger_turn *now, const struct tcp *t, uint16_t id)
{
    if (now->is_drained)
        return;
    if (has_ids && (t->ledger.highest_id == UINT32_MAX || id > t->ledger.highest_id))
        ledger_sums.n_unknown++;
    else
        ledger_sums.n_duplicate++;
}

/* An answer that the product has not credited to a query. */
static void pass_answer(const struct ledger_turn *now, uint32_t i, uint16_t id)
{
    const struct tcp *t = tcp_at(i);
    const uint32_t e = ledger_entry_answered(i, id);

    if (e == LEDGER_NONE) {
        count_stray(now, t, id);
        return;
    }
    LAW(ledger_entry_at(e)->state == LEDGER_OWED, "fd %d id %u: answered after %" PRIu64 " ns, %s",
        t->fd, id, now->stamp_ns - ledger_entry_at(e)->sent_ns,
        now->stamp_ns - ledger_entry_at(e)->sent_ns < timeout_ns ? "but not credited"
                                                                 : "too late, but not given up");
    ledger_entry_end_by_answer(e);
    ledger_sums.n_late++;
}

void ledger_hold_turn(bool is_held)
{
    ledger_turn()->is_held = is_held;
}

void ledger_on_turn(void)
{
    struct ledger_turn *now = ledger_turn();

    LAW(ledger_ids_n(&now->wire) == 0, "a query was written, but not counted as sent");
    if (now->tcp_name == 0 || now->is_held)
        return;
    while (ledger_ids_n(&now->answers) > 0)
        pass_answer(now, (uint32_t)now->tcp_name, ledger_ids_take(&now->answers));
    LAW(!now->is_malformed, "fd %d: a malformed answer was taken",
        tcp_at((uint32_t)now->tcp_name)->fd);
    ledger_turn_end(now);
}

void ledger_on_write(uint32_t i)
{
    const struct ledger_turn *now = ledger_turn();

    if (ledger_ids_n(&now->wire) == 0 || now->wire_name != tcp_name(i, tcp_at(i)))
        ledger_on_turn();
}

/* Of a response time: in the network, and on this host. */
static void add_parts(const struct ledger_turn *now, const struct ledger_entry *entry,
                      bool was_blocked)
{
    const uint64_t lag_ns = was_blocked ? 0 : entry->sent_ns - entry->intended_ns;
    const uint64_t arrived_ns = now->arrived_ns;
    const bool is_known = arrived_ns > entry->sent_ns && arrived_ns < now->stamp_ns;

    if (arrived_ns != 0)
        ledger_values_add(CLIENT_NET,
                          arrived_ns > entry->sent_ns ? arrived_ns - entry->sent_ns : 0);
    ledger_values_add(CLIENT_OWN, lag_ns + (is_known ? now->stamp_ns - arrived_ns : 0));
}

void ledger_on_answered(uint32_t i, const struct inflight_query *q)
{
    const struct tcp *t = tcp_at(i);
    struct ledger_turn *now = ledger_turn();
    const struct ledger_entry *entry;
    uint32_t e;

    LAW(now->tcp_name == tcp_name(i, t), "fd %d id %u: answered, but nothing was received", t->fd,
        q->id);
    while (ledger_ids_n(&now->answers) > 0 && has_ids && ledger_ids_first(&now->answers) != q->id)
        pass_answer(now, i, ledger_ids_take(&now->answers));
    while (!has_ids && (e = ledger_entry_answered(i, 0)) != LEDGER_NONE &&
           ledger_entry_at(e)->state == LEDGER_OWED && ledger_ids_n(&now->answers) > 0)
        pass_answer(now, i, ledger_ids_take(&now->answers));
    LAW(ledger_ids_n(&now->answers) > 0, "fd %d id %u: credited without an answer", t->fd, q->id);
    (void)ledger_ids_take(&now->answers);
    e = ledger_entry_answered(i, q->id);
    LAW(e != LEDGER_NONE, "fd %d id %u: an answer is credited that is to no query", t->fd, q->id);
    entry = ledger_entry_at(e);
    LAW(entry->state == LEDGER_IN_FLIGHT && entry->class == (q->tag & CLIENT_QUERY_CLASS) &&
            entry->intended_ns == q->intended_ns && entry->sent_ns == q->sent_ns,
        "fd %d id %u: an answer is credited to another query", t->fd, q->id);
    LAW(now->stamp_ns - entry->sent_ns < timeout_ns, "fd %d id %u: credited after its timeout",
        t->fd, q->id);
    count(t, entry, LEDGER_OF(answered));
    if (entry->class == TALLY_MEASURED) {
        const uint32_t k = classes_of(t);

        ledger_values_add(CLIENT_RESPONSE, now->stamp_ns - entry->intended_ns);
        ledger_values_add(CLIENT_SERVICE, now->stamp_ns - entry->sent_ns);
        ledger_values_add(LEDGER_VALUES_RESPONSE(k), now->stamp_ns - entry->intended_ns);
        ledger_values_add(LEDGER_VALUES_SERVICE(k), now->stamp_ns - entry->sent_ns);
        add_parts(now, entry, q->tag & (CLIENT_QUERY_BLOCKED | CLIENT_QUERY_WAITED));
    }
    ledger_entry_end_by_answer(e);
}

/* --- what ends without an answer --- */

static uint32_t entry_of(uint32_t i, const struct inflight_query *q)
{
    uint32_t e = tcp_at(i)->ledger.first_entry;

    if (has_ids)
        return ledger_entry_find(i, q->id);
    while (e != LEDGER_NONE && ledger_entry_at(e)->state != LEDGER_IN_FLIGHT)
        e = ledger_entry_at(e)->next;
    return e;
}

void ledger_on_expired(uint32_t i, const struct inflight_query *q)
{
    const struct tcp *t = tcp_at(i);
    const uint32_t e = entry_of(i, q);
    struct ledger_entry *entry;

    LAW(e != LEDGER_NONE, "fd %d id %u: expires, but is not in flight", t->fd, q->id);
    entry = ledger_entry_at(e);
    LAW(entry->state == LEDGER_IN_FLIGHT && entry->sent_ns == q->sent_ns,
        "fd %d id %u: another query expires", t->fd, q->id);
    LAW(fiber_clock_ns[fiber_current()] - entry->sent_ns >= timeout_ns,
        "fd %d id %u: expires %" PRIu64 " ns too early", t->fd, q->id,
        entry->sent_ns + timeout_ns - fiber_clock_ns[fiber_current()]);
    count(t, entry, LEDGER_OF(expired));
    ledger_idle_rest(i);
    if (q->state == INFLIGHT_WAITING) {
        LAW(!entry->on_wire, "fd %d id %u: withdrawn, but written", t->fd, q->id);
        ledger_sums.n_withdrawn++;
        ledger_entry_free(e);
        return;
    }
    LAW(entry->on_wire || t->was_full, "fd %d id %u: never written", t->fd, q->id);
    entry->state = LEDGER_OWED;
}

void ledger_on_lost(uint32_t i, uint32_t n_waiting)
{
    struct ledger_turn *now = ledger_turn();
    struct tcp *t = tcp_at(i);
    uint32_t e, n_unwritten = 0;

    if (now->tcp_name == tcp_name(i, t)) {
        ledger_sums.n_unsure += ledger_ids_n(&now->answers);
        ledger_turn_end(now);
    }
    while (!world.scenario.listen && (e = t->ledger.first_entry) != LEDGER_NONE) {
        const struct ledger_entry *entry = ledger_entry_at(e);

        if (entry->state == LEDGER_IN_FLIGHT) {
            count(t, entry, LEDGER_OF(lost));
            ledger_idle_rest(i);
        }
        n_unwritten += !entry->on_wire;
        ledger_entry_free(e);
    }
    if (t->is_secure)
        t->ledger.n_orphans += n_unwritten - n_waiting;
    else
        t->ledger.is_orphan |= t->peer.offset > 0;
}

void ledger_on_close(uint32_t i)
{
    const struct tcp *t = tcp_at(i);
    if (world.scenario.listen)
        ledger_push_closed(i);
    LAW(t->ledger.first_entry == LEDGER_NONE, "fd %d: closed with queries that have no outcome",
        t->fd);
    if (ledger_turn()->tcp_name == tcp_name(i, t))
        ledger_turn_end(ledger_turn());
}

void ledger_end(void)
{
    LAW(ledger_entries_n() == 0, "%u queries have no outcome", ledger_entries_n());
}
