/* SPDX-License-Identifier: MIT
 * client_destinations: see client/destinations.h. */
#include "client/destinations.h"

#include "base/shutdown.h"
#include "client/worker/proxy.h"
#include "net/sock_resolve.h"

/* Classes differ by their ports only. */
static bool is_listed(const struct sock_address *const *servers, unsigned n,
                      const struct sock_address *server)
{
    bool is = false;

    for (unsigned i = 0; i < n; i++)
        is |= sock_port(servers[i]) == sock_port(server);
    return is;
}

unsigned client_destinations(const struct client_config *config,
                             const struct sock_address *servers[CLIENT_CLASS_MOST])
{
    unsigned n = 0;

    for (uint32_t k = 0; k < config->n_classes; k++)
        if (!is_listed(servers, n, &config->classes[k].target))
            servers[n++] = &config->classes[k].target;
    if (n == 0)
        servers[n++] = &config->target;
    return n;
}

uint32_t client_destinations_n_elsewhere(const struct client_config *config,
                                         const struct sock_address *server)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < config->n_classes; k++)
        if (sock_port(&config->classes[k].target) != sock_port(server))
            n += config->classes[k].n_connections;
    return n;
}

uint64_t client_destinations_live(const struct client_config *config, const uint64_t *live,
                                  const struct sock_address *server)
{
    uint64_t n = 0;

    for (uint32_t k = 0; k < config->n_classes; k++)
        if (sock_port(&config->classes[k].target) == sock_port(server))
            n += live[k];
    return n;
}

bool client_destinations_accept(const struct client_config *config, const uint64_t *live)
{
    const struct sock_greeting greeting = client_proxy_greeting(config);
    const struct sock_address *servers[CLIENT_CLASS_MOST];
    const unsigned n = client_destinations(config, servers);
    bool accepts = false;

    for (unsigned i = 0; i < n && !accepts && !shutdown_was_requested(); i++)
        accepts = client_destinations_live(config, live, servers[i]) == 0 &&
                  sock_accepts(servers[i], &greeting);
    return accepts;
}
