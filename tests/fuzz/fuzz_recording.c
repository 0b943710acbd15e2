/* SPDX-License-Identifier: MIT
 * fuzz_recording: arbitrary files of a run, as tcpreport reads them: a result, a histogram log,
 * rows, connections; a line of ---- separates two files of one run.  They are rejected with one
 * line on stderr, or their contents are consistent. */
#include "base/log.h"
#include "file.h"
#include "report/recordings.h"

#include <string.h>

enum { N_FILES = 2, PATH_BYTES = 64 };

#define DIVIDER "----\n"

/* The names make them files of one run. */
static char directory[] = "/tmp/tcpscaler-fuzz-XXXXXX";
static char paths[N_FILES][PATH_BYTES];
static struct fuzz_file files[N_FILES];

static void remove_names(void)
{
    for (int i = 0; i < N_FILES; i++)
        unlink(paths[i]);
    rmdir(directory);
}

static void make_names(void)
{
    static const char *const endings[N_FILES] = {"json", "hlog"};

    REQUIRE(mkdtemp(directory) != NULL && atexit(remove_names) == 0);
    for (int i = 0; i < N_FILES; i++) {
        fuzz_file_write(&files[i], "", 0);
        snprintf(paths[i], sizeof paths[i], "%s/run.%s", directory, endings[i]);
        REQUIRE(symlink(files[i].name, paths[i]) == 0);
    }
}

static void check_metric(const struct metric *m)
{
    const struct hist *h = &m->hist;
    uint64_t sum = 0;
    struct latency l;

    metrics_latency(m, &l);
    REQUIRE(l.count == h->count && (l.count == 0 || l.min_ns <= l.max_ns));
    if (!m->has_counts)
        return;
    for (uint32_t i = 0; h->counts != NULL && i < HIST_COUNTS; i++)
        sum += h->counts[i];
    REQUIRE(sum == h->count);
}

static void check_timeline(const struct recordings *all)
{
    struct timeline timeline;
    struct timeline_entry covered;
    uint64_t begin_ns = 0;
    size_t at = 0, before = 0;
    struct hist h;

    REQUIRE(hist_init(&h) == 0 && recordings_timeline(all, &timeline) == 0);
    while (timeline_next(&timeline, &at, &covered, &h) == 1) {
        REQUIRE(at > before && at <= timeline.n);
        REQUIRE(covered.begin_ns >= begin_ns || covered.second > 0);
        before = at;
    }
    REQUIRE(at == timeline.n);
    timeline_free(&timeline);
    hist_free(&h);
}

static void check_run(struct recording *r)
{
    struct latency l;

    for (unsigned i = 0; i < r->metrics.n; i++) {
        check_metric(&r->metrics.items[i]);
        REQUIRE(metrics_find(&r->metrics, r->metrics.items[i].name) == &r->metrics.items[i]);
    }
    for (int c = 0; c < CONNECTIONS_N_COLUMNS; c++)
        for (size_t i = 1; i < r->connections.times[c].n; i++)
            REQUIRE(r->connections.times[c].ns[i - 1] <= r->connections.times[c].ns[i]);
    if (recording_latency(r, "response", &l))
        REQUIRE(l.count == 0 || l.min_ns <= l.max_ns);
}

/* Returns the number of lines printed on stderr. */
static size_t load(struct recordings *all, size_t n_files, int *status)
{
    char *const names[N_FILES] = {paths[0], paths[1]};
    char *said = NULL;
    size_t n_bytes = 0, n_lines = 0;
    FILE *out = open_memstream(&said, &n_bytes);

    REQUIRE(out != NULL);
    log_set_stream(out);
    *status = recordings_load(all, names, n_files);
    log_set_stream(NULL);
    REQUIRE(fclose(out) == 0);
    for (size_t i = 0; i < n_bytes; i++)
        n_lines += said[i] == '\n';
    free(said);
    return n_lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    const uint8_t *cut = memmem(data, n_bytes, DIVIDER, strlen(DIVIDER));
    const size_t n_first = cut != NULL ? (size_t)(cut - data) : n_bytes;
    struct recordings all = {.n = 0};
    size_t n_lines;
    int status;

    if (paths[0][0] == '\0')
        make_names();
    fuzz_file_write(&files[0], data, n_first);
    if (cut != NULL)
        fuzz_file_write(&files[1], cut + strlen(DIVIDER), n_bytes - n_first - strlen(DIVIDER));
    n_lines = load(&all, cut != NULL ? 2 : 1, &status);
    REQUIRE(n_lines == (status != 0));
    for (size_t i = 0; status == 0 && i < all.n; i++)
        check_run(&all.items[i]);
    if (status == 0)
        check_timeline(&all);
    recordings_free(&all);
    return 0;
}
