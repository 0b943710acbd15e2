/* SPDX-License-Identifier: MIT
 * control_socket: the control port as a socket: one to be asked at, and a question to another
 * program's.  An address is "ADDRESS:PORT", or "unix:PATH".  Main thread. */
#ifndef TCPSCALER_NET_CONTROL_SOCKET_H
#define TCPSCALER_NET_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#define CONTROL_SOCKET_ERROR_BYTES 320
#define CONTROL_TOKEN_MIN          16
#define CONTROL_TOKEN_MAX          256

/* Of whom is asked, and of who asks; empty: none. */
struct control_token {
    char text[CONTROL_TOKEN_MAX + 1];
};

/* The first line of a file that only its owner may read, CONTROL_TOKEN_MIN to _MAX visible
 * characters.  Returns 0, or -1 with one line in error (CONTROL_SOCKET_ERROR_BYTES). */
int control_token_read(struct control_token *token, const char *file, char *error);

struct control_socket {
    int fd; /* listening, non-blocking, close-on-exec; -1: none */
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* of a unix socket; else empty */
};

/* Listens.  An address that others can reach, which is any but loopback and unix, is refused
 * unless there is a token.  A unix socket has mode 0600; one that nobody listens at any more is
 * replaced.  Returns 0, or -1 with one line in error, fd -1. */
int control_socket_listen(struct control_socket *s, const char *address, bool has_token,
                          char *error);

/* Closes the socket, unless fd was given away (-1), and removes the path. */
void control_socket_close(struct control_socket *s);

#define CONTROL_SOCKET_WAIT_MS 3000

/* Asks another program's control port for a target ("/metrics").  Waits for wait_ms at most, but
 * for each step: to connect, to send, to receive.  Returns 0 with the answer's body, terminated, in
 * body; or -1 with one line in error. */
int control_socket_ask(const char *address, const struct control_token *token, int wait_ms,
                       const char *target, char *body, size_t n_bytes, char *error);

#endif
