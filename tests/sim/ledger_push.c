/* SPDX-License-Identifier: MIT
 * ledger_push: see ledger_push.h.  It uses these fields of tcp_ledger: first_entry and last_entry
 * (messages in transit), offset (bytes read of the first one) and missing (the next sequence
 * number). */
#include "ledger_push.h"

#include "client/worker/metric.h"
#include "fiber.h"
#include "ledger_values.h"
#include "memory.h"
#include "tcp.h"
#include "violation.h"

enum { HEADER_BYTES = 52 };

#define NONE UINT32_MAX

struct entry {
    struct ledger_message message;
    uint32_t next;
};

/* Messages that a fiber has read and not yet timestamped. */
struct turn {
    struct ledger_message *messages;
    uint32_t n, room;
    uint64_t tcp_name, arrived_ns;
};

static struct entry *all;
static uint32_t n_used, n_room, first_free;
static struct turn turns[FIBER_MOST];
static uint64_t measure_from_ns, measure_until_ns;
struct ledger_push_sums ledger_push_sums;

void ledger_push_begin(void)
{
    n_used = 0;
    first_free = NONE;
    measure_from_ns = measure_until_ns = 0;
    ledger_push_sums = (struct ledger_push_sums){0};
    for (int i = 0; i < FIBER_MOST; i++)
        turns[i].n = 0;
}

void ledger_push_span(uint64_t measure_ns, uint64_t end_ns)
{
    measure_from_ns = measure_ns;
    measure_until_ns = end_ns;
}

/* --- under way --- */

static uint32_t take_slot(void)
{
    const uint32_t e = first_free;

    if (e != NONE) {
        first_free = all[e].next;
        return e;
    }
    if (n_used == n_room) {
        n_room = n_room > 0 ? 2 * n_room : 1024;
        all = memory_own(all, n_room * sizeof *all);
    }
    return n_used++;
}

void ledger_push_sent(uint32_t i, const struct ledger_message *m)
{
    struct tcp_ledger *l = &tcp_at(i)->ledger;
    const uint32_t e = take_slot();

    all[e] = (struct entry){*m, NONE};
    if (l->first_entry == NONE)
        l->first_entry = e;
    else
        all[l->last_entry].next = e;
    l->last_entry = e;
}

static void drop_first(struct tcp_ledger *l)
{
    const uint32_t e = l->first_entry;

    l->first_entry = all[e].next;
    l->offset = 0;
    all[e].next = first_free;
    first_free = e;
}

void ledger_push_closed(uint32_t i)
{
    struct tcp_ledger *l = &tcp_at(i)->ledger;

    while (l->first_entry != NONE)
        drop_first(l);
}

/* --- read --- */

static void add(struct turn *t, const struct ledger_message *m)
{
    if (t->n == t->room) {
        t->room = t->room > 0 ? 2 * t->room : 64;
        t->messages = memory_own(t->messages, t->room * sizeof *t->messages);
    }
    t->messages[t->n++] = *m;
}

void ledger_push_received(uint32_t i, size_t n_bytes, uint64_t arrived_ns)
{
    struct tcp_ledger *l = &tcp_at(i)->ledger;
    struct turn *t = &turns[fiber_current()];

    LAW(t->n == 0, "fd %d: messages were read, but no clock", tcp_at(i)->fd);
    t->tcp_name = tcp_name(i, tcp_at(i));
    t->arrived_ns = arrived_ns;
    while (n_bytes > 0) {
        const struct ledger_message *m = &all[l->first_entry].message;
        const uint32_t left = m->n_bytes - l->offset;
        const uint32_t n = n_bytes < left ? (uint32_t)n_bytes : left;

        n_bytes -= n;
        l->offset += n;
        if (m->is_malformed && l->offset >= HEADER_BYTES) {
            ledger_push_sums.damaged++; /* and the connection ends */
            l->offset = 0;
            return;
        }
        if (n < left)
            return;
        add(t, m);
        drop_first(l);
    }
}

void ledger_push_ended(uint32_t i)
{
    struct tcp_ledger *l = &tcp_at(i)->ledger;

    ledger_push_sums.damaged += l->offset > 0;
    l->offset = 0;
}

/* --- what it counts for --- */

static bool is_measured(const struct ledger_message *m)
{
    return m->intended_ns >= measure_from_ns && m->intended_ns < measure_until_ns;
}

static void measure(const struct ledger_message *m, uint64_t arrived_ns, uint64_t received_ns)
{
    const uint64_t lag_ns = m->sent_ns - m->intended_ns;

    ledger_values_add(CLIENT_RESPONSE, received_ns - m->intended_ns);
    ledger_values_add(CLIENT_SERVICE, received_ns - m->sent_ns);
    ledger_values_add(CLIENT_SEND_LAG, lag_ns);
    if (arrived_ns != 0)
        ledger_values_add(CLIENT_NET, arrived_ns - m->sent_ns);
    ledger_values_add(CLIENT_OWN, lag_ns + (arrived_ns != 0 ? received_ns - arrived_ns : 0));
}

static void count(const struct ledger_message *m, uint64_t arrived_ns, uint64_t received_ns)
{
    struct ledger_push_sums *s = &ledger_push_sums;

    if (is_measured(m)) {
        s->measured++;
        measure(m, arrived_ns, received_ns);
    } else if (m->intended_ns < measure_from_ns) {
        s->before++;
    } else {
        s->after++;
    }
}

static void take(struct tcp_ledger *l, const struct ledger_message *m, uint64_t arrived_ns,
                 uint64_t received_ns)
{
    struct ledger_push_sums *s = &ledger_push_sums;
    const uint64_t n_lost = m->sequence > l->missing ? m->sequence - l->missing : 0;

    if (m->sequence < l->missing) {
        s->duplicate++;
        return;
    }
    l->missing = (uint32_t)m->sequence + 1;
    s->lost += n_lost;
    s->damaged += m->is_damaged;
    if (m->sequence == 0)
        return;
    if (is_measured(m)) {
        s->missed += n_lost + m->is_damaged;
        s->missed_damaged += m->is_damaged;
    }
    if (!m->is_damaged)
        count(m, arrived_ns, received_ns);
}

void ledger_push_stamped(uint64_t received_ns)
{
    struct turn *t = &turns[fiber_current()];
    struct tcp *tcp = t->n > 0 ? tcp_named(t->tcp_name) : NULL;

    for (uint32_t k = 0; tcp != NULL && k < t->n; k++)
        take(&tcp->ledger, &t->messages[k], t->arrived_ns, received_ns);
    t->n = 0;
}
