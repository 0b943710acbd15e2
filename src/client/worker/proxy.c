/* SPDX-License-Identifier: MIT
 * client_proxy: see client/worker/proxy.h. */
#include "client/worker/proxy.h"

#include "net/sock_address.h"
#include "workload/identity.h"

#include <string.h>
#include <sys/socket.h>

enum { MAPPED_BYTES = 12 };

_Static_assert(PROXY_HEADER_V1_MAX_BYTES <= SOCK_GREETING_MAX_BYTES, "a greeting is a header");

static void put_address(uint8_t out[16], const struct srcplan_address *address, int family)
{
    if (address->family == family) {
        memcpy(out, address->bytes, srcplan_address_bytes(family));
    } else {
        memset(out, 0, MAPPED_BYTES - 2);
        memset(out + MAPPED_BYTES - 2, 0xff, 2);
        memcpy(out + MAPPED_BYTES, address->bytes, 4);
    }
}

struct sock_greeting client_proxy_greeting(const struct client_config *config)
{
    const struct proxy_header h = {.version = config->proxy, .family = AF_UNSPEC};
    struct sock_greeting greeting = {.n_bytes = 0};

    if (config->proxy != PROXY_HEADER_NONE)
        greeting.n_bytes = proxy_header_write(&h, greeting.bytes);
    return greeting;
}

size_t client_proxy_header(const struct client_config *config, const struct sock_address *address,
                           uint64_t connection, uint8_t out[PROXY_HEADER_V1_MAX_BYTES])
{
    const struct srcplan_tuple source = identity_of(&config->identities, connection);
    const struct srcplan_tuple target = sock_tuple(address);
    struct proxy_header h = {
        .version = config->proxy,
        .family = source.address.family == target.address.family ? target.address.family : AF_INET6,
        .source_port = source.port,
        .destination_port = target.port,
    };

    put_address(h.source, &source.address, h.family);
    put_address(h.destination, &target.address, h.family);
    return proxy_header_write(&h, out);
}
