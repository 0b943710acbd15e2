/* SPDX-License-Identifier: MIT
 * server_conn: see server/conn.h. */
#include "server/conn.h"

#include "net/sock.h"
#include "server/active.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int add_block(struct server_conns *conns)
{
    struct server_conn **blocks =
        realloc(conns->blocks, (conns->n_blocks + 1) * sizeof *conns->blocks);
    struct server_conn *block;

    if (blocks == NULL)
        return -1;
    conns->blocks = blocks;
    block = calloc(SERVER_BLOCK_CONNECTIONS, sizeof *block);
    if (block == NULL)
        return -1;
    blocks[conns->n_blocks++] = block;
    for (int i = SERVER_BLOCK_CONNECTIONS - 1; i >= 0; i--) {
        block[i].next_free = conns->free_head;
        conns->free_head = &block[i];
    }
    return 0;
}

struct server_conn *server_conn_new(struct server_conns *conns)
{
    struct server_conn *c;

    if (conns->free_head == NULL && add_block(conns) != 0)
        return NULL;
    c = conns->free_head;
    conns->free_head = c->next_free;
    memset(c, 0, sizeof *c);
    c->conns = conns;
    return c;
}

void server_conn_drop(struct server_conn *c)
{
    struct server_conns *conns = c->conns;

    c->next_free = conns->free_head;
    conns->free_head = c;
}

void server_conn_begin(struct server_conn *c)
{
    struct server_conns *conns = c->conns;

    c->open = true;
    c->serial = conns->next_serial++ & SERVER_SERIAL_MASK;
}

/* --- closing --- */

/* Sends close_notify, which tells a TLS client that nothing is missing (RFC 8446, 6.1), unless
 * bytes for it are still waiting. */
static void send_close_notify(struct server_conn *c)
{
    struct tls_worker *tls = &c->conns->tls;
    ssize_t n;

    if (c->tls == NULL || c->held != NULL)
        return;
    tls_end(c->tls);
    n = tls->n_out > 0 ? send(c->socket.fd, tls->out, tls->n_out, MSG_NOSIGNAL) : 0;
    tls->n_out = 0;
    tally_add(&c->conns->tally.bytes_sent, n > 0 ? (uint64_t)n : 0);
}

static void release(struct server_conn *c)
{
    struct source_limit *limit = c->conns->config->source_limit;
    const bool was_served = !c->awaits_header;

    c->open = false;
    if (c->conns->push_ops != NULL && was_served)
        c->conns->push_ops->unsubscribe(c);
    poller_stop(&c->conns->poller, &c->socket);
    close(c->socket.fd);
    if (limit != NULL && was_served)
        source_limit_leave(limit, c->source_entry);
    free(c->held);
    tls_free(c->tls);
}

static void count_refusal(struct server_conn *c, enum server_refusal why)
{
    sock_reset_on_close(c->socket.fd);
    server_tally_refuse(&c->conns->tally, why);
}

void server_conn_refuse(struct server_conn *c, enum server_refusal why)
{
    struct server_conns *conns = c->conns;

    count_refusal(c, why);
    release(c);
    server_conn_drop(c);
    server_active_leave(conns->config);
    conns->ended(conns->ended_context);
}

void server_conn_close(struct server_conn *c, struct outcome outcome)
{
    struct server_conns *conns = c->conns;

    if (!c->open)
        return;
    release(c);
    server_conn_drop(c);
    server_active_leave(conns->config);
    tally_add(&conns->tally.closed[outcome.phase][outcome.reason], 1);
    tally_add_last(&conns->tally.n_closed, 1);
    conns->ended(conns->ended_context);
}

void server_conn_end(struct server_conn *c, struct outcome outcome)
{
    if (c->open)
        send_close_notify(c);
    server_conn_close(c, outcome);
}

static void close_at_end(struct server_conn *c)
{
    if (!c->open)
        return;
    if (c->awaits_header) {
        count_refusal(c, SERVER_REFUSED_HEADER_MISSING);
        server_active_leave(c->conns->config);
    }
    send_close_notify(c);
    release(c);
}

void server_conns_free(struct server_conns *conns)
{
    for (uint32_t b = 0; b < conns->n_blocks; b++)
        for (int i = 0; i < SERVER_BLOCK_CONNECTIONS; i++)
            close_at_end(&conns->blocks[b][i]);
    for (uint32_t b = 0; b < conns->n_blocks; b++)
        free(conns->blocks[b]);
    poller_free(&conns->poller);
    free(conns->blocks);
    conns->blocks = NULL;
    conns->n_blocks = 0;
    conns->free_head = NULL;
}
