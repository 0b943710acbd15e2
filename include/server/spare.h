/* SPDX-License-Identifier: MIT
 * server_spare: a file descriptor in reserve, with which connections are refused when the fd table
 * is full.
 *
 * There is one for each fd table, so workers that share a table share it: otherwise one could take
 * the number that another had freed to refuse a connection.  They share it with the main thread,
 * too, which needs descriptors for control requests and results: some are kept for it.  Any thread.
 */
#ifndef TCPSCALER_SERVER_SPARE_H
#define TCPSCALER_SERVER_SPARE_H

#include "net/sock_address.h"

#include <pthread.h>
#include <stdbool.h>

struct server_spare {
    pthread_mutex_t lock;
    int fd;          /* -1: not available */
    unsigned n_kept; /* further descriptors that serve no connection */
};

/* Returns whether this errno means that files or memory have run out. */
bool server_spare_is_exhaustion(int error);

/* Reserves the descriptor.  If that fails, server_spare_accept() tries again. */
void server_spare_open(struct server_spare *s, unsigned n_kept);
void server_spare_close(struct server_spare *s);

/* As accept4(2), non-blocking and close-on-exec; peer NULL: not requested.  If the spare fd is
 * missing and there is no file for it, fails with that error: the last file is never used to serve
 * a connection.  If fewer than n_kept more are free, fails with EMFILE. */
int server_spare_accept(struct server_spare *s, int listener_fd, struct sock_address *peer);

/* Accepts a connection in place of the spare fd and resets it.  Returns 0, or -1 with errno. */
int server_spare_refuse(struct server_spare *s, int listener_fd);

#endif
