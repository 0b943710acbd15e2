/* SPDX-License-Identifier: MIT
 * verdict: may the figures of this run be believed?  Pure: figures in, reasons out. */
#ifndef TCPSCALER_VERDICT_H
#define TCPSCALER_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/* id, name (stable: a key in the JSON result), what it means for the reader. */
#define VERDICT_REASONS(X)                                                                         \
    X(GENERATOR_LIMITED, "generator-limited",                                                      \
      "queries, or messages pushed, left late: fewer per second, more threads or a faster "        \
      "machine")                                                                                   \
    X(NON_STATIONARY, "non-stationary",                                                            \
      "queries in flight grew through the run: the server is overloaded, latency has no value")    \
    X(OUTPUT_LOST, "output-lost", "rows are missing from the raw output")                          \
    X(HOST_NOISE, "host-noise",                                                                    \
      "other guests took CPU time, or loopback lost packets, while measuring")                     \
    X(MEMORY_PRESSURE, "memory-pressure",                                                          \
      "TCP's memory ran short on this host: a larger net.ipv4.tcp_mem, or smaller buffers")        \
    X(CONNECTIONS_SHORT, "connections-short", "fewer connections lived than were asked for")       \
    X(UNSENT, "unsent", "queries became due that no connection could take")                        \
    X(CHURN_PLATEAU, "churn-plateau",                                                              \
      "source ports exhausted: the rate of connections is that of TIME_WAIT, not of the server")   \
    X(PUSH_LOST, "push-lost",                                                                      \
      "messages were dropped for listeners that were too slow, came twice, damaged or cut off")    \
    X(CLOCKS_DISAGREE, "clocks-disagree",                                                          \
      "messages came before they were due: CLOCK_REALTIME differs between the hosts")              \
    X(START_MISSED, "start-missed",                                                                \
      "the time to begin had passed, or none could be read: nothing was measured")                 \
    X(CUT_SHORT, "cut-short",                                                                      \
      "the run ended with queries in flight, which count as unanswered: a longer --drain")         \
    X(NOTHING_MEASURED, "nothing-measured",                                                        \
      "no query or message was due in the measurement: a longer --duration or a higher --rate")

#define VERDICT_ENUM(id, name, meaning) VERDICT_##id,
enum verdict_reason { VERDICT_REASONS(VERDICT_ENUM) VERDICT_N_REASONS };

/* Figures that are not known are 0 with their `has_` flag false. */
struct verdict_input {
    uint64_t connections_wanted, connections_live; /* live and proven when the last query was due */
    uint64_t scheduled, sent, unsent;              /* measured queries */
    double sent_on_schedule; /* part of those not unsent that was sent by the end of the schedule */
    bool has_latency;
    uint64_t send_lag_p50_ns, send_lag_p99_ns, service_p50_ns, response_p99_ns; /* HIST_BEYOND ok */
    bool has_growth;
    uint64_t in_flight_early, in_flight_late; /* means over the second and the last quarter */
    uint64_t rows_dropped;
    bool output_failed;
    bool has_steal;
    double steal_percent;
    bool target_is_loopback;
    uint64_t lost_segments; /* of usable connections of this run */
    uint64_t tcp_memory_pressures;
    uint64_t out_of_ports;     /* connections that found no source port in the place of others */
    uint64_t messages_missing; /* pushed ones: lost, duplicate, damaged; connections cut off */
    uint64_t negative_latencies;
    bool start_was_missed;
    uint64_t cancelled;    /* measured queries in flight at the end, unless it was interrupted */
    bool measured_nothing; /* queries or messages were asked for and none was due */
};

/* A set bit (1 << reason) for each reason to doubt; 0: VALID. */
unsigned verdict_judge(const struct verdict_input *in);

const char *verdict_name(enum verdict_reason reason);
const char *verdict_meaning(enum verdict_reason reason);

#endif
