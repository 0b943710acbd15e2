/* SPDX-License-Identifier: MIT
 * control_client: sends a request to the control port of another program.  Main thread. */
#ifndef TCPSCALER_NET_CONTROL_CLIENT_H
#define TCPSCALER_NET_CONTROL_CLIENT_H

#include "net/control_socket.h"

#include <stddef.h>

/* Sends a GET request for a target ("/metrics") to another program's control port.  Connecting,
 * sending and receiving may take wait_ms in total, and no more than another DEADLINE_HURRY_MS once
 * a signal has asked this program to end (net/deadline.h); a host name with several addresses is
 * tried for up to 1 s per address before that.  Returns 0 with the terminated response body in
 * body, whose n_bytes must also hold the response's status line and headers; or -1 with one line in
 * error (CONTROL_SOCKET_ERROR_BYTES), which says so if it took longer or the response ended early.
 */
int control_client_ask(const char *address, const struct control_token *token, int wait_ms,
                       const char *target, char *body, size_t n_bytes, char *error);

#endif
