/* SPDX-License-Identifier: MIT
 * outputs: the open outputs of a program, no two of which may write to the same file.  Main
 * thread. */
#ifndef TCPSCALER_BASE_OUTPUTS_H
#define TCPSCALER_BASE_OUTPUTS_H

#include "base/output_state.h"

#include <stdbool.h>

/* Adds an output that was just opened, until outputs_remove().  Returns 0; or -1 after one line on
 * stderr if another one is the same file (terminals included; devices such as /dev/null may be
 * shared), one is the NAME.tmp of the other, or it would overwrite an input (base/inputs.h). */
int outputs_add(const struct output *o);

/* No-op if it was not added. */
void outputs_remove(const struct output *o);

/* The output, among those added, that writes this file or uses it as its temporary file; the file
 * need not exist.  NULL: none. */
const struct output *outputs_find(const char *name);

/* Whether it is stdout, under any name. */
bool outputs_is_stdout(const struct output *o);

#endif
