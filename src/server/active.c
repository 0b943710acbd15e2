/* SPDX-License-Identifier: MIT
 * server_active: see server/active.h. */
#include "server/active.h"

#include <stdatomic.h>

/* Never adds more than fits: a connection that is refused must not count even for a moment, since
 * another worker would refuse one that has room. */
uint64_t server_active_enter(struct server_config *config)
{
    const uint64_t most = config->max_connections != 0 ? config->max_connections : UINT64_MAX;
    uint64_t n = atomic_load_explicit(&config->n_active, memory_order_relaxed);

    do
        if (n >= most)
            return 0;
    while (!atomic_compare_exchange_weak_explicit(&config->n_active, &n, n + 1,
                                                  memory_order_relaxed, memory_order_relaxed));
    return n + 1;
}

void server_active_note_peak(struct server_config *config, uint64_t n)
{
    uint64_t peak = atomic_load_explicit(&config->n_peak, memory_order_relaxed);

    while (n > peak && !atomic_compare_exchange_weak_explicit(
                           &config->n_peak, &peak, n, memory_order_relaxed, memory_order_relaxed))
        ;
}

void server_active_leave(struct server_config *config)
{
    atomic_fetch_sub_explicit(&config->n_active, 1, memory_order_relaxed);
}
