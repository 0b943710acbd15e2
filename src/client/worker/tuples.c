/* SPDX-License-Identifier: MIT
 * client_tuples: see client/worker/tuples.h. */
#include "client/worker/tuples.h"

#include "base/log.h"
#include "net/sock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

enum { MAX_TRIES_OF_USED = 64, MAX_TRIES_PER_CALL = 8 };

void client_tuples_init(struct client_tuples *t, const struct client_config *config,
                        uint32_t first_conn, uint32_t n_conns, bool reuses)
{
    t->config = config;
    t->reuses = reuses;
    srccursor_init(&t->cursor, &config->plan, first_conn, n_conns, config->spare_tuple);
}

void client_tuples_free(struct client_tuples *t)
{
    srccursor_free(&t->cursor);
    for (uint32_t i = 0; t->falls_back && i < CLIENT_CLASS_MOST; i++)
        srccursor_free(&t->fallbacks[i]);
}

/* The number of the first class with this target, 0 without classes: they differ by their ports. */
static uint32_t destination(const struct client_config *config, const struct sock_address *target)
{
    for (uint32_t k = 0; k < config->n_classes; k++)
        if (sock_port(&config->classes[k].target) == sock_port(target))
            return k;
    return 0;
}

static struct srccursor *cursor_towards(struct client_tuples *t, const struct sock_address *target)
{
    return t->falls_back ? &t->fallbacks[destination(t->config, target)] : &t->cursor;
}

/* The kernel found no port: switches this worker to the planned tuples of config->fallback, which
 * each destination can have.  Returns whether there are any.  A failing search by the kernel takes
 * about a millisecond, so it is not tried again. */
static bool use_fallback(struct client_tuples *t)
{
    static atomic_flag said;
    const struct client_config *config = t->config;

    if (config->fallback.ports == NULL)
        return false;
    t->falls_back = true;
    for (uint32_t i = 0; i < CLIENT_CLASS_MOST; i++)
        srccursor_init(&t->fallbacks[i], &config->fallback, 0, 0, &config->fallback_tuples[i]);
    if (!config->quiet && !atomic_flag_test_and_set(&said))
        log_error("the kernel finds no free source port: binding the ports of "
                  "net.ipv4.ip_local_port_range explicitly");
    return true;
}

/* Connects from a planned tuple.  A tuple that the kernel refuses can become free later if tuples
 * are reused. */
static int connect_from(struct client_tuples *t, const struct sock_address *target,
                        const struct srcplan_tuple *source, uint64_t number, uint64_t *tuple,
                        struct outcome *failed)
{
    const int fd = sock_connect(target, source, &t->config->socket, failed);

    if (source->port != 0 && fd >= 0)
        *tuple = number;
    else if (source->port != 0)
        client_tuples_give_back(t, target, number);
    return fd;
}

/* Returns whether another tuple may be tried in this call; if one of a later call may, errno is
 * EAGAIN. */
static bool may_try(const struct srccursor *cursor, int *n_fresh, int *n_used)
{
    if (!srccursor_has_fresh(cursor))
        return (*n_used)++ < MAX_TRIES_OF_USED;
    if ((*n_fresh)++ < MAX_TRIES_PER_CALL)
        return true;
    errno = EAGAIN;
    return false;
}

/* Replaces a tuple that the kernel refuses with the next one.  Among used tuples, the next one has
 * been unused longest: if some of them are refused, all would be.  If the kernel selects the port
 * and finds none, planned tuples may still be free (client/sources.h). */
int client_tuples_connect(struct client_tuples *t, const struct sock_address *target,
                          uint64_t *tuple, struct outcome *failed)
{
    struct srcplan_tuple source;
    uint64_t number;
    int n_fresh = 0, n_used = 0, fd = -1;

    *tuple = CLIENT_TUPLE_NONE;
    *failed = (struct outcome){PHASE_BIND, REASON_PORTS};
    errno = EADDRNOTAVAIL;
    while (fd < 0 && failed->reason == REASON_PORTS) {
        struct srccursor *cursor = cursor_towards(t, target);

        if (!may_try(cursor, &n_fresh, &n_used) || srccursor_next(cursor, &source, &number) != 0)
            break;
        fd = connect_from(t, target, &source, number, tuple, failed);
        if (source.port == 0 && (fd >= 0 || failed->reason != REASON_PORTS || !use_fallback(t)))
            break;
    }
    if (fd < 0 && failed->reason == REASON_PORTS && t->config->plan.ports == NULL)
        failed->phase = PHASE_CONNECT; /* the kernel found no port, whichever call reports it */
    return fd;
}

void client_tuples_give_back(struct client_tuples *t, const struct sock_address *target,
                             uint64_t tuple)
{
    if (t->reuses && tuple != CLIENT_TUPLE_NONE)
        srccursor_give_back(cursor_towards(t, target), tuple);
}
