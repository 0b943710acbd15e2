/* SPDX-License-Identifier: MIT
 * directory_steps: a temporary directory. */
#ifndef TCPSCALER_TESTS_UNIT_DIRECTORY_STEPS_H
#define TCPSCALER_TESTS_UNIT_DIRECTORY_STEPS_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[24];

static inline int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/tcpscaler-XXXXXX");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

/* It must be empty. */
static inline int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

#endif
