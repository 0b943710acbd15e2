/* SPDX-License-Identifier: MIT
 * client_find_server: see client/find_server.h. */
#include "client/find_server.h"

#include <string.h>

void client_find_server_look(struct client_find *f)
{
    const uint64_t n = CLIENT_WORKERS_GAUGE(f->workers, n_ever_usable);

    if (n == f->n_ever_usable && CLIENT_WORKERS_GAUGE(f->workers, n_live) == 0)
        return;
    f->n_ever_usable = n;
    f->usable_ns = f->elapsed_ns;
}

bool client_find_server_is_gone(const struct client_find *f, uint64_t since_ns)
{
    const bool opens_always = f->settings->what != CLIENT_FIND_CONNECT_RATE;
    struct tally now = {0};

    if (f->usable_ns >= since_ns || f->n_ever_usable == 0)
        return false;
    client_workers_tally(f->workers, &now);
    return client_workers_own_failures(&now) == client_workers_own_failures(&f->before) &&
           (opens_always || tally_connections_failed(&now) > tally_connections_failed(&f->before));
}

/* Returns the first trial that ended after the last connection was usable. */
static size_t first_without_server(const struct client_find *f)
{
    size_t i = f->search.n > 0 ? f->search.n - 1 : 0;

    while (i > 0 && f->trials[i].begin_ns > f->usable_ns)
        i--;
    return i;
}

void client_find_server_end(struct client_find *f)
{
    search_lose_server(&f->search, first_without_server(f));
}
