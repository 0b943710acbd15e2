/* SPDX-License-Identifier: MIT
 * notify: reports progress to the service manager by the protocol of sd_notify(3): one datagram to
 * the socket in NOTIFY_SOCKET, a path or, after '@', an abstract name. */
#ifndef TCPSCALER_BASE_NOTIFY_H
#define TCPSCALER_BASE_NOTIFY_H

#define NOTIFY_READY    "READY=1"
#define NOTIFY_STOPPING "STOPPING=1"

/* Never blocks.  Returns 0, also if NOTIFY_SOCKET is not set; or -1 after one line on stderr. */
int notify(const char *state);

#endif
