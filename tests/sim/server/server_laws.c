/* SPDX-License-Identifier: MIT
 * server_laws: see server_laws.h. */
#include "server_laws.h"

#include "clients.h"
#include "headers.h"
#include "refusal.h"
#include "tcp.h"
#include "tls_claims.h"
#include "violation.h"

#include <inttypes.h>

static void equal(const char *what, uint64_t is, uint64_t expected)
{
    LAW(is == expected, "%s: %" PRIu64 ", not %" PRIu64, what, is, expected);
}

/* Ends that the server causes itself. */
static bool is_own_cause(const struct scenario *s, enum outcome_phase p, enum outcome_reason r)
{
    const bool is_short = s->malloc_ppm > 0 || s->watch_permille > 0;

    return (p == PHASE_RUN && r == REASON_FINISHED && s->closings > 0) ||
           ((p == PHASE_TLS || p == PHASE_RECEIVE || p == PHASE_SEND) &&
            ((r == REASON_TIMEOUT && s->idle_timeout_us > 0) || (r == REASON_MEMORY && is_short) ||
             (r == REASON_WATCHES && s->watch_permille > 0)));
}

/* Each connection has one outcome, that of the last call; the remaining ones were ended by the
 * server. */
static void check_outcomes(const struct scenario *s, const struct server_tally *t)
{
    uint64_t n = 0, n_unexplained = tally_get(&t->accepted) - tally_get(&t->n_closed);

    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        for (int r = 0; r < OUTCOME_N_REASONS; r++) {
            const uint64_t is = tally_get(&t->closed[p][r]), told = clients_figures.closed[p][r];

            n += is;
            n_unexplained += is - told;
            LAW(is == told ||
                    (is > told && is_own_cause(s, (enum outcome_phase)p, (enum outcome_reason)r)),
                "%s/%s: %" PRIu64 ", not %" PRIu64, outcome_phase_name((enum outcome_phase)p),
                outcome_reason_name((enum outcome_reason)r), is, told);
        }
    equal("the sum of the outcomes", tally_get(&t->n_closed), n);
    equal("ends without a cause", n_unexplained, clients_figures.n_unexplained);
}

static void check_refusals(const struct scenario *s, const struct server_tally *t)
{
    const bool may_fail = s->accept_permille > 0 || s->open_permille > 0;
    const bool may_lack_fds = s->fd_limit > 0 || may_fail;
    const bool may_lack_memory =
        may_fail || s->malloc_ppm > 0 || s->watch_permille > 0 || s->memory_grant > 0;
    const bool may[SERVER_N_REFUSALS] = {
        [SERVER_REFUSED_CONNECTIONS] = s->max_connections > 0,
        [SERVER_REFUSED_SOURCE] = s->max_per_source > 0,
        [SERVER_REFUSED_HEADER_MALFORMED] = s->wrong_header_permille > 0,
        [SERVER_REFUSED_HEADER_MISSING] = s->proxy > 0,
        [SERVER_REFUSED_HEADER_LATE] = s->proxy > 0,
        [SERVER_REFUSED_FDS] = may_lack_fds,
        [SERVER_REFUSED_MEMORY] = may_lack_memory,
        [SERVER_REFUSED_WATCHES] = s->watch_permille > 0,
    };
    uint64_t n = 0;

    for (int why = 0; why < SERVER_N_REFUSALS; why++) {
        n += tally_get(&t->refused[why]);
        LAW(may[why] || tally_get(&t->refused[why]) == 0, "refused without a reason: %s",
            server_refusal_name((enum server_refusal)why));
    }
    equal("the sum of the refusals", tally_get(&t->n_refused), n);
    equal("refused", n, clients_figures.n_refused);
    LAW(may_fail || s->malloc_ppm > 0 || s->memory_grant > 0 ||
            tally_get(&t->refused[SERVER_REFUSED_MEMORY]) <= refusal_figures.n_memory,
        "refused for lack of memory: %" PRIu64 ", of at most %" PRIu64,
        tally_get(&t->refused[SERVER_REFUSED_MEMORY]), refusal_figures.n_memory);
    LAW(tally_get(&t->refused[SERVER_REFUSED_WATCHES]) <= refusal_figures.n_limit,
        "refused by the limit of epoll: %" PRIu64 ", of at most %" PRIu64,
        tally_get(&t->refused[SERVER_REFUSED_WATCHES]), refusal_figures.n_limit);
}

static void check_tls(const struct server_tally *t)
{
    equal("secured", tally_get(&t->secured), tls_claims.n_established);
    equal("resumed", tally_get(&t->resumed), tls_claims.n_resumed);
}

static void check_headers(const struct scenario *s, const struct server_tally *t)
{
    const struct headers_figures *f = &headers_figures;
    const uint64_t late = tally_get(&t->refused[SERVER_REFUSED_HEADER_LATE]);
    const uint64_t missing = tally_get(&t->refused[SERVER_REFUSED_HEADER_MISSING]);

    equal("bytes of PROXY headers", tally_get(&t->header_bytes), f->n_bytes);
    equal("malformed PROXY headers", tally_get(&t->refused[SERVER_REFUSED_HEADER_MALFORMED]),
          f->n_malformed);
    LAW(tally_get(&t->headers) >= f->n_complete && tally_get(&t->headers_local) >= f->n_local,
        "PROXY headers: %" PRIu64 ", not %" PRIu64, tally_get(&t->headers), f->n_complete);
    LAW(late <= f->n_late, "late PROXY headers: %" PRIu64 ", not %" PRIu64, late, f->n_late);
    LAW(late + missing <= f->n_ended + f->n_late, "PROXY headers not complete: %" PRIu64,
        late + missing);
    if (s->malloc_ppm > 0 || s->watch_permille > 0 || s->proxy == 0)
        return;
    equal("PROXY headers not complete", late + missing, f->n_ended + f->n_late);
    equal("PROXY headers", tally_get(&t->headers), f->n_complete + f->n_limited);
    equal("refused in spite of their headers", tally_get(&t->refused[SERVER_REFUSED_SOURCE]),
          f->n_limited);
}

static void check_pushes(const struct server_tally *t)
{
    const uint64_t pushed = tally_get(&t->pushed), dropped = tally_get(&t->push_dropped);

    LAW(pushed >= clients_figures.n_messages &&
            pushed <= clients_figures.n_messages + clients_figures.n_begun,
        "pushed: %" PRIu64 ", not %" PRIu64, pushed, clients_figures.n_messages);
    LAW(dropped >= clients_figures.n_gaps, "dropped: %" PRIu64 ", but %" PRIu64 " are missing",
        dropped, clients_figures.n_gaps);
}

void server_laws_check(const struct scenario *s, const struct server_config *config,
                       const struct server_workers *workers)
{
    const struct clients_figures *f = &clients_figures;
    const uint64_t peak = atomic_load(&config->n_peak);
    struct server_tally sum = {0};

    for (uint32_t i = 0; i < workers->n; i++)
        server_tally_merge(&sum, workers->tallies[i]);
    equal("accepted and served", tally_get(&sum.accepted), f->n_served);
    equal("accepted", tally_get(&sum.accepted) + tally_get(&sum.n_refused), f->n_accepted);
    equal("still open", f->n_active, 0);
    check_outcomes(s, &sum);
    check_refusals(s, &sum);
    check_headers(s, &sum);
    check_pushes(&sum);
    check_tls(&sum);
    equal("bytes received", tally_get(&sum.bytes_received), f->bytes_received);
    equal("bytes sent", tally_get(&sum.bytes_sent), f->bytes_sent);
    equal("bytes received by TCP", tcp_figures.bytes_received,
          f->bytes_received + headers_figures.n_bytes);
    equal("bytes sent by TCP", tcp_figures.bytes_sent, f->bytes_sent);
    equal("active", atomic_load(&config->n_active),
          tally_get(&sum.accepted) - tally_get(&sum.n_closed));
    equal("subscribers", atomic_load(&config->n_subscribers), 0);
    if (s->malloc_ppm == 0 && s->watch_permille == 0 &&
        (s->workers + s->spare_workers == 1 || s->preempt_permille == 0))
        equal("peak", peak, f->n_peak);
}
