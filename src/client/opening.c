/* SPDX-License-Identifier: MIT
 * client_opening: see client/opening.h. */
#include "client/opening.h"

/* One timeout is not enough: the server may have been slow for a moment. */
enum { MOST_FUTILE = 2 };

bool client_opening_is_futile(struct client_opening *o, uint64_t n_settled, uint64_t n_usable,
                              uint64_t now_ns)
{
    if (n_usable != o->n_usable || o->since_ns == 0) {
        o->n_usable = n_usable;
        o->n_settled = n_settled;
        o->since_ns = now_ns;
    }
    return n_settled - o->n_settled >= MOST_FUTILE * o->window &&
           now_ns - o->since_ns >= MOST_FUTILE * o->timeout_ns;
}
