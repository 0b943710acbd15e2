/* SPDX-License-Identifier: MIT
 * timeline: the intervals of one or more interval logs in order of time, each kept as text and
 * decoded when needed: it takes a little more memory than the log has bytes.  Pure. */
#ifndef TCPSCALER_REPORT_TIMELINE_H
#define TCPSCALER_REPORT_TIMELINE_H

#include "report/hlog_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline_entry {
    uint64_t begin_ns, length_ns; /* since the epoch */
    uint64_t max_ns;
    uint64_t second;    /* since the first start of all; those of a log follow each other */
    uint32_t log;       /* the number of its log */
    uint32_t tag_index; /* its tag's among all tags; only in timeline.c */
    char tag[HLOG_TAG_BYTES];
    char *base64;
};

struct timeline {
    struct timeline_entry *entries;
    size_t n, room;
    bool is_joined; /* the text belongs to other timelines */
};

void timeline_free(struct timeline *t);

/* Adds an interval of a log that started at start_epoch_ns; copies its text.  Returns 0, or -1 if
 * out of memory. */
int timeline_add(struct timeline *t, uint64_t start_epoch_ns, const struct hlog_interval *interval);

/* Adds the entries of `from`, a log of this number, to a timeline that has only joined
 * ones.  They share the text, which is most of a log: free `from` last.  Returns 0, or -1 if out of
 * memory. */
int timeline_join(struct timeline *into, const struct timeline *from, uint32_t log);

/* Call it after adding the last one and before the first timeline_next().  The tags of a second
 * will be in the order in which they were first added. */
void timeline_sort(struct timeline *t);

/* Start of the first interval; UINT64_MAX if there is none. */
uint64_t timeline_first_ns(const struct timeline *t);

/* Merges the histograms of the next second of a tag and sets *covered: from the earliest start, and
 * of several logs the mean length, over which their rates add up.  *at is the position,
 * 0 at first; h is reset.  Returns 1, 0 at the end, -1 if out of memory. */
int timeline_next(const struct timeline *t, size_t *at, struct timeline_entry *covered,
                  struct hist *h);

#endif
