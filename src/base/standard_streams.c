/* SPDX-License-Identifier: MIT
 * standard_streams: see base/standard_streams.h. */
#include "base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

void standard_streams_open(void)
{
    static const int useless[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", useless[fd]) != fd)
            return;
}
