/* SPDX-License-Identifier: MIT
 * client_ports: see client/ports.h. */
#include "client/ports.h"

#include "base/units.h"
#include "client/destinations.h"

#include <stdio.h>
#include <string.h>

/* Sums over all classes that use this port of the server. */
static struct class_tally tally_of(const struct client_config *config,
                                   const struct class_tally *tallies,
                                   const struct sock_address *server)
{
    struct class_tally all = {0};

    for (uint32_t k = 0; k < config->n_classes; k++)
        if (sock_port(&config->classes[k].target) == sock_port(server))
            class_tally_merge(&all, &tallies[k]);
    return all;
}

/* Whether connections of these classes waited for an answer. */
static bool wait_for_answers(const struct client_config *config, const struct class_tally *t)
{
    uint64_t n_sent = 0;

    for (int purpose = 0; purpose < TALLY_N_CLASSES; purpose++)
        n_sent += tally_get(&t->queries[purpose].sent);
    return config->prove || config->listens || n_sent > 0;
}

/* Appends how many of the n ports are missing from the text, which names the first ones. */
static void say_others(char text[CLIENT_PORTS_BYTES], unsigned n)
{
    const size_t n_bytes = strlen(text);

    if (n > 1)
        snprintf(text + n_bytes, CLIENT_PORTS_BYTES - n_bytes, " and %u other %s", n - 1,
                 units_noun(n - 1, "port", "ports"));
}

struct client_ports client_ports_find(const struct client_config *config,
                                      const struct class_tally *tallies, const uint64_t *live)
{
    const struct sock_address *servers[CLIENT_CLASS_MOST];
    const unsigned n = client_destinations(config, servers);
    struct client_ports p = {.refusing_serve = true};
    unsigned n_refusing = 0, n_silent = 0, n_answering = 0, n_lost = 0, n_complete = 0;

    for (unsigned i = 0; i < n; i++) {
        const struct class_tally t = tally_of(config, tallies, servers[i]);
        const uint64_t n_connected = tally_get(&t.connected), n_proven = tally_get(&t.proven);
        const uint64_t n_live = client_destinations_live(config, live, servers[i]);

        if (tally_get(&t.refused) > 0) {
            if (n_refusing++ == 0)
                sock_format(p.refusing, servers[i]);
            p.refusing_serve = p.refusing_serve && n_live > 0;
        }
        n_answering += n_proven == n_connected;
        if (n_connected > 0 && n_proven == 0 && wait_for_answers(config, &t) && n_silent++ == 0)
            sock_format(p.silent, servers[i]);
        n_complete += n_live > 0 && n_live == n_connected;
        if (n_live == 0 && n_proven > 0 && n_lost++ == 0)
            sock_format(p.lost, servers[i]);
    }
    say_others(p.refusing, n_refusing);
    say_others(p.silent, n_silent);
    say_others(p.lost, n_lost);
    if (n_complete == 0 || n_complete + n_lost < n)
        p.lost[0] = '\0';
    if (n_silent + n_answering < n)
        p.silent[0] = '\0';
    return p;
}
