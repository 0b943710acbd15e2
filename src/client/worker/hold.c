/* SPDX-License-Identifier: MIT
 * client_hold: see client/worker/hold.h. */
#include "client/worker/hold.h"

#include <stdlib.h>

int client_hold_init(struct client_hold *h, uint32_t n)
{
    h->slots = calloc(n, sizeof *h->slots);
    return h->slots != NULL ? 0 : -1;
}

void client_hold_free(struct client_hold *h)
{
    free(h->slots);
    h->slots = NULL;
}

void client_hold_request(struct client_hold *h, uint32_t slot, uint64_t now_ns)
{
    if (client_hold_is_kept(h))
        h->slots[slot].requested_ns = now_ns;
}

void client_hold_allow(struct client_hold *h, uint32_t slot, uint64_t allowed_ns)
{
    if (client_hold_is_kept(h))
        h->slots[slot].allowed_ns = allowed_ns;
}

uint64_t client_hold_ns(const struct client_hold *h, uint32_t slot, uint64_t since_ns)
{
    const struct client_hold_times *times;
    uint64_t from_ns;

    if (!client_hold_is_kept(h))
        return 0;
    times = &h->slots[slot];
    from_ns = since_ns > times->requested_ns ? since_ns : times->requested_ns;
    return times->allowed_ns > from_ns ? times->allowed_ns - from_ns : 0;
}
