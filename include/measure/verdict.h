/* SPDX-License-Identifier: MIT
 * verdict: how far the results of a run can be trusted.  Pure: figures in, reasons out.
 *
 * A query's response time includes delays of this host: the query was sent late (send lag), its
 * answer waited in the kernel until the client read it (receive delay), or a packet was lost on
 * loopback, which is not the server's fault.  These parts are known for every query, so each
 * percentile is judged separately.  It holds if this host's own delay, at the same percentile, is
 * at most a tenth of it or below a limit that rises towards the tail, and if too few queries were
 * delayed by a loss to reach it.
 *
 * A stall of the server makes answers late but adds nothing to these parts: it is never mistaken
 * for noise.  The send lag of pushed messages is the server's: there it counts as noise, too. */
#ifndef TCPSCALER_MEASURE_VERDICT_H
#define TCPSCALER_MEASURE_VERDICT_H

#include "measure/latency.h"

#include <stdbool.h>
#include <stdint.h>

/* id, name (stable: a key in the JSON result), meaning. */
#define VERDICT_REASONS(X)                                                                         \
    X(GENERATOR_LIMITED, "generator-limited",                                                      \
      "the client is too slow for this rate: lower the rate, or use more threads or CPUs")         \
    X(NON_STATIONARY, "non-stationary",                                                            \
      "the server is overloaded (lower the rate) or stopped answering, so latency depends on how " \
      "long the run lasts")                                                                        \
    X(OUTPUT_LOST, "output-lost",                                                                  \
      "the raw output is incomplete: its disk or reader failed, or was too slow (see --raw-full)") \
    X(HOST_NOISE, "host-noise", "this host's own delays reach the --require percentile")           \
    X(MEMORY_PRESSURE, "memory-pressure",                                                          \
      "TCP ran low on memory on this host: raise net.ipv4.tcp_mem, or lower --sndbuf and "         \
      "--rcvbuf")                                                                                  \
    X(DATAGRAMS_DROPPED, "datagrams-dropped",                                                      \
      "dropped by this host's kernel, not lost by the server: use a larger --rcvbuf")              \
    X(CONNECTIONS_SHORT, "connections-short",                                                      \
      "fewer connections than requested: see the connection outcomes")                             \
    X(UNSENT, "unsent",                                                                            \
      "no connection could send them: see the connection outcomes, or use more connections")       \
    X(CHURN_PLATEAU, "churn-plateau",                                                              \
      "source ports exhausted: they, not the server, limit the rate: use --close rst or more "     \
      "--source")                                                                                  \
    X(PUSH_LOST, "push-lost",                                                                      \
      "pushed messages were lost, duplicated, damaged or truncated: use more threads, or "         \
      "tcpserver --sndbuf")                                                                        \
    X(CLOCKS_DISAGREE, "clocks-disagree",                                                          \
      "received before they were due: CLOCK_REALTIME differs between the hosts: synchronize it")   \
    X(START_MISSED, "start-missed",                                                                \
      "the start time had passed or could not be read, so nothing was measured: allow more time")  \
    X(CUT_SHORT, "cut-short",                                                                      \
      "still in flight at the end and counted as unanswered: use a longer --drain")                \
    X(NOTHING_MEASURED, "nothing-measured",                                                        \
      "no query or message was due: measure for longer, or at a higher rate")                      \
    X(INCONCLUSIVE, "inconclusive", "a search has no confirmed answer")

#define VERDICT_ENUM(id, name, meaning) VERDICT_##id,
enum verdict_reason { VERDICT_REASONS(VERDICT_ENUM) VERDICT_N_REASONS };

/* The percentiles that are judged: those of measure/latency.h, then the maximum; in the order of
 * --require's choices. */
#define VERDICT_CHOICE(key, name, in_table, num, den) name "|"
#define VERDICT_PERCENTILES                           LATENCY_PERCENTILES(VERDICT_CHOICE) "max"
#define VERDICT_N_PERCENTILES                         (LATENCY_N_PERCENTILES + 1)

struct verdict_percentile {
    uint64_t response_ns; /* HIST_BEYOND: among the unanswered */
    uint64_t own_ns;      /* send lag and receive delay of the same query, at the same rank */
};

/* Unknown figures are 0 with their `has_` flag false. */
struct verdict_input {
    uint64_t connections_wanted, connections_live; /* live and proven when the last query was due */
    uint64_t scheduled, unsent;                    /* measured queries */
    double sent_on_schedule; /* of the queries not counted as unsent, the fraction sent before the
                              * schedule ended */
    bool has_latency;
    uint64_t n_latencies; /* queries with an answer, or messages, and those that count as slower */
    struct verdict_percentile percentiles[VERDICT_N_PERCENTILES];
    uint64_t longest_hold_ns;   /* part of the own delay of some query: it waited for the connect
                                 * rate */
    unsigned required;          /* the index of the percentile that has to hold */
    uint64_t lost_segments;     /* retransmits of this run's connections, on loopback */
    uint64_t n_delayed_by_loss; /* upper bound of the number of queries that waited for them */
    bool has_growth;
    uint64_t in_flight_early, in_flight_late; /* least of the second and the last quarter */
    uint64_t rows_dropped;
    bool output_failed;
    bool has_steal;
    double steal_percent; /* of the machine's CPU time: explains a delay, is not one itself */
    uint64_t tcp_memory_pressures;
    uint64_t datagrams_dropped; /* at this host's sockets */
    uint64_t out_of_ports;      /* replacement connections that found no source port */
    bool of_messages;           /* latencies are those of pushed messages, not of queries */
    uint64_t messages_missing;  /* pushed messages: lost, duplicate or damaged */
    uint64_t unfinished;        /* connections whose messages were not read to the end */
    uint64_t negative_latencies;
    bool start_was_missed;
    uint64_t cancelled;    /* measured queries in flight at the end, unless interrupted */
    bool measured_nothing; /* queries or messages were requested, but none was due ... */
    bool interrupted;      /* ... because the run was interrupted before */
    bool search_is_inconclusive;
};

/* Whether percentile i reflects the server and not this host. */
bool verdict_holds(const struct verdict_input *in, unsigned i);

/* Number of percentiles that hold, from the median up to the first that does not: 0 to
 * VERDICT_N_PERCENTILES. */
unsigned verdict_n_holding(const struct verdict_input *in);

/* Whether the queries in flight kept growing, by the least number in the second and in the last
 * quarter. */
bool verdict_has_grown(uint64_t in_flight_early, uint64_t in_flight_late);

/* One bit (1 << reason) per reason to doubt; 0: VALID. */
unsigned verdict_judge(const struct verdict_input *in);

const char *verdict_name(enum verdict_reason reason);
const char *verdict_meaning(enum verdict_reason reason);

/* "p99", "max". */
const char *verdict_percentile_name(unsigned i);

#define VERDICT_TEXT_BYTES 256

/* Explains a reason from verdict_judge() in one line: its name, the figure with its limit, its
 * meaning.  Returns text (VERDICT_TEXT_BYTES). */
const char *verdict_explain(char *text, const struct verdict_input *in, enum verdict_reason reason);

/* One line: "VALID", "VALID to p99; p99.9 and above include ...", "SUSPECT (...)".  Returns text
 * (VERDICT_TEXT_BYTES). */
const char *verdict_headline(char *text, const struct verdict_input *in);

#endif
