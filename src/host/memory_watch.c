/* SPDX-License-Identifier: MIT
 * memory_watch: see host/memory_watch.h. */
#include "host/memory_watch.h"

#include "base/textfile.h"
#include "base/units.h"
#include "host/meminfo.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MIB (1024 * 1024ull)

/* In connections: smaller grants are not worth waiting for; with one of at least this size, opening
 * resumes. */
enum { SHORT_GRANT = 32, AMPLE_GRANT = 1024 };

enum { PATH_BYTES = 256, MEMINFO_BYTES = 8192, MOST_ZONEINFO_BYTES = 1 << 24 };

/* Checks that are skipped while nothing is taken. */
enum { MOST_LOOKS_SAVED = 50 };

/* This close to a limit, it is worth finding out how much page cache could be dropped. */
#define CACHE_MATTERS_BYTES (32 * MIB)

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

uint64_t memory_watch_reserve_bytes(uint64_t limit_bytes, enum memory_watch_reserve part)
{
    return clamp(limit_bytes, 512 * MIB, 32ull * 1024 * MIB) / (uint64_t)part;
}

/* The reserve: a part of the limit, plus memory that threads have not touched yet. */
static uint64_t reserve_of(const struct memory_watch *w, uint64_t limit_bytes)
{
    return memory_watch_reserve_bytes(limit_bytes, w->part) + memory_model_program_bytes(&w->ends);
}

static void judge(struct memory_watch *w, int64_t *granted, const struct memory_shortage *s)
{
    const uint64_t headroom =
        s->left_bytes > s->reserve_bytes ? s->left_bytes - s->reserve_bytes : 0;
    const int64_t n = (int64_t)(headroom / 2 / s->connection_bytes);

    if (n >= *granted)
        return;
    *granted = n;
    w->tightest = *s;
}

static void look_at_machine(struct memory_watch *w, int64_t *granted)
{
    char text[MEMINFO_BYTES];
    struct memory_shortage s = {.connection_bytes =
                                    memory_model_connection_bytes(&w->ends, MEMORY_OF_MACHINE)};
    struct meminfo m;
    ssize_t n;

    if (w->meminfo_fd < 0 || (n = pread(w->meminfo_fd, text, sizeof text - 1, 0)) <= 0)
        return;
    text[n] = '\0';
    meminfo_parse(&m, text);
    s.left_bytes = meminfo_left(&m, w->watermark_bytes);
    if (s.left_bytes == MEMINFO_UNKNOWN || m.total_bytes == MEMINFO_UNKNOWN)
        return;
    s.limit_bytes = m.total_bytes;
    s.reserve_bytes = reserve_of(w, m.total_bytes);
    judge(w, granted, &s);
}

static void look_at_cgroup(struct memory_watch *w, int64_t *granted, const struct cgroup_limit *l)
{
    struct cgroup_reading r = cgroup_limit_read(l);
    struct memory_shortage s = {
        .limit = l->path,
        .limit_bytes = r.limit_bytes,
        .reserve_bytes = reserve_of(w, r.limit_bytes),
        .connection_bytes = memory_model_connection_bytes(&w->ends, l->is_v2 ? MEMORY_OF_CGROUP_V2
                                                                             : MEMORY_OF_CGROUP_V1),
    };

    if (r.limit_bytes == CGROUP_UNLIMITED)
        return;
    if (cgroup_reading_left(&r) < s.reserve_bytes + CACHE_MATTERS_BYTES)
        r.cache_bytes = cgroup_limit_cache_bytes(l);
    s.left_bytes = cgroup_reading_left(&r);
    judge(w, granted, &s);
}

/* At least one: a limit with nothing left may not be the one that matters. */
static int64_t refusals_of(const struct memory_shortage *s)
{
    const int64_t n =
        s->connection_bytes > 0 ? (int64_t)(s->left_bytes / 2 / s->connection_bytes) : 0;

    return n > 0 ? n : 1;
}

static void look(struct memory_watch *w)
{
    const bool was_short = memory_watch_is_short(w);
    int64_t granted = INT64_MAX / 2;

    look_at_machine(w, &granted);
    for (unsigned i = 0; i < w->cgroups.n; i++)
        look_at_cgroup(w, &granted, &w->cgroups.limits[i]);
    atomic_store_explicit(&w->is_short, granted < (was_short ? AMPLE_GRANT : SHORT_GRANT),
                          memory_order_relaxed);
    if (memory_watch_is_short(w))
        atomic_store_explicit(&w->was_short, true, memory_order_relaxed);
    w->granted = memory_watch_is_short(w) ? 0 : granted;
    w->n_looks_saved = 0;
    atomic_store_explicit(&w->refusals, refusals_of(&w->tightest), memory_order_relaxed);
    atomic_store_explicit(&w->grant, w->granted, memory_order_relaxed);
}

void memory_watch_look(struct memory_watch *w)
{
    const bool is_idle = atomic_load_explicit(&w->grant, memory_order_relaxed) == w->granted;

    if (is_idle && !memory_watch_is_short(w) && w->n_looks_saved < MOST_LOOKS_SAVED)
        w->n_looks_saved++;
    else
        look(w);
}

static uint64_t read_watermarks(const char *proc)
{
    char path[PATH_BYTES], *text;
    uint64_t reserve_bytes = 0;
    size_t n_bytes;

    snprintf(path, sizeof path, "%s/zoneinfo", proc);
    text = textfile_read(path, MOST_ZONEINFO_BYTES, &n_bytes);
    if (text != NULL)
        reserve_bytes = meminfo_reserve_bytes(text, (uint64_t)sysconf(_SC_PAGESIZE));
    free(text);
    return reserve_bytes;
}

void memory_watch_start(struct memory_watch *w, const char *proc, const struct memory_ends *ends,
                        enum memory_watch_reserve part)
{
    char path[PATH_BYTES];

    w->ends = *ends;
    w->part = part;
    w->tightest = (struct memory_shortage){.limit = NULL};
    snprintf(path, sizeof path, "%s/meminfo", proc);
    w->meminfo_fd = open(path, O_RDONLY | O_CLOEXEC);
    w->watermark_bytes = read_watermarks(proc);
    cgroup_memory_open(&w->cgroups, proc);
    atomic_init(&w->is_short, false);
    atomic_init(&w->was_short, false);
    atomic_init(&w->grant, 0);
    atomic_init(&w->refusals, 0);
    look(w);
}

void memory_watch_end(struct memory_watch *w)
{
    if (w->meminfo_fd >= 0)
        close(w->meminfo_fd);
    cgroup_memory_close(&w->cgroups);
}

void memory_shortage_text(const struct memory_shortage *s, char *text, size_t n_bytes)
{
    char left[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES], reserve[UNITS_TEXT_BYTES];

    snprintf(text, n_bytes, "%s of %s left (%s), %s of it kept in reserve",
             units_format_bytes(left, s->left_bytes), units_format_bytes(limit, s->limit_bytes),
             s->limit != NULL ? cgroup_path_end(s->limit) : "this machine",
             units_format_bytes(reserve, s->reserve_bytes));
}
