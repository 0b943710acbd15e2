/* SPDX-License-Identifier: MIT
 * verdict: see verdict.h.  The limits are those of docs/report.md, "Verdict". */
#include "verdict.h"

#define MIN_SENT_ON_SCHEDULE 0.999
#define MAX_LAG_P50_NS       100000ull
#define MAX_LAG_P99_NS       1000000ull
#define MAX_STEAL_PERCENT    0.5

/* A queue that grows from nothing at a steady pace is 2.3 times as long in the last quarter as in
 * the second.  The constant keeps small numbers, which jump about, from being judged. */
#define MAX_GROWTH          1.5
#define MAX_GROWTH_CONSTANT 50.0

static bool schedule_was_missed(const struct verdict_input *in)
{
    const uint64_t p50_limit_ns = in->service_p50_ns / 10, p99_limit_ns = in->response_p99_ns / 10;

    if (in->scheduled > 0 && in->sent_on_schedule < MIN_SENT_ON_SCHEDULE)
        return true;
    if (!in->has_latency)
        return false;
    return (in->send_lag_p50_ns > MAX_LAG_P50_NS && in->send_lag_p50_ns > p50_limit_ns) ||
           (in->send_lag_p99_ns > MAX_LAG_P99_NS && in->send_lag_p99_ns > p99_limit_ns);
}

static bool grew(const struct verdict_input *in)
{
    return in->has_growth && (double)in->in_flight_late >
                                 MAX_GROWTH * (double)in->in_flight_early + MAX_GROWTH_CONSTANT;
}

static bool host_was_noisy(const struct verdict_input *in)
{
    return (in->has_steal && in->steal_percent > MAX_STEAL_PERCENT) ||
           (in->target_is_loopback && in->lost_segments > 0);
}

unsigned verdict_judge(const struct verdict_input *in)
{
    const bool doubts[VERDICT_N_REASONS] = {
        [VERDICT_GENERATOR_LIMITED] = schedule_was_missed(in),
        [VERDICT_NON_STATIONARY] = grew(in),
        [VERDICT_OUTPUT_LOST] = in->rows_dropped > 0 || in->output_failed,
        [VERDICT_HOST_NOISE] = host_was_noisy(in),
        [VERDICT_MEMORY_PRESSURE] = in->tcp_memory_pressures > 0,
        [VERDICT_CONNECTIONS_SHORT] =
            in->connections_live<in->connections_wanted, [VERDICT_UNSENT] = in->unsent> 0,
        [VERDICT_CHURN_PLATEAU] = in->out_of_ports > 0,
        [VERDICT_PUSH_LOST] = in->messages_missing > 0,
        [VERDICT_CLOCKS_DISAGREE] = in->negative_latencies > 0,
        [VERDICT_START_MISSED] = in->start_was_missed,
        [VERDICT_CUT_SHORT] = in->cancelled > 0,
        [VERDICT_NOTHING_MEASURED] = in->measured_nothing && !in->start_was_missed,
    };
    unsigned reasons = 0;

    for (int i = 0; i < VERDICT_N_REASONS; i++)
        reasons |= (unsigned)doubts[i] << i;
    return reasons;
}

#define VERDICT_NAME(id, name, meaning)    name,
#define VERDICT_MEANING(id, name, meaning) meaning,

const char *verdict_name(enum verdict_reason reason)
{
    static const char *const names[] = {VERDICT_REASONS(VERDICT_NAME)};

    return names[reason];
}

const char *verdict_meaning(enum verdict_reason reason)
{
    static const char *const meanings[] = {VERDICT_REASONS(VERDICT_MEANING)};

    return meanings[reason];
}
