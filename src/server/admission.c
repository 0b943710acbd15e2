/* SPDX-License-Identifier: MIT
 * server_admission: see server/admission.h. */
#include "server/admission.h"

#include "host/memory_watch.h"
#include "server/active.h"
#include "server/header.h"
#include "server/service.h"

#include <unistd.h>

static void refuse(struct server_conns *conns, int fd, enum server_refusal why)
{
    sock_reset_on_close(fd);
    close(fd);
    server_tally_refuse(&conns->tally, why);
}

static bool awaits_header(const struct server_config *config)
{
    return config->header_timeout_ns > 0;
}

static struct source_limit *limit_of_peers(const struct server_config *config)
{
    return awaits_header(config) ? NULL : config->source_limit;
}

bool server_admission_needs_peer(const struct server_config *config)
{
    return config->source_limit != NULL || config->listing != NULL;
}

/* Returns 0 or an errno. */
static int open_connection(struct server_conns *conns, int fd, const struct sock_address *peer,
                           uint32_t source_entry)
{
    struct srcplan_tuple source = {.address.family = AF_UNSPEC};

    if (server_admission_needs_peer(conns->config))
        source = sock_tuple(peer);
    return awaits_header(conns->config) ? server_header_open(conns, fd, &source)
                                        : server_service_open(conns, fd, source_entry, &source);
}

/* Opens a connection that is counted as active.  Returns whether it did; otherwise the socket is
 * refused. */
static bool open_within_limit(struct server_conns *conns, int fd, const struct sock_address *peer)
{
    struct source_limit *limit = limit_of_peers(conns->config);
    uint32_t entry = 0;
    int error;

    if (limit != NULL) {
        entry = source_limit_enter(limit, source_limit_source((const struct sockaddr *)&peer->ss));
        if (entry == SOURCE_LIMIT_REACHED) {
            refuse(conns, fd, SERVER_REFUSED_SOURCE);
            return false;
        }
    }
    error = open_connection(conns, fd, peer, entry);
    if (error == 0)
        return true;
    refuse(conns, fd, server_refusal_of_errno(error));
    if (limit != NULL) /* only after the socket is closed: another thread may then open the next
                          connection at once */
        source_limit_leave(limit, entry);
    return false;
}

/* Likewise. */
static bool open_active(struct server_conns *conns, int fd, const struct sock_address *peer)
{
    const uint64_t n = server_active_enter(conns->config);

    if (n == 0) {
        refuse(conns, fd, SERVER_REFUSED_CONNECTIONS);
        return false;
    }
    if (!open_within_limit(conns, fd, peer)) {
        server_active_leave(conns->config);
        return false;
    }
    server_active_note_peak(conns->config, n);
    return true;
}

void server_admit(struct server_conns *conns, int fd, const struct sock_address *peer,
                  bool has_memory)
{
    if (!has_memory)
        refuse(conns, fd, SERVER_REFUSED_MEMORY);
    else if (!open_active(conns, fd, peer))
        memory_watch_give_back(conns->config->memory);
}
