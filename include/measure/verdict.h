/* SPDX-License-Identifier: MIT
 * verdict: how far the figures of a run may be believed.  Pure: figures in, reasons out.
 *
 * The response time of a query is, in part, this host's own doing: the query left after it was due
 * (send lag), its answer waited in the kernel for the client to read it (receive delay), or a
 * packet was lost on loopback, which is not the server's.  These parts are known for every query,
 * so each percentile is judged by itself.  It holds when this host's own delay, at the same
 * percentile, is at most a tenth of it or below a limit that rises towards the tail, and when too
 * few queries to reach it were delayed by a loss.
 *
 * A stall of the server makes answers late and adds nothing to these parts: it is never taken for
 * noise. */
#ifndef TCPSCALER_MEASURE_VERDICT_H
#define TCPSCALER_MEASURE_VERDICT_H

#include "measure/latency.h"

#include <stdbool.h>
#include <stdint.h>

/* id, name (stable: a key in the JSON result), what it means for the reader. */
#define VERDICT_REASONS(X)                                                                         \
    X(GENERATOR_LIMITED, "generator-limited",                                                      \
      "the client, or the server that pushes, did not keep the schedule")                          \
    X(NON_STATIONARY, "non-stationary",                                                            \
      "the server is overloaded: latency depends on how long the run lasts")                       \
    X(OUTPUT_LOST, "output-lost", "rows are missing from the raw output")                          \
    X(HOST_NOISE, "host-noise",                                                                    \
      "this host's own delays reach the percentile that --require names")                          \
    X(MEMORY_PRESSURE, "memory-pressure", "TCP ran short of memory on this host")                  \
    X(CONNECTIONS_SHORT, "connections-short", "fewer connections lived than were requested")       \
    X(UNSENT, "unsent", "queries were due while no connection could take them")                    \
    X(CHURN_PLATEAU, "churn-plateau",                                                              \
      "source ports ran out: TIME_WAIT limits the rate of connections, not the server")            \
    X(PUSH_LOST, "push-lost", "pushed messages were lost, repeated, damaged or cut off")           \
    X(CLOCKS_DISAGREE, "clocks-disagree",                                                          \
      "messages arrived before they were due: CLOCK_REALTIME differs between the hosts")           \
    X(START_MISSED, "start-missed",                                                                \
      "the time to start had passed, or none could be read: nothing was measured")                 \
    X(CUT_SHORT, "cut-short",                                                                      \
      "the run ended with queries in flight, which count as unanswered: a longer --drain")         \
    X(NOTHING_MEASURED, "nothing-measured",                                                        \
      "no query or message was due in the measurement: a longer --duration or a higher --rate")

#define VERDICT_ENUM(id, name, meaning) VERDICT_##id,
enum verdict_reason { VERDICT_REASONS(VERDICT_ENUM) VERDICT_N_REASONS };

/* The percentiles that are judged: those of measure/latency.h, then the maximum.  In the order of
 * --require's choices. */
#define VERDICT_PERCENTILES   "p50|p90|p95|p99|p99.9|p99.99|max"
#define VERDICT_N_PERCENTILES (LATENCY_N_PERCENTILES + 1)

struct verdict_percentile {
    uint64_t response_ns; /* HIST_BEYOND: among the unanswered */
    uint64_t own_ns;      /* send lag and receive delay of the same query, at the same percentile */
};

/* Figures that are not known are 0 with their `has_` flag false. */
struct verdict_input {
    uint64_t connections_wanted, connections_live; /* live and proven when the last query was due */
    uint64_t scheduled, sent, unsent;              /* measured queries */
    double sent_on_schedule; /* part of those not unsent that was sent by the end of the schedule */
    bool has_latency;
    uint64_t n_latencies; /* queries with an answer, and those that count as beyond */
    struct verdict_percentile percentiles[VERDICT_N_PERCENTILES];
    unsigned required;          /* the index of the percentile that has to hold */
    uint64_t lost_segments;     /* packets of this run's connections sent again, on loopback */
    uint64_t n_delayed_by_loss; /* at most so many queries were in flight behind them */
    bool has_growth;
    uint64_t in_flight_early, in_flight_late; /* means over the second and the last quarter */
    uint64_t rows_dropped;
    bool output_failed;
    bool has_steal;
    double steal_percent; /* of the machine's CPU time: what explains a delay, none itself */
    uint64_t tcp_memory_pressures;
    uint64_t out_of_ports;     /* connections that found no source port in the place of others */
    uint64_t messages_missing; /* pushed ones: lost, duplicate, damaged; connections cut off */
    uint64_t negative_latencies;
    bool start_was_missed;
    uint64_t cancelled;    /* measured queries in flight at the end, unless it was interrupted */
    bool measured_nothing; /* queries or messages were asked for and none was due */
};

/* Whether percentile i is the server's and not this host's. */
bool verdict_holds(const struct verdict_input *in, unsigned i);

/* How many percentiles hold, from the median up to the first that does not: 0 to
 * VERDICT_N_PERCENTILES. */
unsigned verdict_n_holding(const struct verdict_input *in);

/* A set bit (1 << reason) for each reason to doubt; 0: VALID. */
unsigned verdict_judge(const struct verdict_input *in);

const char *verdict_name(enum verdict_reason reason);
const char *verdict_meaning(enum verdict_reason reason);

/* "p99", "max". */
const char *verdict_percentile_name(unsigned i);

#define VERDICT_TEXT_BYTES 256

/* One line for a reason that verdict_judge() gave: its name, the figure with its limit, what it
 * means.  Returns text, of VERDICT_TEXT_BYTES. */
const char *verdict_explain(char *text, const struct verdict_input *in, enum verdict_reason reason);

/* One line: "VALID", "VALID to p99; p99.9 and beyond include ...", "SUSPECT (...)".  Returns text,
 * of VERDICT_TEXT_BYTES. */
const char *verdict_headline(char *text, const struct verdict_input *in);

#endif
