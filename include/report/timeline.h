/* SPDX-License-Identifier: MIT
 * timeline: the intervals of one or several interval logs in the order of time, each kept as the
 * text it came as and decoded when it is its turn: an hour of a run is some 10 MB.  Pure. */
#ifndef TCPSCALER_REPORT_TIMELINE_H
#define TCPSCALER_REPORT_TIMELINE_H

#include "report/hlog_reader.h"

struct timeline_entry {
    uint64_t begin_ns, length_ns; /* since the epoch */
    uint64_t max_ns;
    uint64_t second; /* since the first begin of all, to the nearest */
    char tag[HLOG_TAG_BYTES];
    char *base64;
};

struct timeline {
    struct timeline_entry *entries;
    size_t n, room;
};

void timeline_free(struct timeline *t);

/* An interval of a log that began at start_epoch_ns.  Returns 0, or -1 without memory. */
int timeline_add(struct timeline *t, uint64_t start_epoch_ns, const struct hlog_interval *interval);

/* Copies the entries of `from`.  Returns 0, or -1 without memory. */
int timeline_join(struct timeline *into, const struct timeline *from);

/* After the last one was added, before the first timeline_next(). */
void timeline_sort(struct timeline *t);

/* When the first interval begins; UINT64_MAX: there is none. */
uint64_t timeline_first_ns(const struct timeline *t);

/* The next second of a tag: its histograms in one, and what they cover.  *at is where to go on, 0
 * at first; h is reset.  Returns 1, 0 at the end, -1 when there is no memory. */
int timeline_next(const struct timeline *t, size_t *at, struct timeline_entry *covered,
                  struct hist *h);

#endif
