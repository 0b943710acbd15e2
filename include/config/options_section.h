/* SPDX-License-Identifier: MIT
 * options_section: an option that may be repeated and has settings of its own: on the command line
 * --class name=stub,share=70%, in a file a section that ends at the next header or with the file.
 *
 *   [class stub]
 *   share = 70%
 *
 * A later source replaces all sections of an earlier one.  Pure. */
#ifndef TCPSCALER_CONFIG_OPTIONS_SECTION_H
#define TCPSCALER_CONFIG_OPTIONS_SECTION_H

#include <stdbool.h>
#include <stddef.h>

#define OPTIONS_SECTION_MOST        16
#define OPTIONS_SECTION_ERROR_BYTES 128

struct options_section {
    const char *option;
    const char *name; /* in the header; NULL: none */
    const char *text; /* its settings: one per line or, on the command line, separated by commas */
    const char *file; /* for messages; NULL: the command line */
    unsigned line;    /* of the header */
};

/* The field of an option of kind OPTION_SECTION.  Texts are borrowed. */
struct options_sections {
    struct options_section items[OPTIONS_SECTION_MOST];
    unsigned n;
    unsigned source; /* enum options_source */
};

/* Returns 0, or -1 with the reason if there are OPTIONS_SECTION_MOST of this source. */
int options_section_add(struct options_sections *all, unsigned source,
                        const struct options_section *section, char *reason);

/* Returns the value of the key "name", of *n_bytes, in settings on the command line, such as
 * "share=70%,name=stub"; NULL: there is none. */
const char *options_section_find_name(const char *text, size_t *n_bytes);

/* Whether a line of a file begins a section. */
bool options_section_is_header(const char *line);

/* Splits a header in place: *option and, or NULL, *name.  Returns 0, or -1 with the reason. */
int options_section_cut_header(char *line, char **option, char **name, char *reason);

/* Cuts the lines before the next header from *rest, which is NULL if nothing is left.  Returns
 * their number. */
unsigned options_section_cut_lines(char **rest, char **lines);

#endif
