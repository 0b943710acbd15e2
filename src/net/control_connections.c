/* SPDX-License-Identifier: MIT
 * control_connections: see net/control_connections.h. */
#include "net/control_connections.h"

#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { LEAST = 8, PART_OF_NOFILE = 8 };

void control_connections_init(struct control_connections *c, uint64_t nofile)
{
    const uint64_t part = nofile / PART_OF_NOFILE;

    c->n = 0;
    c->most = part < LEAST                      ? LEAST
              : part > CONTROL_CONNECTIONS_MOST ? CONTROL_CONNECTIONS_MOST
                                                : (unsigned)part;
}

void control_connections_add(struct control_connections *c, const void *id, int fd, uint64_t now_ns)
{
    struct stat about;

    if (fstat(fd, &about) != 0)
        return;
    c->list[c->n++] = (struct control_connection){
        .id = id,
        .fd = fd,
        .device = about.st_dev,
        .inode = about.st_ino,
        .begun_ns = now_ns,
    };
}

/* The newest with this id: an older one has ended. */
static struct control_connection *find(struct control_connections *c, const void *id)
{
    for (unsigned i = c->n; i > 0; i--)
        if (c->list[i - 1].id == id)
            return &c->list[i - 1];
    return NULL;
}

void control_connections_received(struct control_connections *c, const void *id, uint64_t now_ns)
{
    struct control_connection *one = find(c, id);

    if (one != NULL && one->received_ns == 0)
        one->received_ns = now_ns;
}

void control_connections_answers(struct control_connections *c, const void *id)
{
    struct control_connection *one = find(c, id);

    if (one != NULL)
        one->answers = true;
}

static bool is_open(const struct control_connections *c, unsigned i)
{
    struct stat about;

    return fstat(c->list[i].fd, &about) == 0 && about.st_dev == c->list[i].device &&
           about.st_ino == c->list[i].inode;
}

static void forget_ended(struct control_connections *c)
{
    unsigned n = 0;

    for (unsigned i = 0; i < c->n; i++)
        if (is_open(c, i))
            c->list[n++] = c->list[i];
    c->n = n;
}

static bool has_unread_bytes(const struct control_connection *one)
{
    int n = 0;

    return ioctl(one->fd, FIONREAD, &n) == 0 && n > 0;
}

static bool is_dispensable(const struct control_connection *one, uint64_t now_ns)
{
    const bool waited_long = one->received_ns == 0
                                 ? now_ns - one->begun_ns >= CONTROL_CONNECTIONS_GRACE_NS
                                 : now_ns - one->received_ns >= CONTROL_CONNECTIONS_REQUEST_NS;

    return waited_long && !one->answers && !has_unread_bytes(one);
}

/* An eighth at a time, because finding ended connections takes a call for each. */
static void shut_down_oldest(const struct control_connections *c, uint64_t now_ns)
{
    unsigned n = 0;

    for (unsigned i = 0; i < c->n && n < c->most / 8; i++)
        if (is_dispensable(&c->list[i], now_ns)) {
            shutdown(c->list[i].fd, SHUT_RDWR);
            n++;
        }
}

bool control_connections_make_room(struct control_connections *c, uint64_t now_ns)
{
    if (c->n < c->most)
        return true;
    forget_ended(c);
    if (c->n < c->most)
        return true;
    shut_down_oldest(c, now_ns);
    return false;
}
