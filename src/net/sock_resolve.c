/* SPDX-License-Identifier: MIT
 * sock_resolve: see net/sock_resolve.h. */
#include "net/sock_resolve.h"

#include "base/shutdown.h"
#include "net/sock.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TRY_MS = 1000 };

/* Whether it is writable within TRY_MS; other signals than those to stop do not end the wait. */
static bool becomes_writable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int n;

    do
        n = poll(&p, 1, TRY_MS);
    while (n < 0 && errno == EINTR && !shutdown_was_requested());
    return n == 1;
}

bool sock_accepts(const struct sock_address *a, const struct sock_greeting *greeting)
{
    int fd = socket(a->ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool connected = false;

    if (fd < 0)
        return false;
    if (connect(fd, (const struct sockaddr *)&a->ss, a->length) == 0)
        connected = true;
    else if (errno == EINPROGRESS)
        connected = becomes_writable(fd) && sock_error(fd) == 0;
    connected &= !sock_is_its_own_peer(fd);
    if (connected && greeting->n_bytes > 0)
        (void)send(fd, greeting->bytes, greeting->n_bytes, MSG_NOSIGNAL);
    sock_reset_on_close(fd);
    close(fd);
    return connected;
}

/* Returns the addresses, to be freed by the caller; or NULL with one line in error. */
static struct addrinfo *look_up(const struct endpoint *e, int family, char *error)
{
    const struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    int failed = getaddrinfo(e->host, NULL, &hints, &list);

    if (failed == 0)
        return list;
    snprintf(error, SOCK_ERROR_BYTES, "'%.100s': %s%s", e->host,
             family == AF_INET    ? "no IPv4 address (the family of --source): "
             : family == AF_INET6 ? "no IPv6 address (the family of --source): "
                                  : "",
             failed == EAI_SYSTEM ? strerror(errno) : gai_strerror(failed));
    return NULL;
}

static struct sock_address from_info(const struct addrinfo *info, uint16_t port)
{
    struct sock_address a = {.length = info->ai_addrlen};

    memcpy(&a.ss, info->ai_addr, info->ai_addrlen);
    sock_set_port(&a, port);
    return a;
}

int sock_resolve(const struct endpoint *e, int family, struct sock_address *address, char *error)
{
    struct addrinfo *list = look_up(e, family, error);

    if (list == NULL)
        return -1;
    *address = from_info(list, e->port);
    freeaddrinfo(list);
    return 0;
}

static struct sock_address pick(const struct addrinfo *list, uint16_t port,
                                const struct sock_greeting *greeting)
{
    struct sock_address a;

    if (list->ai_next != NULL && port != 0)
        for (const struct addrinfo *info = list; info != NULL; info = info->ai_next) {
            a = from_info(info, port);
            if (sock_accepts(&a, greeting))
                return a;
        }
    return from_info(list, port);
}

int sock_resolve_server(const struct endpoint *e, int family, const struct sock_greeting *greeting,
                        struct sock_address *address, char *error)
{
    struct addrinfo *list = look_up(e, family, error);

    if (list == NULL)
        return -1;
    *address = pick(list, e->port, greeting);
    freeaddrinfo(list);
    return 0;
}
