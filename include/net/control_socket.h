/* SPDX-License-Identifier: MIT
 * control_socket: the sockets of the control API: listens for requests, and sends a request to
 * another program.  An address is "ADDRESS:PORT" or "unix:PATH".  Main thread. */
#ifndef TCPSCALER_NET_CONTROL_SOCKET_H
#define TCPSCALER_NET_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#define CONTROL_SOCKET_ERROR_BYTES 320
#define CONTROL_TOKEN_MIN          16
#define CONTROL_TOKEN_MAX          256

/* The token of either side; empty: none. */
struct control_token {
    char text[CONTROL_TOKEN_MAX + 1];
};

/* Reads the first line of a file that only its owner can access: CONTROL_TOKEN_MIN to _MAX
 * characters from '!' to '~'.  Returns 0, or -1 with one line in error
 * (CONTROL_SOCKET_ERROR_BYTES). */
int control_token_read(struct control_token *token, const char *file, char *error);

struct control_socket {
    int fd; /* listening, non-blocking, close-on-exec; -1: none */
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* path of a unix socket; otherwise empty
                                                           */
};

/* Listens.  An address that others can reach, i.e. anything but loopback and unix, is refused
 * without a token.  A unix socket gets mode 0600 and replaces one that nobody listens on any more;
 * of programs that begin with the same path at the same time, one listens, and the others fail.
 * Returns 0, or -1 with one line in error and fd -1. */
int control_socket_listen(struct control_socket *s, const char *address, bool has_token,
                          char *error);

/* Removes the path and closes the socket, unless fd was handed over (-1). */
void control_socket_close(struct control_socket *s);

#define CONTROL_SOCKET_WAIT_MS  3000
#define CONTROL_SOCKET_HURRY_MS 200

/* Sends a GET request for a target ("/metrics") to another program's control port.  Connecting,
 * sending and receiving may take wait_ms together, and once a signal has asked this program to end
 * (base/shutdown.h), CONTROL_SOCKET_HURRY_MS from then on; a host name with several addresses is
 * tried for up to 1 s per address before that.  Returns 0 with the terminated response body in
 * body, whose n_bytes must also hold the response's status line and headers; or -1 with one line in
 * error, which says so if it took longer or the response ended early. */
int control_socket_ask(const char *address, const struct control_token *token, int wait_ms,
                       const char *target, char *body, size_t n_bytes, char *error);

#endif
