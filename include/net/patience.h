/* SPDX-License-Identifier: MIT
 * patience: how long a few blocking calls on a socket may take together: less once a signal has
 * asked this program to end (base/shutdown.h).  Main thread. */
#ifndef TCPSCALER_NET_PATIENCE_H
#define TCPSCALER_NET_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define PATIENCE_HURRY_MS  200
#define PATIENCE_WHY_BYTES 64

struct patience {
    uint64_t begin_ns, until_ns;
    bool is_short; /* a signal has asked this program to end: PATIENCE_HURRY_MS from then on */
};

/* Begins to wait, for wait_ms. */
struct patience patience_of(int wait_ms);

/* Call it before each call on fd: sets how long that one may wait.  Returns whether there is time
 * left; if not, sets errno to ETIMEDOUT. */
bool patience_arm(struct patience *p, int fd);

/* After a call that failed: returns whether to call patience_arm() and try again, because the call
 * waited for as long as it could, or a signal interrupted it. */
bool patience_may_retry(void);

/* Opens a stream socket and connects it.  Returns a descriptor, or -1 with errno set. */
int patience_connect(struct patience *p, const struct sockaddr *to, socklen_t length);

/* Returns what went wrong, from errno: "timed out after 3.0 s", say. */
const char *patience_why(const struct patience *p, char text[PATIENCE_WHY_BYTES]);

#endif
