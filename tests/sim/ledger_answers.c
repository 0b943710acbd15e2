/* SPDX-License-Identifier: MIT
 * ledger_answers: see ledger_answers.h. */
#include "ledger_answers.h"

#include "classes.h"
#include "client/worker/query.h"
#include "fiber.h"
#include "ledger.h"
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

/* How often the product reads CLOCK_MONOTONIC to convert a timestamp of CLOCK_REALTIME. */
enum { CLOCKS_OF_CONVERSION = 4 };

/* Sockets that are always ready delay a timeout by this much. */
#define MOST_PUT_OFF_NS 1000000000ull

static uint64_t timeout_ns;
static bool has_ids;

void ledger_answers_begin(bool answers_have_ids, uint64_t query_timeout_ns)
{
    has_ids = answers_have_ids;
    timeout_ns = query_timeout_ns;
}

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
    if (now->woke_ns == 0)
        now->woke_ns = now_ns;
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

/* When an answer arrived; if that is not known, when it was read. */
static uint64_t arrival_ns(const struct ledger_turn *now, const struct ledger_entry *entry)
{
    const uint64_t arrived_ns = now->arrived_ns;

    return arrived_ns > entry->sent_ns && arrived_ns < now->stamp_ns ? arrived_ns : now->stamp_ns;
}

/* An answer that arrived in time must have been read before its query was given up, unless other
 * work kept the product from reading it. */
static void check_late(const struct ledger_turn *now, const struct tcp *t,
                       const struct ledger_entry *entry)
{
    const uint64_t due_ns = entry->sent_ns + timeout_ns;

    LAW(arrival_ns(now, entry) >= due_ns || entry->expired_ns >= due_ns + MOST_PUT_OFF_NS,
        "fd %d id %u: given up, but answered in time, after %" PRIu64 " ns", t->fd, entry->id,
        arrival_ns(now, entry) - entry->sent_ns);
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
    check_late(now, t, ledger_entry_at(e));
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

void ledger_on_wait(void)
{
    struct ledger_turn *now = ledger_turn();

    ledger_on_turn();
    if (now->woke_ns != 0)
        now->woke_before_ns = now->woke_ns;
    now->woke_ns = 0;
}

void ledger_on_write(uint32_t i)
{
    const struct ledger_turn *now = ledger_turn();

    if (ledger_ids_n(&now->wire) == 0 || now->wire_name != tcp_name(i, tcp_at(i)))
        ledger_on_turn();
}

/* The parts of a response time: in the network, and on this host. */
static void add_parts(const struct ledger_turn *now, const struct ledger_entry *entry,
                      bool was_blocked)
{
    const uint64_t lag_ns =
        was_blocked ? entry->late_us * 1000 : entry->sent_ns - entry->intended_ns;
    const uint64_t arrived_ns = now->arrived_ns;

    if (arrived_ns != 0)
        ledger_values_add(CLIENT_NET,
                          arrived_ns > entry->sent_ns ? arrived_ns - entry->sent_ns : 0);
    ledger_values_add(CLIENT_OWN, lag_ns + now->stamp_ns - arrival_ns(now, entry));
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
    LAW(arrival_ns(now, entry) - entry->sent_ns < timeout_ns,
        "fd %d id %u: credited after its timeout", t->fd, q->id);
    ledger_sums_count(t, entry, LEDGER_OF(answered));
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
