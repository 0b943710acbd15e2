/* SPDX-License-Identifier: MIT
 * deadline: see net/deadline.h. */
#include "net/deadline.h"

#include "base/clock.h"
#include "base/shutdown.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define HURRY_NS (DEADLINE_HURRY_MS * UNITS_NS_PER_MS)
#define CALL_NS  (50 * UNITS_NS_PER_MS)

struct deadline deadline_in(int wait_ms)
{
    const uint64_t now_ns = clock_now_ns();

    return (struct deadline){.begin_ns = now_ns,
                             .until_ns = now_ns + (unsigned)wait_ms * UNITS_NS_PER_MS};
}

/* No call waits until the deadline, because it would not notice a signal that arrived before the
 * call. */
bool deadline_arm(struct deadline *d, int fd)
{
    const uint64_t now_ns = clock_now_ns();
    struct timeval wait;

    if (!d->is_short && shutdown_was_requested()) {
        d->is_short = true;
        if (d->until_ns > now_ns + HURRY_NS)
            d->until_ns = now_ns + HURRY_NS;
    }
    if (now_ns >= d->until_ns) {
        errno = ETIMEDOUT;
        return false;
    }
    wait = clock_timeval(d->until_ns - now_ns < CALL_NS ? d->until_ns - now_ns + 999 : CALL_NS);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    return true;
}

/* With a timeout a call is not restarted after a signal: signal(7). */
bool deadline_may_retry(void)
{
    return errno == EAGAIN || errno == EINTR || errno == EINPROGRESS || errno == EALREADY;
}

/* A second connect(2) starts over on a Unix socket, and goes on waiting for a TCP connection under
 * way. */
static int connect_before(struct deadline *d, int fd, const struct sockaddr *to, socklen_t length)
{
    while (deadline_arm(d, fd)) {
        if (connect(fd, to, length) == 0)
            return 0;
        if (!deadline_may_retry())
            return -1;
    }
    return -1;
}

int deadline_connect(struct deadline *d, const struct sockaddr *to, socklen_t length)
{
    const int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int reason;

    if (fd >= 0 && connect_before(d, fd, to, length) == 0)
        return fd;
    reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return -1;
}

const char *deadline_why(const struct deadline *d, char text[DEADLINE_WHY_BYTES])
{
    char wait[UNITS_TEXT_BYTES];

    if (errno != ETIMEDOUT)
        return strerror(errno);
    units_format_duration(wait, d->until_ns - d->begin_ns);
    snprintf(text, DEADLINE_WHY_BYTES, "timed out after %s", wait);
    return text;
}
