/* SPDX-License-Identifier: MIT
 * memory_watch: lets workers open connections only as far as there is memory for them, so that
 * neither the machine nor a cgroup runs into the OOM killer.
 *
 * The main thread looks at what is left and grants connections from it; workers take one for each
 * connection, at the price of an atomic subtraction.  A grant is half of what is left above the
 * reserve: however late the next look comes, and though another program on the same machine does
 * the same, together they cannot take more than there is.  The reserve is for what comes after the
 * connections (histograms, queries in flight, the report) and for what the kernel takes later. */
#ifndef TCPSCALER_HOST_MEMORY_WATCH_H
#define TCPSCALER_HOST_MEMORY_WATCH_H

#include "host/cgroup.h"
#include "host/memory_model.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reserve is one part of so many of a limit, of which less than 512 MiB count as 512 MiB and
 * more than 32 GiB as 32: in the client 8 to 512 MiB.  The server's is half of it: where both run
 * on one machine the client stops first, and what it has opened is still accepted. */
enum memory_watch_reserve { MEMORY_WATCH_OF_CLIENT = 64, MEMORY_WATCH_OF_SERVER = 128 };

/* Where memory is short. */
struct memory_shortage {
    const char *limit; /* the file of a cgroup's limit; NULL: the machine */
    uint64_t left_bytes, reserve_bytes, limit_bytes, connection_bytes;
};

struct memory_watch {
    struct memory_ends ends;
    enum memory_watch_reserve part;
    int meminfo_fd; /* -1: not to be read */
    uint64_t watermark_bytes;
    struct cgroup_memory cgroups;
    struct memory_shortage tightest; /* at the last look */
    int64_t granted;                 /* by it */
    unsigned n_looks_saved;
    _Atomic int64_t grant;  /* what is left of that */
    _Atomic bool is_short;  /* the reserve is reached ... */
    _Atomic bool was_short; /* ... or has ever been */
};

/* `proc` is "/proc".  Takes the first look.  `ends`: whose memory a connection takes here.  Main
 * thread, before workers have fd tables of their own. */
void memory_watch_start(struct memory_watch *w, const char *proc, const struct memory_ends *ends,
                        enum memory_watch_reserve part);
void memory_watch_end(struct memory_watch *w);

/* Main thread: looks again, unless nobody has taken anything since the last look, some seconds ago
 * at most.  Where it was short it is so until there is memory for some thousand connections. */
void memory_watch_look(struct memory_watch *w);

/* Any thread: takes one connection's memory.  false: none is left of this grant; wait some
 * milliseconds or, if memory is short, do without. */
static inline bool memory_watch_take(struct memory_watch *w)
{
    return atomic_fetch_sub_explicit(&w->grant, 1, memory_order_relaxed) > 0;
}

/* Any thread: gives back what was taken and not used. */
static inline void memory_watch_give_back(struct memory_watch *w)
{
    atomic_fetch_add_explicit(&w->grant, 1, memory_order_relaxed);
}

static inline bool memory_watch_is_short(const struct memory_watch *w)
{
    return atomic_load_explicit(&w->is_short, memory_order_relaxed);
}

static inline bool memory_watch_was_short(const struct memory_watch *w)
{
    return atomic_load_explicit(&w->was_short, memory_order_relaxed);
}

/* One line without the end, as "8.1 MiB left of 64.0 MiB (...)". */
void memory_shortage_text(const struct memory_shortage *s, char *text, size_t n_bytes);

#endif
