/* SPDX-License-Identifier: MIT
 * ledger: see ledger.h. */
#include "ledger.h"

#include "classes.h"
#include "client/worker/query.h"
#include "fiber.h"
#include "laws.h"
#include "ledger_answers.h"
#include "ledger_entries.h"
#include "ledger_idle.h"
#include "ledger_push.h"
#include "ledger_turn.h"
#include "ledger_values.h"
#include "memory.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>

#define MS 1000000ull

static uint64_t timeout_ns;
static bool has_ids, resets;

/* The clock readings of a worker after its last two wake-ups before it queued a query, by slot.
 * Grows. */
struct queued {
    uint64_t woke_ns, last_ns;
};

static struct queued_list {
    struct queued *all;
    uint32_t room;
} queued[FIBER_MOST];

void ledger_begin(const struct client_config *config)
{
    timeout_ns = config->timeout_ns;
    has_ids = !config->listens && config->query.protocol->has_id;
    resets = config->close == CLIENT_CLOSE_RST;
    ledger_sums_begin();
    ledger_entries_begin(has_ids);
    ledger_answers_begin(has_ids, timeout_ns);
    ledger_values_begin();
    ledger_push_begin();
    ledger_turns_begin();
}

/* --- what is sent --- */

/* A query that the product has not yet reported as sent. */
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

/* How long the answer to an expired query is awaited before its id is used again. */
static uint64_t reuse_ns(void)
{
    return timeout_ns > 1000 * MS ? 10 * timeout_ns : 10000 * MS;
}

void ledger_on_queued(uint32_t slot)
{
    struct queued_list *list = &queued[fiber_current()];

    if (slot >= list->room) {
        list->room = 2 * (slot + 512);
        list->all = memory_own(list->all, list->room * sizeof *list->all);
    }
    list->all[slot] = (struct queued){.woke_ns = ledger_turn()->woke_before_ns,
                                      .last_ns = fiber_clock_ns[fiber_current()]};
}

static uint64_t late_us(const struct inflight_query *q, uint64_t at_ns)
{
    return at_ns > q->intended_ns ? (at_ns - q->intended_ns) / 1000 : 0;
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* How late the query was queued, by a time that the clock showed since the worker woke, or just
 * before; if the connect rate held its connection back, how late that was opened. */
static void check_lateness(const struct tcp *t, const struct inflight_query *q, uint32_t slot)
{
    const struct queued *at = &queued[fiber_current()].all[slot];
    const bool was_paced = world.scenario.connect_rate > 0 && q->tag & CLIENT_QUERY_WAITED;
    const uint64_t connect_ns = was_paced ? t->ledger.connect_ns : 0;
    const uint64_t spare_ns = laws_most_late_connect_ns(&world.scenario);
    const uint64_t paced_ns = connect_ns > spare_ns ? connect_ns - spare_ns : 0;
    const uint64_t least_us = late_us(q, later(at->woke_ns, paced_ns));
    const uint64_t most_us = late_us(q, later(at->last_ns, connect_ns));

    LAW(q->late_us >= least_us && q->late_us <= most_us,
        "fd %d id %u: delayed %u us by this host, not %" PRIu64 " to %" PRIu64, t->fd, q->id,
        q->late_us, least_us, most_us);
}

void ledger_on_sent(uint32_t i, const struct inflight_query *q, uint32_t slot, uint64_t sent_ns)
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
        LAW(sent_ns - ledger_entry_at(e)->sent_ns + MS >= reuse_ns(),
            "fd %d id %u: used again after %" PRIu64 " ns", t->fd, q->id,
            sent_ns - ledger_entry_at(e)->sent_ns);
        ledger_entry_free(e);
        ledger_sums.n_recycled++;
    }
    e = ledger_entry_new(i, q->id);
    entry = ledger_entry_at(e);
    entry->class = q->tag & CLIENT_QUERY_CLASS;
    entry->intended_ns = q->intended_ns;
    entry->sent_ns = sent_ns;
    entry->late_us = q->late_us;
    check_lateness(t, q, slot);
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
    ledger_sums_count(t, entry, LEDGER_OF(sent));
    check_use(t, entry->class);
    ledger_idle_sent(i, q->tag & CLIENT_QUERY_WAITED);
    if (entry->class == TALLY_MEASURED)
        ledger_values_add(CLIENT_SEND_LAG, sent_ns - q->intended_ns);
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
    ledger_sums_count(t, entry, LEDGER_OF(expired));
    ledger_idle_rest(i);
    if (q->state == INFLIGHT_WAITING) {
        LAW(!entry->on_wire, "fd %d id %u: withdrawn, but written", t->fd, q->id);
        ledger_sums.n_withdrawn++;
        ledger_entry_free(e);
        return;
    }
    LAW(entry->on_wire || t->was_full, "fd %d id %u: never written", t->fd, q->id);
    entry->state = LEDGER_OWED;
    entry->expired_ns = fiber_clock_ns[fiber_current()];
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
            ledger_sums_count(t, entry, LEDGER_OF(lost));
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
    LAW(t->state != TCP_ESTABLISHED || t->reset_on_close == resets, "fd %d: closed with%s a reset",
        t->fd, t->reset_on_close ? "" : "out");
    LAW(t->ledger.first_entry == LEDGER_NONE, "fd %d: closed with queries that have no outcome",
        t->fd);
    if (ledger_turn()->tcp_name == tcp_name(i, t))
        ledger_turn_end(ledger_turn());
}

void ledger_end(void)
{
    LAW(ledger_entries_n() == 0, "%u queries have no outcome", ledger_entries_n());
}
