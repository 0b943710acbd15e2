/* SPDX-License-Identifier: MIT
 * source_limit: see server/source_limit.h. */
#include "server/source_limit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct entry {
    uint64_t source;
    uint32_t n;    /* connections; 0: unused */
    uint32_t next; /* in its bucket or in the list of unused entries; NONE: last */
};

struct source_limit {
    uint64_t most, multiplier;
    uint32_t n_entries, n_begun; /* entries from n_begun on have never been used */
    uint32_t first_free;
    unsigned shift;
    struct entry *entries;
    uint32_t *buckets; /* 1 + index of the first entry; 0: none */
    pthread_mutex_t lock;
};

/* The upper bits of a product with a secret odd number: two sources share one of 2^k buckets with a
 * probability of at most 2 / 2^k (Dietzfelbinger et al., 1997). */
static uint32_t *bucket_of(const struct source_limit *l, uint64_t source)
{
    return &l->buckets[source * l->multiplier >> l->shift];
}

struct source_limit *source_limit_new(uint64_t most, uint32_t n_connections, uint64_t secret)
{
    struct source_limit *l = calloc(1, sizeof *l);
    unsigned bits = 1;

    if (l == NULL)
        return NULL;
    while (1u << bits < n_connections)
        bits++;
    l->most = most;
    l->multiplier = secret | 1;
    l->n_entries = n_connections;
    l->first_free = NONE;
    l->shift = 64 - bits;
    l->entries = calloc(n_connections, sizeof *l->entries);
    l->buckets = calloc((size_t)1 << bits, sizeof *l->buckets);
    pthread_mutex_init(&l->lock, NULL);
    if (l->entries == NULL || l->buckets == NULL) {
        source_limit_free(l);
        return NULL;
    }
    return l;
}

void source_limit_free(struct source_limit *l)
{
    if (l == NULL)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l->entries);
    free(l->buckets);
    free(l);
}

/* Maps IPv4 addresses to 0::/32 of IPv6, which no peer but ::1 uses. */
uint64_t source_limit_source(const struct sockaddr *peer)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
    uint64_t source = 0;
    in_addr_t four;

    if (peer->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)peer)->sin_addr.s_addr);
    if (IN6_IS_ADDR_V4MAPPED(six)) {
        memcpy(&four, six->s6_addr + 12, sizeof four);
        return ntohl(four);
    }
    for (int i = 0; i < 8; i++)
        source = source << 8 | six->s6_addr[i];
    return source;
}

static uint32_t find(const struct source_limit *l, uint64_t source)
{
    uint32_t i = *bucket_of(l, source) - 1;

    while (i != NONE && l->entries[i].source != source)
        i = l->entries[i].next;
    return i;
}

/* Adds a source without an entry. */
static uint32_t add(struct source_limit *l, uint64_t source)
{
    uint32_t *bucket = bucket_of(l, source), i = l->first_free;

    if (i != NONE)
        l->first_free = l->entries[i].next;
    else if (l->n_begun < l->n_entries)
        i = l->n_begun++;
    else
        return NONE;
    l->entries[i] = (struct entry){.source = source, .next = *bucket - 1};
    *bucket = i + 1;
    return i;
}

static void drop(struct source_limit *l, uint32_t i)
{
    struct entry *e = &l->entries[i];
    uint32_t *bucket = bucket_of(l, e->source), before = *bucket - 1;

    if (before == i) {
        *bucket = e->next + 1;
    } else {
        while (l->entries[before].next != i)
            before = l->entries[before].next;
        l->entries[before].next = e->next;
    }
    e->next = l->first_free;
    l->first_free = i;
}

uint32_t source_limit_enter(struct source_limit *l, uint64_t source)
{
    uint32_t i;

    pthread_mutex_lock(&l->lock);
    i = find(l, source);
    if (i == NONE)
        i = add(l, source);
    if (i != NONE && l->entries[i].n >= l->most)
        i = NONE;
    if (i != NONE)
        l->entries[i].n++;
    pthread_mutex_unlock(&l->lock);
    return i != NONE ? i : SOURCE_LIMIT_REACHED;
}

void source_limit_leave(struct source_limit *l, uint32_t entry)
{
    pthread_mutex_lock(&l->lock);
    if (--l->entries[entry].n == 0)
        drop(l, entry);
    pthread_mutex_unlock(&l->lock);
}
