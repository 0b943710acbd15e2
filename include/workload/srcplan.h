/* SPDX-License-Identifier: MIT
 * srcplan: which (source address, source port) each connection uses.  Pure arithmetic: tuple i is
 * found in O(log ranges), nothing is allocated per tuple, and the capacity is known before the
 * first socket.
 *
 * Address-major: tuple 0 is the first address with its first port, then its successive ports, then
 * the next address.  Filled by one thread, then read by any number.
 *
 * Three kinds of plan: no sources and no ports (automatic: the kernel picks both); sources without
 * ports get the default port range from the caller; ports without sources use the wildcard address
 * (the kernel picks the address, the plan the port). */
#ifndef TCPSCALER_WORKLOAD_SRCPLAN_H
#define TCPSCALER_WORKLOAD_SRCPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define SRCPLAN_ERROR_BYTES 160
#define SRCPLAN_MOST_RANGES 65536u /* of all lists; each choice in braces counts */

/* Network byte order.  family is AF_INET (4 bytes used) or AF_INET6 (16); AF_UNSPEC is the wildcard
 * of whatever family the target has. */
struct srcplan_address {
    int family;
    uint8_t bytes[16];
    uint32_t scope; /* index of a link-local address's interface; 0: that of the target */
};

/* Returns the number of bytes of an address of this family. */
static inline size_t srcplan_address_bytes(int family)
{
    return family == AF_INET ? 4 : 16;
}

/* Sets *n to last - first.  Returns 0, or -1 if it is negative, it is 2^32 or more, or the families
 * differ. */
int srcplan_distance(const struct srcplan_address *first, const struct srcplan_address *last,
                     uint64_t *n);

struct srcplan_tuple {
    struct srcplan_address address;
    uint16_t port; /* host byte order; 0: the kernel chooses */
};

/* `count` successive addresses from `first`; `before` addresses come in earlier ranges. */
struct srcplan_range {
    struct srcplan_address first;
    uint64_t count;
    uint64_t before;
};

struct srcplan {
    struct srcplan_range *ranges;
    size_t n_ranges;
    uint64_t n_addresses;
    uint16_t *ports; /* usable ports in the order given, without repeats; NULL: none given */
    uint32_t n_ports;
};

void srcplan_init(struct srcplan *p);
void srcplan_free(struct srcplan *p);

/* Adds a comma list of: one address ("10.0.0.1", "fd00::1"), a dash range ("10.0.0.1-10.0.0.9",
 * also "10.0.0.1-9" for the last group), a CIDR block ("10.1.0.0/24": every address in it), braces
 * ("192.168.{10..30}.101", "10.0.0.{1,5,9}", several in one item).  The index of an interface may
 * follow a link-local address: "fe80::1%2", "fe80::1-9%2", "fe80::%2/64".  Order and repeats are
 * kept as given; mixing IPv4 and IPv6 in one plan is refused.  Returns 0, or -1 with one line in
 * error (SRCPLAN_ERROR_BYTES) that quotes the item at fault and what is accepted; the plan then is
 * as before. */
int srcplan_add_sources(struct srcplan *p, const char *list, char *error);

/* Adds comma separated ports and ranges, "20000-60000,61000"; an item with a leading '!' excludes:
 * "1024-65535,!8080,!9000-9100" (an exclusion holds for the items before and after it).  Ports are
 * 1..65535.  An empty result is an error.  Otherwise as above. */
int srcplan_add_ports(struct srcplan *p, const char *list, char *error);

/* Removes the ports from first to last (reserved or listening ones) from the plan, in whatever
 * order ports were added.  Returns how many were in it. */
uint32_t srcplan_exclude_ports(struct srcplan *p, uint16_t first, uint16_t last);

/* Addresses * ports; UINT64_MAX when no ports were given: the kernel chooses them. */
uint64_t srcplan_capacity(const struct srcplan *p);

/* The family of the sources: AF_INET, AF_INET6, or AF_UNSPEC when none is given. */
int srcplan_family(const struct srcplan *p);

/* Whether this address is one of the sources; false if there are none. */
bool srcplan_has_address(const struct srcplan *p, const struct srcplan_address *address);

/* Finds an address that is in the plan more than once; its tuples are, too.  Returns 1 and sets
 * *address if there is one, 0 if there is none, -1 if out of memory. */
int srcplan_find_repeat(const struct srcplan *p, struct srcplan_address *address);

/* Tuple i, i < capacity.  Without ports: address i modulo the addresses, port 0. */
void srcplan_at(const struct srcplan *p, uint64_t i, struct srcplan_tuple *tuple);

#endif
