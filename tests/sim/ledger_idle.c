/* SPDX-License-Identifier: MIT
 * ledger_idle: see ledger_idle.h. */
#include "ledger_idle.h"

#include "fiber.h"
#include "laws.h"
#include "ledger.h"
#include "ledger_entries.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>

void ledger_idle_usable(uint32_t i)
{
    tcp_at(i)->ledger.is_usable = true;
    tcp_at(i)->ledger.allowed = UINT32_MAX;
    ledger_sums.n_usable++;
    ledger_idle_rest(i);
}

bool ledger_idle_is_usable(uint32_t i)
{
    return tcp_at(i)->ledger.is_usable && !tcp_at(i)->ledger.was_told_to_close;
}

void ledger_idle_sent(uint32_t i, bool has_waited)
{
    const struct tcp *t = tcp_at(i);

    LAW(!t->ledger.was_told_to_close, "fd %d: a query was sent after it was told to close", t->fd);
    ledger_sums.n_waited += has_waited;
    ledger_sums.n_reused += !has_waited;
}

void ledger_idle_rest(uint32_t i)
{
    tcp_at(i)->ledger.rest_ns = fiber_clock_ns[fiber_current()];
}

static bool has_in_flight(uint32_t i)
{
    uint32_t e = tcp_at(i)->ledger.first_entry;

    while (e != LEDGER_NONE && ledger_entry_at(e)->state != LEDGER_IN_FLIGHT)
        e = ledger_entry_at(e)->next;
    return e != LEDGER_NONE;
}

void ledger_idle_received(uint32_t i, const uint8_t *data, size_t n_bytes)
{
    struct tcp_ledger *l = &tcp_at(i)->ledger;

    if (!world.scenario.keepalive || !world.scenario.on_demand || world.scenario.protocol != 0)
        return;
    for (size_t k = 0; k < n_bytes; k++) {
        dns_keepalive_read(&l->answer, &data[k], 1);
        if (++l->n_answer <= 2)
            l->n_expected = l->n_expected << 8 | data[k];
        if (l->n_answer < 2 || l->n_answer < 2 + l->n_expected)
            continue;
        if (dns_keepalive_end(&l->answer) == DNS_KEEPALIVE_TIMEOUT) {
            l->allowed = l->answer.timeout;
            l->was_told_to_close |= l->allowed == 0;
        }
        l->n_answer = l->n_expected = 0;
    }
}

/* The product is to close a little before the server does. */
static uint64_t limit_ns(const struct tcp_ledger *l, uint64_t own_ns)
{
    const uint64_t allowed_ns = l->allowed * 100000000ull;
    const uint64_t most_ns = allowed_ns - allowed_ns / 10;
    const uint64_t own_limit_ns = own_ns > 0 ? own_ns : UINT64_MAX;

    return l->allowed != UINT32_MAX && most_ns < own_limit_ns ? most_ns : own_limit_ns;
}

void ledger_idle_close(uint32_t i, uint64_t own_ns, bool as_idle, bool has_queries)
{
    const struct tcp *t = tcp_at(i);
    const uint64_t idle_ns = fiber_clock_ns[fiber_current()] - t->ledger.rest_ns;
    const uint64_t late_ns = laws_most_late_ns(&world.scenario);
    const uint64_t most_ns = limit_ns(&t->ledger, own_ns);

    LAW(!as_idle || !(has_queries || has_in_flight(i)),
        "fd %d: closed as idle with a query in flight", t->fd);
    LAW(!as_idle || idle_ns >= most_ns || t->ledger.was_told_to_close,
        "fd %d: closed after idling for %" PRIu64 " of %" PRIu64 " ns", t->fd, idle_ns, most_ns);
    LAW(has_queries || late_ns == UINT64_MAX || most_ns == UINT64_MAX ||
            idle_ns <= most_ns + late_ns,
        "fd %d: idle for %" PRIu64 " ns, but may only be for %" PRIu64, t->fd, idle_ns, most_ns);
}
