/* SPDX-License-Identifier: MIT
 * diagnosis_line: the input of a diagnosis, and its lines, one limit each.  Pure. */
#ifndef TCPSCALER_HOST_DIAGNOSIS_LINE_H
#define TCPSCALER_HOST_DIAGNOSIS_LINE_H

#include "host/limits.h"
#include "measure/losses.h"
#include "measure/tally.h"

#include <stdbool.h>
#include <stdint.h>

#define DIAGNOSIS_LINES      17
#define DIAGNOSIS_TEXT_BYTES 200

struct diagnosis_input {
    const struct tally *tally;
    const char *target; /* the server's address and port, with classes the one that refused
                         * connections; as printed */
    bool target_serves; /* it has live connections that have not become unresponsive */
    bool has_classes;   /* each may have its own port */
    const char *silent; /* ports whose connections were never answered, while all other connections
                           were; NULL: none */
    const char *lost;   /* ports that answered and have no connection left, while the others still
                           have all; NULL: none */
    const char *protocol;
    bool over_tls, over_udp; /* all connections */
    bool with_proxy_headers; /* each begins with a PROXY header */
    bool listens;            /* sends nothing before the server has spoken */
    uint64_t not_begun;      /* connections not attempted because the first ones got no answer */
    const struct losses *losses;
    bool none_is_left;                     /* no connection is left */
    bool server_was_tried, server_accepts; /* afterwards; those without connections */
    uint64_t unresponsive, live;           /* at the end */
    uint64_t answering;                    /* of the live ones: answered, without a timeout since */
    uint64_t half_open;
    const char *shortage; /* why memory was short, if it stopped opening; NULL: it was not */
    const struct host_limits *host; /* when the last query was resolved */
    uint64_t listen_overflows;      /* of the server's accept queues, during the run; or unknown */
    uint64_t n_tuples;              /* available source tuples; or unknown */
    uint64_t tuples_in_use;         /* of these, by other sockets before the run */
    uint64_t tuples_in_time_wait;   /* of these, in TIME_WAIT before the run and at its end; or
                                     * unknown */
    uint64_t in_time_wait;          /* towards the target; or unknown */
    bool threads_are_auto, own_fd_tables;
    bool on_demand;     /* queries open the connections */
    bool reconnects;    /* failed connections are replaced */
    bool churns;        /* connections are replaced by design ... */
    double churn_per_s; /* ... at this rate */
};

struct diagnosis_line {
    const char *limit;    /* stable: a value in the JSON result */
    uint64_t connections; /* affected by it */
    char evidence[DIAGNOSIS_TEXT_BYTES];
    char remedy[DIAGNOSIS_TEXT_BYTES];
};

struct diagnosis {
    struct diagnosis_line lines[DIAGNOSIS_LINES];
    unsigned n_lines;
};

/* Connections that ended for this reason. */
uint64_t diagnosis_line_count(const struct diagnosis_input *in, enum outcome_reason reason);

/* Connects that timed out. */
uint64_t diagnosis_line_count_stalled(const struct diagnosis_input *in);

/* Adds a line without text. */
struct diagnosis_line *diagnosis_line_add(struct diagnosis *d, const char *limit,
                                          uint64_t connections);

/* Writes DIAGNOSIS_TEXT_BYTES at most. */
__attribute__((format(printf, 2, 3))) void diagnosis_line_say(char *text, const char *format, ...);

#endif
