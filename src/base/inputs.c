/* SPDX-License-Identifier: MIT
 * inputs: see base/inputs.h. */
#include "base/inputs.h"

enum { MOST_INPUTS = 64 };

static struct {
    dev_t dev;
    ino_t ino;
} inputs[MOST_INPUTS];
static unsigned n_inputs;

void inputs_add(const char *name)
{
    struct stat status;

    if (n_inputs == MOST_INPUTS || stat(name, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    inputs[n_inputs].dev = status.st_dev;
    inputs[n_inputs++].ino = status.st_ino;
}

bool inputs_have(const struct stat *status)
{
    for (unsigned i = 0; i < n_inputs; i++)
        if (inputs[i].dev == status->st_dev && inputs[i].ino == status->st_ino)
            return true;
    return false;
}
