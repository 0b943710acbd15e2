/* SPDX-License-Identifier: MIT
 * file_steps: a temporary file. */
#ifndef TCPSCALER_TESTS_UNIT_FILE_STEPS_H
#define TCPSCALER_TESTS_UNIT_FILE_STEPS_H

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/tcpscaler-test-XXXXXX";

static inline int make_file(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static inline int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

#endif
