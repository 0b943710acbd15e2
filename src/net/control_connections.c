/* SPDX-License-Identifier: MIT
 * control_connections: see net/control_connections.h. */
#include "net/control_connections.h"

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

void control_connections_add(struct control_connections *c, int fd, uint64_t now_ns)
{
    struct stat about;

    if (fstat(fd, &about) != 0)
        return;
    c->list[c->n].fd = fd;
    c->list[c->n].device = about.st_dev;
    c->list[c->n].inode = about.st_ino;
    c->list[c->n].begun_ns = now_ns;
    c->n++;
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

/* An eighth at a time, because finding ended connections takes a call for each. */
static void shut_down_oldest(const struct control_connections *c, uint64_t now_ns)
{
    for (unsigned i = 0; i < c->n && i < c->most / 8; i++)
        if (now_ns - c->list[i].begun_ns >= CONTROL_CONNECTIONS_GRACE_NS)
            shutdown(c->list[i].fd, SHUT_RDWR);
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
