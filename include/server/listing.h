/* SPDX-License-Identifier: MIT
 * server_listing: a CSV row for each connection served (--connections-out): who connected, and for
 * which client, if a PROXY header named one.
 *
 * Workers add rows to a buffer, because files are open in the main thread's fd table only; the main
 * thread writes them. */
#ifndef TCPSCALER_SERVER_LISTING_H
#define TCPSCALER_SERVER_LISTING_H

#include "base/output.h"
#include "workload/srcplan.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define SERVER_LISTING_HEADER "source,source_port,identity,identity_port\n"

/* Limit of the buffer: rows beyond it are lost. */
#define SERVER_LISTING_MAX_BYTES (256u << 20)

struct server_listing {
    pthread_mutex_t lock; /* protects the fields below */
    char *text;
    size_t n_bytes, capacity;
    uint64_t n_lost; /* rows beyond the limit, or for which there was no memory */
};

void server_listing_init(struct server_listing *l);
void server_listing_free(struct server_listing *l);

/* Adds the row of a connection; identity of AF_UNSPEC: none.  IPv4-mapped IPv6 addresses become
 * IPv4.  Any thread. */
void server_listing_add(struct server_listing *l, const struct srcplan_tuple *source,
                        const struct srcplan_tuple *identity);

/* _begin writes the header; it returns 0, or -1 if out of memory.  _put writes the rows added since
 * the last call, without waiting for a reader; do not call it while the output still keeps earlier
 * rows.  Main thread. */
int server_listing_begin(struct output *out);
void server_listing_put(struct server_listing *l, struct output *out);

#endif
