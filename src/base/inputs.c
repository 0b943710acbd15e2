/* SPDX-License-Identifier: MIT
 * inputs: see base/inputs.h. */
#include "base/inputs.h"

#include <stddef.h>
#include <stdlib.h>

static struct input {
    dev_t dev;
    ino_t ino;
} * inputs;
static size_t n_inputs;

void inputs_add(const char *name)
{
    struct input *more;
    struct stat status;

    if (stat(name, &status) != 0 || !S_ISREG(status.st_mode) || inputs_have(&status))
        return;
    more = realloc(inputs, (n_inputs + 1) * sizeof *inputs);
    if (more == NULL)
        return;
    inputs = more;
    inputs[n_inputs++] = (struct input){status.st_dev, status.st_ino};
}

bool inputs_have(const struct stat *status)
{
    for (size_t i = 0; i < n_inputs; i++)
        if (inputs[i].dev == status->st_dev && inputs[i].ino == status->st_ino)
            return true;
    return false;
}

bool inputs_have_file(const char *name)
{
    struct stat status;

    return stat(name, &status) == 0 && inputs_have(&status);
}
