/* SPDX-License-Identifier: MIT
 * server_conns: see server/conns.h. */
#include "server/conns.h"

#include <poll.h>
#include <stdlib.h>

/* For a connection closed by its peer: more than a receive buffer holds by default. */
enum { MAX_READS_AT_END = 128 };

static bool is_served(const struct server_conn *c)
{
    return c->open && !c->awaits_header;
}

static int oldest_first(const void *a, const void *b)
{
    const struct server_conn *const *one = a, *const *other = b;
    const uint64_t serial_of_one = (*one)->serial, serial_of_other = (*other)->serial;

    return (serial_of_one > serial_of_other) - (serial_of_one < serial_of_other);
}

uint32_t server_conns_close_oldest(struct server_conns *conns, uint32_t n)
{
    struct server_conn **open =
        malloc((size_t)conns->n_blocks * SERVER_BLOCK_CONNECTIONS * sizeof(struct server_conn *));
    uint32_t n_open = 0;

    if (open == NULL)
        return 0;
    for (uint32_t b = 0; b < conns->n_blocks; b++)
        for (int i = 0; i < SERVER_BLOCK_CONNECTIONS; i++)
            if (is_served(&conns->blocks[b][i]))
                open[n_open++] = &conns->blocks[b][i];
    qsort(open, n_open, sizeof(struct server_conn *), oldest_first);
    if (n > n_open)
        n = n_open;
    for (uint32_t i = 0; i < n; i++)
        server_conn_end(open[i], (struct outcome){PHASE_RUN, REASON_FINISHED});
    free(open);
    return n;
}

/* Reads the bytes before the peer's end of stream, then the end itself. */
static void read_to_end(struct server_conn *c)
{
    for (int i = 0; c->open && (c->awaits_header || c->held == NULL) && i < MAX_READS_AT_END; i++)
        c->socket.callback(&c->socket, EV_READ);
}

void server_conns_close_ended(struct server_conns *conns)
{
    struct pollfd polled[SERVER_BLOCK_CONNECTIONS];

    for (uint32_t b = 0; b < conns->n_blocks; b++) {
        struct server_conn *block = conns->blocks[b];

        for (int i = 0; i < SERVER_BLOCK_CONNECTIONS; i++)
            polled[i] =
                (struct pollfd){.fd = block[i].open ? block[i].socket.fd : -1, .events = POLLRDHUP};
        if (poll(polled, SERVER_BLOCK_CONNECTIONS, 0) <= 0)
            continue;
        for (int i = 0; i < SERVER_BLOCK_CONNECTIONS; i++)
            if (polled[i].revents != 0)
                read_to_end(&block[i]);
    }
}
