/* SPDX-License-Identifier: MIT
 * clock: the two clocks.
 *
 * Durations and schedules use CLOCK_MONOTONIC.  CLOCK_REALTIME dates output, through one offset
 * taken at the start.  The kernel's receive stamps, the time of --start-at and the times in
 * messages from another host are CLOCK_REALTIME and are converted: a clock step during the run
 * affects these only. */
#ifndef TCPSCALER_BASE_CLOCK_H
#define TCPSCALER_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define CLOCK_RFC3339_BYTES 32

/* CLOCK_MONOTONIC in ns: about 26 ns through the vDSO.  Any thread. */
static inline uint64_t clock_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CPU time of the calling thread in ns. */
static inline uint64_t clock_thread_cpu_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Nanoseconds to add to a monotonic time to get CLOCK_REALTIME; the middle of the tightest of
 * several readings of both clocks. */
uint64_t clock_realtime_offset_ns(void);

/* Converts a recent CLOCK_REALTIME time to CLOCK_MONOTONIC, to about 50 ns, from fresh readings of
 * both.  Wrong only if CLOCK_REALTIME has been stepped since that time. */
uint64_t clock_monotonic_of_ns(uint64_t epoch_ns);

/* Identifies CLOCK_MONOTONIC: two processes with the same value share one clock (same boot, same
 * time namespace).  0: unknown. */
uint64_t clock_identity(void);

/* State of CLOCK_REALTIME as reported by the kernel (adjtimex(2)). */
struct clock_bound {
    bool is_synchronized;  /* a time daemon disciplines it */
    uint64_t max_error_ns; /* maximum error; UINT64_MAX: unknown */
};

void clock_read_bound(struct clock_bound *bound);

/* "2026-01-31T23:59:59.123Z" of a time since the epoch.  Returns buffer. */
char *clock_rfc3339(char buffer[CLOCK_RFC3339_BYTES], uint64_t epoch_ns);

struct timeval clock_timeval(uint64_t ns);
struct timespec clock_timespec(uint64_t ns);

#endif
