/* SPDX-License-Identifier: MIT
 * notify: tells who started this program how far it is, by the protocol of sd_notify(3): one
 * datagram to the socket that NOTIFY_SOCKET names, a path, or an abstract name behind '@'. */
#ifndef TCPSCALER_BASE_NOTIFY_H
#define TCPSCALER_BASE_NOTIFY_H

#define NOTIFY_READY    "READY=1"
#define NOTIFY_STOPPING "STOPPING=1"

/* Never waits.  Returns 0, also when nobody asked to be told; or -1 after one line on stderr. */
int notify(const char *state);

#endif
