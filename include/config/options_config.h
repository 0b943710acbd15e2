/* SPDX-License-Identifier: MIT
 * options_config: reads settings from a text and prints them as one. */
#ifndef TCPSCALER_CONFIG_OPTIONS_CONFIG_H
#define TCPSCALER_CONFIG_OPTIONS_CONFIG_H

#include "config/options.h"
#include "config/options_section.h"

#include <stdio.h>

/* Applies the text of one source.  Returns 0, or -1 with "NAME:LINE: reason" in error. */
int options_read_text(struct options *o, void *settings, enum options_source source, char *error);

/* Applies the settings of a section to settings with a table of their own.  text: a copy of its
 * text, split in place, and settings point into it.  Returns 0, or -1 with the error. */
int options_read_section(const struct options_section *section, char *text, struct options *table,
                         void *settings, char *error);

/* The effective settings as a text: those given as settings, the others as comments.  Reading it
 * back prints the same text. */
void options_print_config(const struct options *o, const void *settings, FILE *out);

/* Only those given.  Not for tables with rows of kind SECTION, PROFILE, CONFIG or COMMAND. */
void options_print_given(const struct options *o, const void *settings, FILE *out);

#endif
