/* SPDX-License-Identifier: MIT
 * control_socket: the socket on which the control API listens, its addresses, and its token.  Main
 * thread. */
#ifndef TCPSCALER_NET_CONTROL_SOCKET_H
#define TCPSCALER_NET_CONTROL_SOCKET_H

#include "net/sock_address.h"

#include <stdbool.h>
#include <sys/un.h>

#define CONTROL_SOCKET_ERROR_BYTES 320
#define CONTROL_SOCKET_WAIT_MS     3000 /* for an answer of another program */
#define CONTROL_TOKEN_MIN          16
#define CONTROL_TOKEN_MAX          256

/* The token of either side; empty: none. */
struct control_token {
    char text[CONTROL_TOKEN_MAX + 1];
};

/* Reads the first line of a file that only its owner can access: CONTROL_TOKEN_MIN to _MAX
 * characters from '!' to '~', with or without a byte order mark (UTF-8) before them and CR after
 * them.  Returns 0, or -1 with one line in error (CONTROL_SOCKET_ERROR_BYTES). */
int control_token_read(struct control_token *token, const char *file, char *error);

/* Resolves "ADDRESS:PORT" or "unix:PATH" (AF_UNIX).  An address to connect to, not to listen on, is
 * the first one of a host name that answers (sock_resolve_server()).  Returns 0, or -1 with one
 * line in error. */
int control_socket_resolve(struct sock_address *a, const char *address, bool listens, char *error);

/* Resolves an address to listen on.  One that other hosts can reach (neither loopback nor a unix
 * socket) is refused without a token.  Returns 0, or -1 with one line in error. */
int control_socket_check(struct sock_address *a, const char *address, bool has_token, char *error);

struct control_socket {
    int fd; /* listening, non-blocking, close-on-exec; -1: none */
    /* The path of a unix socket; otherwise empty. */
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

/* Listens on an address that control_socket_check() accepts.  A unix socket gets mode 0600 and
 * replaces an abandoned one; if several programs start with the same path at the same time, one
 * listens, and the others fail.  The path of an output (base/outputs.h) is refused: call it once
 * all of them are open.  Returns 0, or -1 with one line in error and fd -1. */
int control_socket_listen(struct control_socket *s, const char *address, bool has_token,
                          char *error);

/* Removes the path and closes the socket, unless fd was handed over (-1). */
void control_socket_close(struct control_socket *s);

#endif
