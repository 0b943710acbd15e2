/* SPDX-License-Identifier: MIT
 * server_spare: see server/spare.h. */
#include "server/spare.h"

#include "net/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

bool server_spare_is_exhaustion(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void reserve(struct server_spare *s)
{
    s->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void server_spare_open(struct server_spare *s, unsigned n_kept)
{
    pthread_mutex_init(&s->lock, NULL);
    s->n_kept = n_kept;
    reserve(s);
}

void server_spare_close(struct server_spare *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    pthread_mutex_destroy(&s->lock);
}

static int accept_one(int listener_fd, struct sock_address *peer)
{
    if (peer == NULL)
        return accept4(listener_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    peer->length = sizeof peer->ss;
    return accept4(listener_fd, (struct sockaddr *)&peer->ss, &peer->length,
                   SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* The kernel gives a new descriptor the lowest free number. */
static bool leaves_too_few(const struct server_spare *s, int listener_fd)
{
    struct rlimit nofile;
    int fd;

    if (s->n_kept == 0)
        return false;
    fd = fcntl(listener_fd, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd < 0 ||
           (getrlimit(RLIMIT_NOFILE, &nofile) == 0 && (rlim_t)fd + s->n_kept >= nofile.rlim_cur);
}

int server_spare_accept(struct server_spare *s, int listener_fd, struct sock_address *peer)
{
    int fd = -1;

    pthread_mutex_lock(&s->lock);
    if (s->fd < 0)
        reserve(s);
    if (leaves_too_few(s, listener_fd))
        errno = EMFILE;
    else if (s->fd >= 0 || !server_spare_is_exhaustion(errno))
        fd = accept_one(listener_fd, peer);
    pthread_mutex_unlock(&s->lock);
    return fd;
}

int server_spare_refuse(struct server_spare *s, int listener_fd)
{
    int fd, error;

    pthread_mutex_lock(&s->lock);
    if (s->fd >= 0)
        close(s->fd);
    fd = accept_one(listener_fd, NULL);
    error = errno;
    if (fd >= 0) {
        sock_reset_on_close(fd);
        close(fd);
    }
    reserve(s);
    pthread_mutex_unlock(&s->lock);
    errno = error;
    return fd >= 0 ? 0 : -1;
}
