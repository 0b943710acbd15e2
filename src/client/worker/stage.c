/* SPDX-License-Identifier: MIT
 * client_stage: see client/worker/stage.h. */
#include "client/worker/stage.h"

#include <stdint.h>
#include <unistd.h>

void client_stage_enter(struct client_stages *s, enum client_stage stage)
{
    const uint64_t one = 1;

    if (atomic_load_explicit(&s->reached, memory_order_relaxed) >= (int)stage)
        return;
    atomic_store_explicit(&s->reached, (int)stage, memory_order_release);
    if (write(s->wake_fd, &one, sizeof one) < 0)
        return; /* the eventfd's counter is full: a wake-up is pending */
}
