/* SPDX-License-Identifier: MIT
 * watch_series: what a watched server used, sample by sample, as written to and read from JSON.
 * Pure. */
#ifndef TCPSCALER_MEASURE_WATCH_SERIES_H
#define TCPSCALER_MEASURE_WATCH_SERIES_H

#include <stddef.h>
#include <stdint.h>

#define WATCH_UNKNOWN UINT64_MAX

/* id, key, of a sample.  CPU time and the last two only grow. */
#define WATCH_FIGURES(X)                                                                           \
    X(EPOCH_NS, "epoch_ns")                   /* CLOCK_REALTIME */                                 \
    X(CONNECTIONS, "connections")             /* open: usable in tcpclient, or established here */ \
    X(QUERIES, "queries")                     /* sent so far */                                    \
    X(USER_US, "user_us")                     /* CPU time of all processes so far, ... */          \
    X(SYSTEM_US, "system_us")                 /* ... including those that have ended */            \
    X(PROCESSES, "processes")                 /* processes */                                      \
    X(RSS_BYTES, "rss_bytes")                 /* resident; shared memory counts in each process */ \
    X(PSS_BYTES, "pss_bytes")                 /* resident; shared memory counts once */            \
    X(FDS, "fds")                             /* open file descriptors */                          \
    X(CGROUP_BYTES, "cgroup_bytes")           /* memory charged to their control group ... */      \
    X(CGROUP_USER_BYTES, "cgroup_user_bytes") /* ... of which: anonymous memory, */                \
    X(CGROUP_KERNEL_BYTES, "cgroup_kernel_bytes") /* kernel objects and socket buffers, */         \
    X(CGROUP_SOCKET_BYTES, "cgroup_socket_bytes") /* of these: socket buffers */                   \
    X(ESTABLISHED, "established")                 /* sockets of the port, by state */              \
    X(SYN_RECEIVED, "syn_received")                                                                \
    X(FIN_WAIT, "fin_wait")                                                                        \
    X(TIME_WAIT, "time_wait")                                                                      \
    X(CLOSE_WAIT, "close_wait")                                                                    \
    X(OTHER_STATES, "other_states")                                                                \
    X(BUFFER_BYTES, "buffer_bytes")         /* their send and receive buffers */                   \
    X(LISTEN_QUEUE, "listen_queue")         /* connections waiting for accept, longest queue */    \
    X(LISTEN_BACKLOG, "listen_backlog")     /* what such a queue holds, smallest */                \
    X(LISTEN_OVERFLOWS, "listen_overflows") /* of the server's network namespace */                \
    X(LISTEN_DROPS, "listen_drops")

#define WATCH_FIGURE_ENUM(id, key) WATCH_##id,
enum watch_figure { WATCH_FIGURES(WATCH_FIGURE_ENUM) WATCH_N_FIGURES };

/* Unknown figures are WATCH_UNKNOWN. */
struct watch_sample {
    uint64_t at[WATCH_N_FIGURES];
};

/* The key of a figure, and the figure of a key; WATCH_N_FIGURES: none. */
const char *watch_figure_key(enum watch_figure figure);
enum watch_figure watch_figure_of(const char *key);

void watch_sample_init(struct watch_sample *sample); /* all unknown */

/* Samples at equal distances, and the newest one: when there are too many, every other one is
 * dropped. */
#define WATCH_SERIES_MOST 8193u
struct watch_series {
    struct watch_sample *items;
    size_t n;
    size_t n_fixed; /* the first ones, which are not dropped; of the others it ... */
    size_t every;   /* ... keeps one of `every` ... */
    size_t n_since; /* ... and the newest, n_since after the last of these */
    struct watch_sample most, least; /* known values of all that were added */
};

/* Zero-initialize before the first.  Returns 0, or -1 if out of memory. */
int watch_series_add(struct watch_series *s, const struct watch_sample *sample);
void watch_series_free(struct watch_series *s);

/* Keeps the samples so far, at most half of WATCH_SERIES_MOST, however many follow.  Only the first
 * call has an effect. */
void watch_series_fix(struct watch_series *s);

/* The highest and the lowest known value of a figure in all samples, dropped ones included, or
 * WATCH_UNKNOWN; and its growth from the first to the last known value of those that are kept,
 * WATCH_UNKNOWN if there are not two or if it fell. */
uint64_t watch_series_most(const struct watch_series *s, enum watch_figure figure);
uint64_t watch_series_least(const struct watch_series *s, enum watch_figure figure);
uint64_t watch_series_growth(const struct watch_series *s, enum watch_figure figure);

#endif
