/* SPDX-License-Identifier: MIT
 * clock: the two clocks.  Durations and schedules use CLOCK_MONOTONIC alone; CLOCK_REALTIME only
 * dates what is written out, through one offset taken at the start, so that a clock step during the
 * run changes no figure and no row. */
#ifndef TCPSCALER_BASE_CLOCK_H
#define TCPSCALER_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
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

/* Nanoseconds to add to a monotonic stamp to date it; the middle of the tightest of several
 * readings of the pair of clocks. */
uint64_t clock_realtime_offset_ns(void);

/* A moment of CLOCK_REALTIME not long past on CLOCK_MONOTONIC, to 50 ns or so.  From fresh readings
 * of both: a step of the former since then is the only thing that spoils it. */
uint64_t clock_monotonic_of_ns(uint64_t epoch_ns);

/* Of CLOCK_MONOTONIC: where two processes find the same it is one clock (one boot of one host, one
 * time namespace).  0: not known. */
uint64_t clock_identity(void);

/* What the kernel says of CLOCK_REALTIME (adjtimex(2)). */
struct clock_bound {
    bool is_synchronized;  /* somebody keeps it on time */
    uint64_t max_error_ns; /* how far from the true time it may be; UINT64_MAX: not known */
};

void clock_read_bound(struct clock_bound *bound);

/* "2026-01-31T23:59:59.123Z" of a time since the epoch.  Returns buffer. */
char *clock_rfc3339(char buffer[CLOCK_RFC3339_BYTES], uint64_t epoch_ns);

struct timeval clock_timeval(uint64_t ns);
struct timespec clock_timespec(uint64_t ns);

#endif
