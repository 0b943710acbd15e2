/* SPDX-License-Identifier: MIT
 * losses: connections that the server ended after they had answered: when, and how long nothing had
 * passed on them.  Pure; used by one thread. */
#ifndef TCPSCALER_MEASURE_LOSSES_H
#define TCPSCALER_MEASURE_LOSSES_H

#include "measure/hist.h"

#include <stdbool.h>
#include <stdint.h>

struct losses {
    uint64_t first_ns, last_ns; /* when; valid when there was one */
    struct hist idle;           /* since data was last sent or received; its count is theirs */
};

/* Returns 0, or -1 when there is no memory. */
int losses_init(struct losses *l);
void losses_free(struct losses *l);

void losses_add(struct losses *l, uint64_t now_ns, uint64_t idle_ns);

/* Adds those of `from`. */
void losses_merge(struct losses *into, const struct losses *from);

/* All within a second, or within 20 us for each where there are many: closing takes its time. */
bool losses_are_sudden(const struct losses *l);

/* All had been idle for about as long, half a second at least: as an idle timeout does it. */
bool losses_are_of_idleness(const struct losses *l);

#endif
