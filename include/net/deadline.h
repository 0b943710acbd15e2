/* SPDX-License-Identifier: MIT
 * deadline: the time by which a few blocking calls on a socket must be done: sooner once a signal
 * has asked this program to end (base/shutdown.h).  Main thread. */
#ifndef TCPSCALER_NET_DEADLINE_H
#define TCPSCALER_NET_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define DEADLINE_HURRY_MS  200
#define DEADLINE_WHY_BYTES 64

struct deadline {
    uint64_t begin_ns, until_ns;
    bool is_short; /* a signal has asked this program to end: at most DEADLINE_HURRY_MS more */
};

/* Returns the deadline that ends wait_ms from now. */
struct deadline deadline_in(int wait_ms);

/* Call it before each call on fd: sets how long that call may wait.  Returns whether there is
 * time left; if not, sets errno to ETIMEDOUT. */
bool deadline_arm(struct deadline *d, int fd);

/* After a call that failed: returns whether to call deadline_arm() and try again, because the call
 * waited for as long as it could, or a signal interrupted it. */
bool deadline_may_retry(void);

/* Opens a stream socket and connects it.  Returns a descriptor, or -1 with errno set. */
int deadline_connect(struct deadline *d, const struct sockaddr *to, socklen_t length);

/* Returns what went wrong, from errno: such as "timed out after 3.0 s". */
const char *deadline_why(const struct deadline *d, char text[DEADLINE_WHY_BYTES]);

#endif
