/* SPDX-License-Identifier: MIT
 * client_io: see client/worker/io.h. */
#include "client/worker/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct client_backlog {
    size_t n_bytes, n_sent, capacity;
    uint8_t data[];
};

/* Doubles the size, so each byte is copied twice at most. */
static struct client_backlog *enlarge(struct client_backlog *old, size_t n_more)
{
    const size_t n_bytes = old != NULL ? old->n_bytes : 0, needed = n_bytes + n_more;
    const size_t capacity = old != NULL && needed < 2 * old->capacity ? 2 * old->capacity : needed;
    struct client_backlog *b;

    if (old != NULL && needed <= old->capacity)
        return old;
    b = realloc(old, sizeof *b + capacity);
    if (b == NULL)
        return NULL;
    if (old == NULL)
        b->n_bytes = b->n_sent = 0;
    b->capacity = capacity;
    return b;
}

/* Reading stays enabled.  Returns 0 or an errno. */
static int watch_writable(struct client_conn *c, bool writable)
{
    const event_callback_fn callback = event_get_callback(&c->event);
    const int fd = event_get_fd(&c->event);

    event_del(&c->event);
    c->awaits_room = writable;
    event_assign(&c->event, c->transport->base, fd,
                 (short)(EV_READ | EV_PERSIST | (writable ? EV_WRITE : 0)), callback, c);
    return event_add(&c->event, NULL) == 0 ? 0 : ENOMEM;
}

int client_io_keep(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    if (n_bytes > 0) {
        struct client_backlog *b = enlarge(c->backlog, n_bytes);

        if (b == NULL)
            return ENOMEM;
        memcpy(b->data + b->n_bytes, data, n_bytes);
        b->n_bytes += n_bytes;
        c->backlog = b;
    }
    return c->awaits_room ? 0 : watch_writable(c, true);
}

int client_io_stop_waiting(struct client_conn *c)
{
    return watch_writable(c, false);
}

void client_io_count_sent(struct client_conn *c, uint64_t n_bytes)
{
    struct client_record *record = client_conn_record(c);

    tally_add(&c->transport->figures->tally.bytes_sent, n_bytes);
    if (record != NULL)
        record->bytes_sent += n_bytes;
}

ssize_t client_io_send(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    ssize_t n = send(event_get_fd(&c->event), data, n_bytes, MSG_NOSIGNAL);

    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            return -1;
        n = 0;
    }
    client_io_count_sent(c, (uint64_t)n);
    return n;
}

int client_io_transmit(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    ssize_t n = 0;

    if (c->backlog == NULL)
        n = client_io_send(c, data, n_bytes);
    if (n < 0)
        return errno;
    return (size_t)n < n_bytes ? client_io_keep(c, data + n, n_bytes - (size_t)n) : 0;
}

int client_io_send_kept(struct client_conn *c)
{
    struct client_backlog *b = c->backlog;
    const ssize_t n = client_io_send(c, b->data + b->n_sent, b->n_bytes - b->n_sent);

    if (n < 0)
        return errno;
    b->n_sent += (size_t)n;
    if (b->n_sent == b->n_bytes)
        client_io_discard(c);
    return 0;
}

void client_io_discard(struct client_conn *c)
{
    free(c->backlog);
    c->backlog = NULL;
}
