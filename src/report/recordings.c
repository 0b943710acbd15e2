/* SPDX-License-Identifier: MIT
 * recordings: see report/recordings.h. */
#include "report/recordings.h"

#include "base/log.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static size_t stem_length(const char *path)
{
    static const char *const endings[] = {".json", ".hlog", ".csv"};
    const size_t n = strlen(path);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n_ending = strlen(endings[i]);

        if (n > n_ending && strcmp(path + n - n_ending, endings[i]) == 0)
            return n - n_ending;
    }
    return n;
}

/* Returns the canonical directory of a file; as it was given if that is unknown, for example
 * because the file does not exist.  NULL: out of memory. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *written = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *found = written != NULL ? realpath(written, NULL) : NULL;

    if (found == NULL)
        return written;
    free(written);
    return found;
}

static int by_name(const void *a, const void *b)
{
    const struct recording *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* The run of this name, created if needed.  names: a tree of the runs so far.  NULL: out of memory.
 */
static struct recording *run_of(struct recordings *all, void **names, const char *path,
                                bool keeps_intervals)
{
    struct recording *r = &all->items[all->n], **found;

    r->name = strndup(path, stem_length(path));
    found = r->name != NULL ? tsearch(r, names, by_name) : NULL;
    if (found == NULL || *found != r) {
        free(r->name);
        r->name = NULL;
        return found != NULL ? *found : NULL;
    }
    all->n++;
    r->directory = directory_of(path);
    r->leaves_out_intervals = !keeps_intervals;
    return r->directory != NULL ? r : NULL;
}

static void keep(void *run)
{
    (void)run; /* it belongs to the recordings */
}

/* How much of the runs is kept: the results; also histograms and connections; also the intervals of
 * logs. */
enum kept { RESULTS, TOTALS, INTERVALS };

/* Ends at the first bad file, or marks the runs that have one.  Returns 0 or -1. */
static int read_files(struct recordings *all, char *const *paths, size_t n_paths, bool ends_at_bad,
                      bool keeps_intervals)
{
    void *names = NULL;
    int status = 0;

    for (size_t i = 0; i < n_paths && status == 0; i++) {
        struct recording *r = run_of(all, &names, paths[i], keeps_intervals);

        if (r == NULL) {
            status = log_error("out of memory");
            continue;
        }
        if (recording_read(r, paths[i]) != 0)
            r->has_bad_file = true;
        if (r->has_bad_file && ends_at_bad)
            status = -1;
    }
    tdestroy(names, keep);
    return status;
}

/* As above.  What is not kept of a run is freed once its files agree. */
static int load(struct recordings *all, char *const *paths, size_t n_paths, bool ends_at_bad,
                enum kept kept)
{
    all->n = 0;
    all->items = calloc(n_paths, sizeof *all->items);
    if (all->items == NULL)
        return log_error("out of memory");
    if (read_files(all, paths, n_paths, ends_at_bad, kept >= INTERVALS) != 0)
        return -1;
    for (size_t i = 0; i < all->n; i++) {
        struct recording *r = &all->items[i];

        if (!r->has_bad_file && recording_learn(r) != 0)
            r->has_bad_file = true;
        if (r->has_bad_file && ends_at_bad)
            return -1;
        if (kept < TOTALS)
            recording_free_values(r);
    }
    return 0;
}

int recordings_load(struct recordings *all, char *const *paths, size_t n_paths)
{
    return load(all, paths, n_paths, true, INTERVALS);
}

int recordings_load_totals(struct recordings *all, char *const *paths, size_t n_paths)
{
    return load(all, paths, n_paths, true, TOTALS);
}

int recordings_load_results(struct recordings *all, char *const *paths, size_t n_paths)
{
    return load(all, paths, n_paths, true, RESULTS);
}

int recordings_load_good_results(struct recordings *all, char *const *paths, size_t n_paths)
{
    size_t n_good = 0;

    if (load(all, paths, n_paths, false, RESULTS) != 0)
        return -1;
    for (size_t i = 0; i < all->n; i++) {
        struct recording *r = &all->items[i];

        if (r->has_bad_file) {
            log_error("ignored: %s has a bad file", r->name);
            recording_free(r);
        } else {
            if (n_good < i)
                all->items[n_good] = *r;
            n_good++;
        }
    }
    all->n = n_good;
    return 0;
}

void recordings_free(struct recordings *all)
{
    for (size_t i = 0; i < all->n; i++)
        recording_free(&all->items[i]);
    free(all->items);
    *all = (struct recordings){0};
}

int recordings_need_results(const struct recordings *all, const char *purpose)
{
    for (size_t i = 0; i < all->n; i++) {
        const char *name = all->items[i].name;

        if (all->items[i].result == NULL)
            return log_error("%s%s has no result: expected %s.json, too (files of one run have the "
                             "same name)",
                             purpose, name, name);
    }
    return 0;
}

int recordings_timeline(const struct recordings *all, struct timeline *timeline)
{
    int status = 0;

    *timeline = (struct timeline){0};
    for (size_t i = 0; status == 0 && i < all->n; i++)
        status = timeline_join(timeline, &all->items[i].timeline, (uint32_t)i);
    timeline_sort(timeline);
    return status;
}
