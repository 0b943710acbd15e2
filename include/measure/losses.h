/* SPDX-License-Identifier: MIT
 * losses: connections that the server closed after it had answered on them: when, and how long they
 * had been idle.  Pure; one owner thread. */
#ifndef TCPSCALER_MEASURE_LOSSES_H
#define TCPSCALER_MEASURE_LOSSES_H

#include "base/units.h"
#include "measure/hist.h"

#include <stdbool.h>
#include <stdint.h>

struct losses {
    uint64_t first_ns, last_ns; /* time of the first and the last one; valid if there was one */
    /* Idle times in microseconds, because a histogram ends at 3.6e12, an hour of nanoseconds: since
     * data was last sent or received; with close_notify of TLS, since it was last sent. */
    struct hist idle_us;
    struct hist answers; /* queries answered on each; only of those whose queries have ids */
};

/* Returns 0, or -1 if out of memory. */
int losses_init(struct losses *l);
void losses_free(struct losses *l);

void losses_add(struct losses *l, uint64_t now_ns, uint64_t idle_ns);

/* The server had answered n_answers queries on one of these connections. */
void losses_add_answers(struct losses *l, uint64_t n_answers);

/* Adds the losses of `from`. */
void losses_merge(struct losses *into, const struct losses *from);

/* Whether all happened within a second, or within 20 us each if there are many, since closing takes
 * time. */
bool losses_are_sudden(const struct losses *l);

/* The shortest and the median idle time, to a millisecond as the kernel knows it; 0 if there is
 * none. */
uint64_t losses_least_idle_ns(const struct losses *l);
uint64_t losses_median_idle_ns(const struct losses *l);

/* The idle time that at least 95 % of them had reached; 0 if there is none.  A query may be sent
 * just when an idle timeout ends. */
uint64_t losses_idle_of_most_ns(const struct losses *l);

/* Whether that is at least half a second and at least 80 % of the median idle time, as with an idle
 * timeout. */
bool losses_are_idle_timeouts(const struct losses *l);

/* Whether losses_are_idle_timeouts() holds only if the shortest idle times are left out. */
bool losses_have_exceptions(const struct losses *l);

/* The number of queries answered on each of at least 95 % of them, as with a limit on queries per
 * connection, which ends connections in use: 0 if there is no such number, if there was only one
 * connection, or if the median idle time is half a second or more. */
uint64_t losses_answers_of_each(const struct losses *l);

/* Formats "idle for at least 1.00 s, median 2.00 s" or, if the least is below a millisecond, "idle
 * for at most 3.00 s, median 2.00 s".  least_ns: the shortest of the idle times described. */
enum { LOSSES_TEXT_BYTES = 2 * UNITS_TEXT_BYTES + 40 };
const char *losses_format_idle(char text[LOSSES_TEXT_BYTES], const struct losses *l,
                               uint64_t least_ns);

/* Formats "after 100 queries each"; empty if losses_answers_of_each() is 0. */
const char *losses_format_answers(char text[LOSSES_TEXT_BYTES], const struct losses *l);

#endif
