/* SPDX-License-Identifier: MIT
 * identity: see workload/identity.h. */
#include "workload/identity.h"

uint64_t identity_capacity(const struct srcplan *sources)
{
    return sources->n_addresses <= UINT64_MAX / IDENTITY_PORTS
               ? sources->n_addresses * IDENTITY_PORTS
               : UINT64_MAX;
}

struct srcplan_tuple identity_of(const struct srcplan *sources, uint64_t i)
{
    struct srcplan_tuple identity;

    srcplan_at(sources, i, &identity);
    identity.port = (uint16_t)(IDENTITY_FIRST_PORT + i / sources->n_addresses);
    return identity;
}
