/* SPDX-License-Identifier: MIT
 * ledger_tls: see ledger_tls.h. */
#include "ledger_tls.h"

#include "classes.h"
#include "fiber.h"
#include "peer_tls.h"
#include "tcp.h"
#include "tls_claims.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <inttypes.h>

#define MS 1000000ull

static uint64_t timeout_ns;
struct ledger_tls_sums ledger_tls_sums;

void ledger_tls_begin(uint64_t of_ns)
{
    timeout_ns = of_ns;
    ledger_tls_sums = (struct ledger_tls_sums){.min_ns = UINT64_MAX};
}

void ledger_tls_on_begin(uint32_t i)
{
    tcp_at(i)->tls.begin_ns = fiber_clock_ns[fiber_current()];
    tcp_at(i)->tls.had_ticket = tls_claims_has_ticket(i);
}

/* A fatal alert ends the session of a ticket, too (RFC 5246, 7.2.2): where there are some, the next
 * handshake may be a full one. */
static void check_resumption(const struct tcp *t, bool is_resumed)
{
    const struct scenario *s = &world.scenario;
    const bool expected = s->tls_resume && t->tls.had_ticket;

    LAW(is_resumed == expected || (!is_resumed && s->damaged_permille + s->handshake_permille > 0),
        "fd %d: %s handshake, %s a ticket", t->fd, is_resumed ? "an abbreviated" : "a full",
        expected ? "with" : "without");
}

/* How late a timer, and the work that follows it, may be. */
static uint64_t most_late_ns(void)
{
    const struct scenario *s = &world.scenario;

    return 200 * MS + (4 + 200 * s->preempt_permille) * s->wakeup_us * 1000 +
           1000 * s->connections * s->call_ns;
}

void ledger_tls_on_secured(uint32_t i, uint64_t handshake_ns)
{
    const struct tcp *t = tcp_at(i);
    struct ledger_tls_sums *sums = &ledger_tls_sums;

    LAW(t->tls.is_established, "fd %d: secured before the handshake is complete", t->fd);
    LAW(handshake_ns == fiber_clock_ns[fiber_current()] - t->tls.begin_ns,
        "fd %d: a handshake of %" PRIu64 " ns", t->fd, handshake_ns);
    LAW(handshake_ns <= timeout_ns + most_late_ns(),
        "fd %d: a handshake of %" PRIu64 " ns, beyond its timeout", t->fd, handshake_ns);
    check_resumption(t, peer_tls_is_resumed(i));
    sums->n_secured++;
    sums->n_secured_of[classes_of(t)]++;
    sums->n_resumed += peer_tls_is_resumed(i);
    if (handshake_ns < sums->min_ns)
        sums->min_ns = handshake_ns;
    if (handshake_ns > sums->max_ns)
        sums->max_ns = handshake_ns;
}

/* How early a timer may be: because of the coarse clock, and of the loop's cached time, which
 * does not advance during a turn. */
static uint64_t most_early_ns(void)
{
    const struct scenario *s = &world.scenario;

    return 8 * MS + s->clock_step_ns + (2000 + 100 * s->connections) * s->call_ns +
           200 * s->preempt_permille * s->wakeup_us * 1000;
}

void ledger_tls_on_close(uint32_t i, struct outcome outcome)
{
    const struct tcp *t = tcp_at(i);
    const uint64_t age_ns = world.now_ns - t->tls.begin_ns;

    if (t->tls.begin_ns == 0 || t->tls.is_established)
        return;
    LAW(outcome.phase != PHASE_TLS || outcome.reason != REASON_TIMEOUT ||
            t->last.result == -ETIMEDOUT || age_ns + most_early_ns() >= timeout_ns,
        "fd %d: the handshake times out after %" PRIu64 " ns", t->fd, age_ns);
    LAW(age_ns <= timeout_ns + most_late_ns(), "fd %d: no handshake for %" PRIu64 " ns", t->fd,
        age_ns);
}
