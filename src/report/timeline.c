/* SPDX-License-Identifier: MIT
 * timeline: see report/timeline.h. */
#include "report/timeline.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

void timeline_free(struct timeline *t)
{
    for (size_t i = 0; i < t->n && !t->is_joined; i++)
        free(t->entries[i].base64);
    free(t->entries);
    *t = (struct timeline){0};
}

static int append(struct timeline *t, const struct timeline_entry *entry)
{
    if (t->n == t->room) {
        const size_t room = t->room > 0 ? 2 * t->room : 64;
        struct timeline_entry *entries = realloc(t->entries, room * sizeof *entries);

        if (entries == NULL)
            return -1;
        t->entries = entries;
        t->room = room;
    }
    t->entries[t->n++] = *entry;
    return 0;
}

int timeline_add(struct timeline *t, uint64_t start_epoch_ns, const struct hlog_interval *interval)
{
    char *text = strndup(interval->base64, interval->n_base64);
    struct timeline_entry entry = {
        .begin_ns = start_epoch_ns + interval->begin_ns,
        .length_ns = interval->length_ns,
        .max_ns = interval->max_ns,
        .base64 = text,
    };

    memcpy(entry.tag, interval->tag, sizeof entry.tag);
    if (text != NULL && append(t, &entry) == 0)
        return 0;
    free(text);
    return -1;
}

int timeline_join(struct timeline *into, const struct timeline *from, uint32_t log)
{
    into->is_joined = true;
    for (size_t i = 0; i < from->n; i++) {
        struct timeline_entry entry = from->entries[i];

        entry.log = log;
        if (append(into, &entry) != 0)
            return -1;
    }
    return 0;
}

enum { TAGS_MOST = 128 }; /* later ones are in the order of the alphabet */

struct tags {
    const char *names[TAGS_MOST];
    uint32_t n, last;
};

/* Returns its index among the tags so far.  The tags of a second are mostly in one order: the next
 * one is tried first. */
static uint32_t index_of_tag(struct tags *tags, const char *name)
{
    for (uint32_t i = 1; i <= tags->n; i++) {
        const uint32_t index = (tags->last + i) % tags->n;

        if (strcmp(tags->names[index], name) == 0)
            return tags->last = index;
    }
    if (tags->n == TAGS_MOST)
        return TAGS_MOST;
    tags->names[tags->n] = name;
    return tags->last = tags->n++;
}

/* In the order in which they first appear, as tcpclient writes them: untagged ones, of the main
 * metric, first. */
static void number_tags(struct timeline *t)
{
    struct tags tags = {.names = {""}, .n = 1};

    for (size_t i = 0; i < t->n; i++)
        t->entries[i].tag_index = index_of_tag(&tags, t->entries[i].tag);
}

/* Makes intervals of the same second and tag adjacent, and of these those of a log. */
static int in_order(const void *a, const void *b)
{
    const struct timeline_entry *x = a, *y = b;
    const int tags = strcmp(x->tag, y->tag);

    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    if (x->tag_index != y->tag_index)
        return x->tag_index < y->tag_index ? -1 : 1;
    return tags != 0 ? tags : (x->log > y->log) - (x->log < y->log);
}

static bool go_together(const struct timeline_entry *x, const struct timeline_entry *y)
{
    return x->second == y->second && strcmp(x->tag, y->tag) == 0;
}

uint64_t timeline_first_ns(const struct timeline *t)
{
    uint64_t first_ns = UINT64_MAX;

    for (size_t i = 0; i < t->n; i++)
        if (t->entries[i].begin_ns < first_ns)
            first_ns = t->entries[i].begin_ns;
    return first_ns;
}

static int by_log_and_time(const void *a, const void *b)
{
    const struct timeline_entry *x = a, *y = b;

    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static uint64_t to_nearest_second(uint64_t ns)
{
    return (ns + UNITS_NS_PER_S / 2) / UNITS_NS_PER_S;
}

/* Numbers the seconds of the n entries of one log, in order of time.  Its ticks are a second apart,
 * but a little early or late.  Only the first tick after the beginning is rounded to whole seconds
 * since first_ns, the others count from it: if the ticks are about half a second off, rounding each
 * by itself would put some into the second before and some into the one after. */
static void number_seconds(struct timeline_entry *entries, size_t n, uint64_t first_ns)
{
    uint64_t tick_ns, tick_second;
    size_t at = 0;

    while (at + 1 < n && entries[at].begin_ns == entries[0].begin_ns)
        at++;
    tick_ns = entries[at].begin_ns;
    tick_second = to_nearest_second(tick_ns - first_ns);
    for (size_t i = 0; i < n; i++) {
        struct timeline_entry *e = &entries[i];

        e->second = e->begin_ns < tick_ns ? tick_second - to_nearest_second(tick_ns - e->begin_ns)
                                          : tick_second + to_nearest_second(e->begin_ns - tick_ns);
    }
}

void timeline_sort(struct timeline *t)
{
    const uint64_t first_ns = timeline_first_ns(t);

    if (t->n == 0)
        return;
    number_tags(t);
    qsort(t->entries, t->n, sizeof *t->entries, by_log_and_time);
    for (size_t at = 0, n; at < t->n; at += n) {
        for (n = 1; at + n < t->n && t->entries[at + n].log == t->entries[at].log; n++)
            ;
        number_seconds(&t->entries[at], n, first_ns);
    }
    qsort(t->entries, t->n, sizeof *t->entries, in_order);
}

static int add_decoded(struct hist *sum, struct hist *one, const struct timeline_entry *e)
{
    char error[HLOG_ERROR_BYTES];
    struct hlog_interval interval = {
        .max_ns = e->max_ns, .base64 = e->base64, .n_base64 = strlen(e->base64)};

    hist_reset(one);
    if (hlog_reader_histogram(&interval, one, error) != 0)
        return -1;
    hist_merge(sum, one);
    return 0;
}

int timeline_next(const struct timeline *t, size_t *at, struct timeline_entry *covered,
                  struct hist *h)
{
    const struct timeline_entry *first;
    uint64_t length_ns = 0, n_logs = 1; /* the sum of their lengths */
    struct hist one;

    hist_reset(h);
    if (*at >= t->n)
        return 0;
    if (hist_init(&one) != 0)
        return -1;
    first = &t->entries[*at];
    *covered = *first;
    for (; *at < t->n && go_together(&t->entries[*at], first); ++*at) {
        const struct timeline_entry *e = &t->entries[*at];

        if (add_decoded(h, &one, e) != 0)
            break;
        if (e->begin_ns < covered->begin_ns)
            covered->begin_ns = e->begin_ns;
        n_logs += e > first && e->log != e[-1].log;
        length_ns += e->length_ns;
    }
    hist_free(&one);
    covered->length_ns = length_ns / n_logs;
    covered->max_ns = h->max_ns;
    return *at < t->n && go_together(&t->entries[*at], first) ? -1 : 1;
}
