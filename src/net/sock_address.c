/* SPDX-License-Identifier: MIT
 * sock_address: see net/sock_address.h. */
#include "net/sock_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

char *sock_format(char buffer[SOCK_TEXT_BYTES], const struct sock_address *address)
{
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->ss;
    char host[INET6_ADDRSTRLEN] = "?", zone[IF_NAMESIZE];

    if (address->ss.ss_family == AF_INET6) {
        const bool has_zone =
            in6->sin6_scope_id != 0 && if_indextoname(in6->sin6_scope_id, zone) != NULL;

        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
        snprintf(buffer, SOCK_TEXT_BYTES, "[%s%s%s]:%u", host, has_zone ? "%" : "",
                 has_zone ? zone : "", sock_port(address));
    } else {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)&address->ss)->sin_addr, host,
                  sizeof host);
        snprintf(buffer, SOCK_TEXT_BYTES, "%s:%u", host, sock_port(address));
    }
    return buffer;
}

uint16_t sock_port(const struct sock_address *address)
{
    return ntohs(address->ss.ss_family == AF_INET6
                     ? ((const struct sockaddr_in6 *)&address->ss)->sin6_port
                     : ((const struct sockaddr_in *)&address->ss)->sin_port);
}

void sock_set_port(struct sock_address *address, uint16_t port)
{
    if (address->ss.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&address->ss)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&address->ss)->sin_port = htons(port);
}

bool sock_is_loopback(const struct sock_address *address)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)&address->ss)->sin6_addr;

    if (address->ss.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
    return ntohl(((const struct sockaddr_in *)&address->ss)->sin_addr.s_addr) >> 24 == 127;
}

bool sock_lacks_interface(const struct sock_address *address)
{
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->ss;

    return address->ss.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) &&
           in6->sin6_scope_id == 0;
}

struct srcplan_tuple sock_tuple(const struct sock_address *address)
{
    struct srcplan_tuple tuple = {.address.family = address->ss.ss_family,
                                  .port = sock_port(address)};

    if (address->ss.ss_family == AF_INET6)
        memcpy(tuple.address.bytes, &((const struct sockaddr_in6 *)&address->ss)->sin6_addr, 16);
    else
        memcpy(tuple.address.bytes, &((const struct sockaddr_in *)&address->ss)->sin_addr, 4);
    return tuple;
}

void sock_set_tuple(struct sock_address *address, const struct srcplan_tuple *tuple)
{
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address->ss;
    struct sockaddr_in *in = (struct sockaddr_in *)&address->ss;

    *address = (struct sock_address){.ss.ss_family = (sa_family_t)tuple->address.family};
    if (tuple->address.family == AF_INET6) {
        memcpy(&in6->sin6_addr, tuple->address.bytes, 16);
        address->length = sizeof *in6;
    } else if (tuple->address.family == AF_INET) {
        memcpy(&in->sin_addr, tuple->address.bytes, 4);
        address->length = sizeof *in;
    }
    if (address->length > 0)
        sock_set_port(address, tuple->port);
}
