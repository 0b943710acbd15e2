/* SPDX-License-Identifier: MIT
 * client_tls: see client/worker/tls.h. */
#include "client/worker/tls.h"

#include "client/worker/io.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Limit on a backlog to which TLS itself adds.  Queries alone make it about 128 KiB; a peer that
 * requests replies, such as key updates (RFC 8446, 4.6.3), and reads none of them could make it
 * grow without limit. */
enum { MOST_BACKLOG_BYTES = 1 << 18 };

/* Classes with the same port share the worker of the first one. */
static void init_workers(struct client_tls *tls, const struct client_config *config)
{
    const struct client_class *classes = config->classes;
    unsigned first;

    for (unsigned k = 0; k < CLIENT_CLASS_MOST; k++)
        tls_worker_init(&tls->workers[k], config->tls);
    tls->of_class[0] = &tls->workers[0];
    for (unsigned k = 1; k < config->n_classes; k++) {
        for (first = 0; sock_port(&classes[first].target) != sock_port(&classes[k].target); first++)
            ;
        tls->of_class[k] = &tls->workers[first];
    }
}

int client_tls_init(struct client_transport *t)
{
    struct client_tls *tls;

    if (t->config->tls == NULL)
        return 0;
    tls = calloc(1, sizeof *tls);
    if (tls == NULL)
        return -1;
    t->tls = tls;
    t->has_codec = true;
    init_workers(tls, t->config);
    tls->conns = calloc(t->n_conns, sizeof(struct tls *));
    tls->plain = malloc(CLIENT_RECEIVE_BYTES + TLS_RECORD_BYTES);
    return tls->conns != NULL && tls->plain != NULL ? 0 : -1;
}

void client_tls_free(struct client_transport *t)
{
    struct client_tls *tls = t->tls;

    if (tls == NULL)
        return;
    for (unsigned k = 0; k < CLIENT_CLASS_MOST; k++)
        tls_worker_free(&tls->workers[k]);
    free(tls->conns);
    free(tls->plain);
    free(tls);
    t->tls = NULL;
}

static struct tls **slot_of(const struct client_conn *c)
{
    return &c->transport->tls->conns[client_conn_slot(c)];
}

/* --- handshake --- */

int client_tls_begin(struct client_conn *c)
{
    struct tls **slot = slot_of(c);

    *slot = tls_new(client_tls_worker(c));
    return *slot != NULL ? 0 : ENOMEM;
}

enum tls_status client_tls_start(struct client_conn *c)
{
    return tls_start(*slot_of(c));
}

/* A handshake step is small and the socket is empty: if it does not accept all bytes, it is out of
 * memory.  The last step is sent together with the proof: sent alone, a busy server would delay its
 * acknowledgement, and this host would retransmit. */
int client_tls_send_step(struct client_conn *c)
{
    struct tls_worker *w = client_tls_worker(c);
    const bool more = c->state == CLIENT_CONN_SECURING && client_conn_needs_proof(c) &&
                      client_tls_is_established(c);
    const size_t n_bytes = w->n_out;
    ssize_t n;

    w->n_out = 0;
    if (n_bytes == 0)
        return 0;
    n = client_io_put(c, w->out, n_bytes, more ? MSG_MORE : 0);
    if (n < 0)
        return errno;
    client_io_count_sent(c, (uint64_t)n);
    return (size_t)n == n_bytes ? 0 : ENOBUFS;
}

bool client_tls_is_established(const struct client_conn *c)
{
    return tls_is_established(*slot_of(c));
}

bool client_tls_is_ended_by_peer(const struct client_conn *c)
{
    const struct tls *tls = *slot_of(c);

    return tls != NULL && tls_is_ended_by_peer(tls);
}

void client_tls_record_handshake(struct client_conn *c, uint64_t handshake_ns)
{
    struct client_figures *f = c->transport->figures;
    struct client_record *record = client_conn_record(c);
    const struct tls *tls = *slot_of(c);

    hist_record(&f->handshake_times, handshake_ns);
    tally_add(&f->tally.connections.secured, 1);
    client_conn_count_in_class(c, CLASS_TALLY_OF(secured));
    tally_add(&f->tally.connections.resumed, tls_is_resumed(tls));
    if (record != NULL) {
        record->handshake_ns = handshake_ns;
        record->resumed = tls_is_resumed(tls);
    }
    if (f->tls_version == NULL) {
        f->tls_version = tls_version(tls);
        f->tls_cipher = tls_cipher(tls);
    }
}

/* --- after the handshake --- */

enum tls_status client_tls_decrypt(struct client_conn *c, const uint8_t *data, size_t n,
                                   uint8_t *plain, size_t *n_plain)
{
    return tls_receive(*slot_of(c), data, n, plain, n_plain);
}

/* Sends n_bytes of records.  Returns 0 or an errno. */
static int transmit(struct client_conn *c, size_t n_bytes)
{
    const int error = client_io_transmit(c, client_tls_worker(c)->out, n_bytes);

    if (error != 0)
        c->record_lost = true;
    return error;
}

int client_tls_send_own(struct client_conn *c)
{
    struct tls_worker *w = client_tls_worker(c);
    const size_t n_bytes = w->n_out;

    w->n_out = 0;
    if (n_bytes == 0 || c->record_lost)
        return 0;
    return client_io_backlog_bytes(c) < MOST_BACKLOG_BYTES ? transmit(c, n_bytes) : EPROTO;
}

int client_tls_send(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    struct tls_worker *w = client_tls_worker(c);
    const enum tls_status status = tls_send(*slot_of(c), data, n_bytes);
    const size_t n_sealed = w->n_out;

    w->n_out = 0;
    if (status == TLS_OK)
        return transmit(c, n_sealed);
    c->record_lost = true;
    return w->reason == REASON_MEMORY ? ENOMEM : EPROTO;
}

void client_tls_end(struct client_conn *c, bool say_so)
{
    struct tls **slot = slot_of(c);

    if (*slot == NULL)
        return;
    if (say_so && c->backlog == NULL && !c->record_lost) {
        tls_end(*slot);
        (void)client_tls_send_step(c);
    }
    tls_free(*slot);
    *slot = NULL;
}
