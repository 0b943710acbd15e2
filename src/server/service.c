/* SPDX-License-Identifier: MIT
 * server_service: see server/service.h. */
#include "server/service.h"

#include "server/io.h"
#include "server/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

static void begin(struct server_conn *c, uint32_t source_entry, const struct srcplan_tuple *peer,
                  const struct srcplan_tuple *identity)
{
    struct server_conns *conns = c->conns;

    c->source_entry = source_entry;
    tally_add(&conns->tally.accepted, 1);
    if (conns->config->listing != NULL)
        server_listing_add(conns->config->listing, peer, identity);
    if (conns->push_ops != NULL)
        conns->push_ops->greet(c);
}

int server_service_open(struct server_conns *conns, int fd, uint32_t source_entry,
                        const struct srcplan_tuple *peer)
{
    static const struct srcplan_tuple nobody = {.address.family = AF_UNSPEC};
    struct server_conn *c = server_conn_new(conns);
    int error;

    if (c == NULL)
        return ENOMEM;
    error = server_io_watch(c, fd);
    if (error != 0) {
        server_conn_drop(c);
        return error;
    }
    server_conn_begin(c);
    begin(c, source_entry, peer, &nobody);
    return 0;
}

void server_service_begin(struct server_conn *c, uint32_t source_entry,
                          const struct srcplan_tuple *peer, const struct srcplan_tuple *identity)
{
    struct source_limit *limit = c->conns->config->source_limit;
    const int fd = c->socket.fd;
    int error;

    error = server_io_watch(c, fd);
    if (error != 0) {
        server_conn_refuse(c, server_refusal_of_errno(error));
        if (limit != NULL) /* only after the socket is closed: another thread may then open the next
                              connection at once */
            source_limit_leave(limit, source_entry);
        return;
    }
    free(c->header);
    c->held = NULL;
    c->awaits_header = false;
    begin(c, source_entry, peer, identity);
}
