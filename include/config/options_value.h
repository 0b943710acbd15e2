/* SPDX-License-Identifier: MIT
 * options_value: the values of options: sets the fields of the settings by the kinds of their rows.
 * Pure. */
#ifndef TCPSCALER_CONFIG_OPTIONS_VALUE_H
#define TCPSCALER_CONFIG_OPTIONS_VALUE_H

#include "config/options.h"

#include <stddef.h>

/* Sets the row's field and where it was given; value NULL: none was given.  A text is borrowed.
 * Returns 0, or -1 with the error (OPTIONS_ERROR_BYTES) and the field as before. */
int options_set(struct options *o, void *settings, const struct option_row *row, const char *value,
                enum options_source source, char *error);

/* Returns the name of one of the choices "first|second", in text; "": no such choice. */
const char *options_choice(const char *choices, int choice, char *text, size_t n_bytes);

/* For two options that exclude each other and were given in different sources: resets the one with
 * lower precedence to its value in `defaults`. */
void options_outrank(struct options *o, void *settings, const void *defaults, const char *a,
                     const char *b);

#endif
