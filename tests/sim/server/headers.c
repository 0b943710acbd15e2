/* SPDX-License-Identifier: MIT
 * headers: see headers.h. */
#include "headers.h"

#include "clients.h"
#include "protocol/proxy_header.h"
#include "server/service.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

enum { MOST_EXTRA_BYTES = 60, ANY_VERSION = 3 };

struct headers_figures headers_figures;

void __real_server_service_begin(struct server_conn *conn, uint32_t source_entry,
                                 const struct srcplan_tuple *peer,
                                 const struct srcplan_tuple *identity);
void __wrap_server_service_begin(struct server_conn *conn, uint32_t source_entry,
                                 const struct srcplan_tuple *peer,
                                 const struct srcplan_tuple *identity);

void headers_begin(void)
{
    headers_figures = (struct headers_figures){0};
}

/* --- drawing --- */

/* Type-length-value triples, of any type. */
static void add_triples(struct client *c)
{
    const size_t n = world_up_to(MOST_EXTRA_BYTES);

    for (size_t k = 0; k < n; k++)
        c->header[c->header_bytes + k] = (uint8_t)world_up_to(255);
    c->header_bytes += (uint32_t)n;
    c->header[15] = (uint8_t)(c->header_bytes - 16);
}

/* One wrong byte, where only one is right. */
static void damage(struct client *c)
{
    c->wrong_at = (uint32_t)world_up_to(5);
    c->header[c->wrong_at] ^= 0x80;
}

void headers_draw(struct client *c)
{
    const struct scenario *s = &world.scenario;
    const uint32_t id = (uint32_t)(c - clients.all);
    struct proxy_header h = {.family = AF_INET, .destination = {10, 2, 0, 1}};

    if (s->proxy == 0)
        return;
    h.version = s->proxy == ANY_VERSION ? 1 + (unsigned)world_up_to(1) : (unsigned)s->proxy;
    c->is_local = world_chance(s->local_permille);
    c->identity = (struct srcplan_tuple){
        .address = {.family = AF_INET, .bytes = {10, 9, 0, (uint8_t)world_up_to(s->sources - 1)}},
        .port = (uint16_t)id};
    if (c->is_local)
        h.family = AF_UNSPEC;
    memcpy(h.source, c->identity.address.bytes, 4);
    h.source_port = c->identity.port;
    c->header_bytes = (uint32_t)proxy_header_write(&h, c->header);
    if (h.version == PROXY_HEADER_V2)
        add_triples(c);
    c->wrong_at = UINT32_MAX;
    c->header_is_cut = world_chance(s->cut_header_permille);
    if (c->header_is_cut)
        c->header_bytes = (uint32_t)world_up_to(c->header_bytes - 1);
    else if (world_chance(s->wrong_header_permille))
        damage(c);
}

/* --- sending --- */

bool headers_send(struct client *c, uint32_t i)
{
    const uint32_t left = c->header_bytes - c->header_sent;
    uint64_t n;

    if (left == 0)
        return !c->header_is_cut;
    n = 1 + world_up_to(world.scenario.chunk_bytes - 1);
    n = n < left ? n : left;
    tcp_deliver_at(i, c->header + c->header_sent, (size_t)n, world.now_ns + client_way_ns());
    c->header_sent += (uint32_t)n;
    return c->header_sent == c->header_bytes && !c->header_is_cut && world_chance(500);
}

/* --- reading --- */

/* Whether the part read so far is malformed. */
static bool is_malformed(const struct client *c)
{
    return c->header_read > c->wrong_at;
}

static bool is_whole(const struct client *c)
{
    return !c->header_is_cut && !is_malformed(c) && c->header_read == c->header_bytes;
}

size_t headers_on_received(struct client *c, const uint8_t *data, size_t n_bytes)
{
    const uint32_t left = c->header_bytes - c->header_read;
    const size_t n = n_bytes < left ? n_bytes : left;

    LAW(memcmp(data, c->header + c->header_read, n) == 0, "the simulation's own byte");
    c->header_read += (uint32_t)n;
    if (is_malformed(c)) { /* what is read with the wrong byte counts as header */
        headers_figures.n_bytes += n_bytes;
        return n_bytes;
    }
    headers_figures.n_bytes += n;
    return n;
}

uint32_t headers_address(const struct client *c)
{
    const uint8_t *named = c->identity.address.bytes;

    return world.scenario.proxy == 0 || c->is_local
               ? c->address
               : (uint32_t)(named[0] << 24 | named[1] << 16 | named[2] << 8 | named[3]);
}

void __wrap_server_service_begin(struct server_conn *conn, uint32_t source_entry,
                                 const struct srcplan_tuple *peer,
                                 const struct srcplan_tuple *identity)
{
    struct client *c = clients_of_fd(conn->socket.fd);

    LAW(is_whole(c), "served before its PROXY header is complete");
    LAW(c->is_local ? identity->address.family == AF_UNSPEC
                    : identity->address.family == AF_INET &&
                          memcmp(identity->address.bytes, c->identity.address.bytes, 4) == 0 &&
                          identity->port == c->identity.port,
        "served as another client than its PROXY header names");
    headers_figures.n_complete++;
    headers_figures.n_local += c->is_local;
    clients_begin_service(c);
    c->is_beginning = true;
    __real_server_service_begin(conn, source_entry, peer, identity);
    c->is_beginning = false;
}

/* --- refusals --- */

void headers_on_refusal(struct client *c, bool was_ended, bool lacks_memory)
{
    const struct scenario *s = &world.scenario;
    struct headers_figures *f = &headers_figures;

    if (is_whole(c)) {
        f->n_limited++;
        LAW(s->max_per_source > 0 || lacks_memory, "refused with a PROXY header in order");
    } else if (is_malformed(c)) {
        f->n_malformed++;
    } else if (was_ended) {
        f->n_ended++;
    } else {
        f->n_late++;
        LAW(clients.expects_closing || lacks_memory ||
                world.now_ns - c->accepted_ns + client_early_ns() >=
                    clients.config->header_timeout_ns,
            "refused %" PRIu64 " ns after it was accepted, before its PROXY header was late",
            world.now_ns - c->accepted_ns);
    }
}
