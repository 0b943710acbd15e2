/* SPDX-License-Identifier: MIT
 * inputs: the files that a program was given to read.  No output may overwrite one of them
 * (base/output.h).  Main thread. */
#ifndef TCPSCALER_BASE_INPUTS_H
#define TCPSCALER_BASE_INPUTS_H

#include <stdbool.h>
#include <sys/stat.h>

/* Remembers the regular file of this name, until the program ends; no-op if there is none, or no
 * memory. */
void inputs_add(const char *name);

/* Whether this is the status of one of them. */
bool inputs_have(const struct stat *status);

/* Whether the file of this name exists and is one of them, under any name. */
bool inputs_have_file(const char *name);

#endif
