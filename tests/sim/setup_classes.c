/* SPDX-License-Identifier: MIT
 * setup_classes: see setup_classes.h. */
#include "setup_classes.h"

#include "draw.h"
#include "ports.h"
#include "protocol/query_init.h"
#include "setup.h"
#include "violation.h"

#include <stdio.h>
#include <string.h>

_Static_assert(PORTS_MOST_CLASSES >= CLIENT_CLASS_MOST, "a port for each");

static struct client_class classes[CLIENT_CLASS_MOST];
static struct query queries[CLIENT_CLASS_MOST];

static void set_port(struct client_class *class, const struct client_config *c, uint32_t k)
{
    setup_target(&class->target, (uint16_t)(class->tls || c->tls == NULL ? PORTS_PEER_PORT - k
                                                                         : PORTS_PLAIN_PORT + k));
}

/* --- by rule --- */

/* Classes differ in size, part of the rate (of three or more, the last one sends nothing),
 * arrivals, queries per connection, TLS, and how long they stay idle (the third one forever). */
static void make_class(struct client_class *class, const struct client_config *c,
                       const struct scenario *s, uint32_t k)
{
    const uint32_t n = c->n_classes, n_with_queries = n < 3 ? n : n - 1;
    const uint32_t until = (k + 1) * (k + 2) / 2 * (c->n_connections - n) / (n * (n + 1) / 2);
    const uint32_t n_parts = n_with_queries * (n_with_queries + 1) / 2;
    const uint32_t n_before = k > 0 ? classes[k - 1].n_before + classes[k - 1].n_connections : 0;

    *class = (struct client_class){
        .n_before = n_before,
        .n_connections = until + k + 1 - n_before,
        .part = k < n_with_queries ? (double)(n_with_queries - k) / n_parts : 0,
        .arrival = (c->arrival + (int)k) % 2,
        .select = (c->select + (int)(k / 2)) % 2,
        .interval_ns = (k + 1) * c->interval_ns,
        .tls = c->tls != NULL && !(s->plain_classes && k % 2 == 1),
        .prove = c->prove,
        .queries_per_conn = k % 2 == 0 ? c->queries_per_conn : 0,
        .idle_close_ns = k == 2 ? 0 : (k + 1) * c->idle_close_ns,
    };
}

/* --- by dice --- */

/* Half of the classes have one query, the others several, of different lengths. */
static void draw_lines(char *text, size_t room, struct rng *r)
{
    static const char *const types[] = {"", " A", " AAAA", " TXT"};
    const uint64_t n = one_in(r, 2) ? 1 : between(r, 2, 4);
    size_t n_bytes = 0;

    for (uint64_t i = 0; i < n; i++) {
        const int n_label = (int)between(r, 1, 60);
        const char *type = types[rng_below(r, 4)];

        n_bytes += (size_t)snprintf(text + n_bytes, room - n_bytes, "%.*s.test%s\n", n_label,
                                    "abcdefghijklmnopqrstuvwxyz0123456789"
                                    "abcdefghijklmnopqrstuvwxyz",
                                    type);
    }
}

static void draw_query(struct query *query, const struct client_config *c, const struct scenario *s,
                       struct rng *r)
{
    char lines[512], error[QUERY_ERROR_BYTES];
    struct query_ask ask = {.size_bytes = of_any_size(r, 1, s->message_bytes),
                            .edns = {.keepalive = c->keepalive}};

    draw_lines(lines, sizeof lines, r);
    ask.lines = (struct query_text){"lines", lines, strlen(lines)};
    if (one_in(r, 3))
        ask.edns.udp_bytes = (uint16_t)between(r, 512, 65535);
    if (one_in(r, 4))
        ask.edns.padding_bytes = (uint16_t)between(r, 1, 512);
    ask.edns.dnssec = one_in(r, 4);
    LAW(query_init(query, (enum query_kind)s->protocol, &ask, error) == 0, "%s", error);
}

static void draw_class(struct client_class *class, struct query *query,
                       const struct client_config *c, const struct scenario *s, struct rng *r)
{
    class->part = one_in(r, 5) ? 0 : (double)between(r, 1, 100);
    class->arrival = one_in(r, 2) ? PACER_CONSTANT : PACER_POISSON;
    class->select = one_in(r, 2) ? CLIENT_SELECT_RANDOM : CLIENT_SELECT_ROUND_ROBIN;
    class->interval_ns = c->interval_ns * between(r, 1, 5);
    class->tls = c->tls != NULL && !(s->plain_classes && one_in(r, 2));
    class->prove = !c->on_demand && one_in(r, 2);
    class->queries_per_conn =
        c->queries_per_conn > 0 && !one_in(r, 3) ? (uint32_t)of_any_size(r, 1, 20) : 0;
    class->idle_close_ns =
        c->idle_close_ns > 0 && !one_in(r, 4) ? of_any_size(r, 1, 100000) * 1000 : 0;
    draw_query(query, c, s, r);
}

/* Parts of 1; the first class gets all if no class has any. */
static void share_out(uint32_t n)
{
    double sum = 0;

    for (uint32_t k = 0; k < n; k++)
        sum += classes[k].part;
    for (uint32_t k = 0; k < n; k++)
        classes[k].part = sum > 0 ? classes[k].part / sum : k == 0;
}

static void make_by_dice(struct client_config *c, const struct scenario *s)
{
    struct rng r;

    rng_seed(&r, s->class_dice, 1);
    for (uint32_t k = 0; k < c->n_classes; k++)
        draw_class(&classes[k], &queries[k], c, s, &r);
    share_out(c->n_classes);
}

/* --- all --- */

void setup_classes_make(struct client_config *c, const struct scenario *s)
{
    c->n_classes = setup_n_classes(s);
    c->classes = classes;
    c->class_queries = c->n_classes > 0 ? queries : NULL;
    for (uint32_t k = 0; k < c->n_classes; k++) {
        make_class(&classes[k], c, s, k);
        queries[k] = (struct query){.protocol = NULL};
    }
    if (s->class_dice > 0 && c->n_classes > 0)
        make_by_dice(c, s);
    for (uint32_t k = 0; k < c->n_classes; k++) {
        char error[QUERY_ERROR_BYTES];
        const struct query_ask ask = {.size_bytes = s->message_bytes,
                                      .edns = {.keepalive = c->keepalive}};

        if (queries[k].protocol == NULL)
            LAW(query_init(&queries[k], (enum query_kind)s->protocol, &ask, error) == 0, "%s",
                error);
        set_port(&classes[k], c, k);
    }
}

void setup_classes_free(struct client_config *c)
{
    for (uint32_t k = 0; k < c->n_classes; k++)
        query_free(&queries[k]);
}
