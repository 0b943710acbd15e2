/* SPDX-License-Identifier: MIT
 * server_listing: see server/listing.h. */
#include "server/listing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 2 * (INET6_ADDRSTRLEN + 8), FIRST_BYTES = 4096 };

void server_listing_init(struct server_listing *l)
{
    *l = (struct server_listing){.text = NULL};
    pthread_mutex_init(&l->lock, NULL);
}

void server_listing_free(struct server_listing *l)
{
    pthread_mutex_destroy(&l->lock);
    free(l->text);
}

/* "ADDRESS,PORT", or "," if there is none. */
static int print_tuple(char *text, size_t n_bytes, const struct srcplan_tuple *t)
{
    struct in6_addr six;
    char address[INET6_ADDRSTRLEN] = "";

    memcpy(&six, t->address.bytes, sizeof six);
    if (t->address.family == AF_UNSPEC)
        return snprintf(text, n_bytes, ",");
    if (t->address.family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six))
        inet_ntop(AF_INET, t->address.bytes + 12, address, sizeof address);
    else
        inet_ntop(t->address.family, t->address.bytes, address, sizeof address);
    return snprintf(text, n_bytes, "%s,%u", address, t->port);
}

static int make_room(struct server_listing *l, size_t n_bytes)
{
    const size_t capacity = l->capacity > 0 ? 2 * l->capacity : FIRST_BYTES;
    char *text;

    if (l->n_bytes + n_bytes <= l->capacity)
        return 0;
    text = capacity <= SERVER_LISTING_MAX_BYTES ? realloc(l->text, capacity) : NULL;
    if (text == NULL)
        return -1;
    l->text = text;
    l->capacity = capacity;
    return 0;
}

void server_listing_add(struct server_listing *l, const struct srcplan_tuple *source,
                        const struct srcplan_tuple *identity)
{
    char row[ROW_BYTES];
    size_t n;

    n = (size_t)print_tuple(row, sizeof row, source);
    row[n++] = ',';
    n += (size_t)print_tuple(row + n, sizeof row - n, identity);
    row[n++] = '\n';
    pthread_mutex_lock(&l->lock);
    if (make_room(l, n) == 0) {
        memcpy(l->text + l->n_bytes, row, n);
        l->n_bytes += n;
    } else {
        l->n_lost++;
    }
    pthread_mutex_unlock(&l->lock);
}

int server_listing_begin(struct output *out)
{
    char *header = strdup(SERVER_LISTING_HEADER);

    if (header == NULL)
        return -1;
    output_put(out, header, strlen(header));
    return 0;
}

void server_listing_put(struct server_listing *l, struct output *out)
{
    char *text;
    size_t n_bytes;

    pthread_mutex_lock(&l->lock);
    text = l->text;
    n_bytes = l->n_bytes;
    l->text = NULL;
    l->n_bytes = l->capacity = 0;
    pthread_mutex_unlock(&l->lock);
    output_put(out, text, n_bytes);
}
