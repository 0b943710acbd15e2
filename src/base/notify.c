/* SPDX-License-Identifier: MIT
 * notify: see base/notify.h. */
#include "base/notify.h"

#include "base/log.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Returns the length of the address, or 0 if the name is invalid. */
static socklen_t make_address(struct sockaddr_un *address, const char *name)
{
    const size_t n = strlen(name);

    if ((name[0] != '/' && name[0] != '@') || n < 2 || n >= sizeof address->sun_path)
        return 0;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, name, n);
    if (name[0] == '@')
        address->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
}

int notify(const char *state)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address;
    socklen_t n_bytes;
    ssize_t n = -1;
    int fd;

    if (name == NULL || *name == '\0')
        return 0;
    n_bytes = make_address(&address, name);
    if (n_bytes == 0)
        return log_error("NOTIFY_SOCKET: invalid value '%s': expected a path, or '@' and a name",
                         name);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        n = sendto(fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL,
                   (const struct sockaddr *)&address, n_bytes);
    if (n < 0)
        log_error("NOTIFY_SOCKET: cannot send '%s' to '%s': %s", state, name, strerror(errno));
    if (fd >= 0)
        close(fd);
    return n < 0 ? -1 : 0;
}
