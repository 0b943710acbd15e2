/* SPDX-License-Identifier: MIT
 * memory_watch: lets workers open connections only while there is memory for them, so that neither
 * the host nor a cgroup triggers the OOM killer.
 *
 * The main thread checks what is left and grants connections from it; workers take one per
 * connection with an atomic subtraction.  A grant is half of what is left above the reserve: even
 * if the next check is late, and another program on the host does the same, together they cannot
 * take more than there is.  The reserve covers what comes after the connections (histograms,
 * queries in flight, the report) and what the kernel allocates later. */
#ifndef TCPSCALER_HOST_MEMORY_WATCH_H
#define TCPSCALER_HOST_MEMORY_WATCH_H

#include "host/cgroup.h"
#include "host/memory_model.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reserve is this fraction of a limit, with the limit clamped to 512 MiB .. 32 GiB (8 to 512
 * MiB in the client), plus the memory that threads have yet to touch.  The server's fraction is
 * half the client's: if both run on one host the client stops first, and what it has opened is
 * still accepted. */
enum memory_watch_reserve { MEMORY_WATCH_OF_CLIENT = 64, MEMORY_WATCH_OF_SERVER = 128 };

/* The fraction alone. */
uint64_t memory_watch_reserve_bytes(uint64_t limit_bytes, enum memory_watch_reserve part);

/* Which memory is short. */
struct memory_shortage {
    const char *limit; /* file of a cgroup's limit; NULL: the host */
    uint64_t left_bytes, reserve_bytes, limit_bytes, connection_bytes;
};

struct memory_watch {
    struct memory_ends ends;
    enum memory_watch_reserve part;
    int meminfo_fd; /* -1: unreadable */
    uint64_t watermark_bytes;
    struct cgroup_memory cgroups;
    struct memory_shortage tightest; /* at the last check */
    int64_t granted;                 /* by it */
    unsigned n_looks_saved;
    _Atomic int64_t grant;    /* what is left of the last grant */
    _Atomic int64_t refusals; /* how many connections may still be refused for lack of memory */
    _Atomic bool is_short;    /* the reserve has been reached ... */
    _Atomic bool was_short;   /* ... or was at any time before */
};

/* `proc` is "/proc".  Performs the first check.  `ends`: which ends of a connection take memory
 * here.  Main thread, before workers have their own fd tables. */
void memory_watch_start(struct memory_watch *w, const char *proc, const struct memory_ends *ends,
                        enum memory_watch_reserve part);
void memory_watch_end(struct memory_watch *w);

/* Main thread: checks again, unless nothing was taken since a check in the last seconds.  Once
 * memory is short it stays so until there is room for about 2,000 connections above the reserve. */
void memory_watch_look(struct memory_watch *w);

/* Any thread: takes the memory of one connection.  false: this grant is used up; wait some
 * milliseconds or, if memory is short, do without. */
static inline bool memory_watch_take(struct memory_watch *w)
{
    return atomic_fetch_sub_explicit(&w->grant, 1, memory_order_relaxed) > 0;
}

/* Any thread: returns what was taken but not used. */
static inline void memory_watch_give_back(struct memory_watch *w)
{
    atomic_fetch_add_explicit(&w->grant, 1, memory_order_relaxed);
}

static inline bool memory_watch_is_short(const struct memory_watch *w)
{
    return atomic_load_explicit(&w->is_short, memory_order_relaxed);
}

/* Any thread, when memory_watch_take() did not succeed: whether a connection may be accepted only
 * to be closed at once.  The kernel frees such a connection some milliseconds later, or much later
 * if the CPUs are busy (RCU): until the next check they may take half of what is left.  false: wait
 * some milliseconds. */
static inline bool memory_watch_take_refusal(struct memory_watch *w)
{
    return memory_watch_is_short(w) &&
           atomic_fetch_sub_explicit(&w->refusals, 1, memory_order_relaxed) > 0;
}

static inline bool memory_watch_was_short(const struct memory_watch *w)
{
    return atomic_load_explicit(&w->was_short, memory_order_relaxed);
}

/* One line without newline, such as "8.1 MiB of 64.0 MiB left (...)". */
void memory_shortage_text(const struct memory_shortage *s, char *text, size_t n_bytes);

#endif
