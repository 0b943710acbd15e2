/* SPDX-License-Identifier: MIT
 * profile: built-in configurations that reproduce published runs: a text of settings for each of
 * the two programs.  Pure. */
#ifndef TCPSCALER_CONFIG_PROFILE_H
#define TCPSCALER_CONFIG_PROFILE_H

#include <stdio.h>

enum profile_program { PROFILE_CLIENT, PROFILE_SERVER, PROFILE_N_PROGRAMS };

struct profile {
    const char *name;
    const char *summary;                   /* one line */
    const char *texts[PROFILE_N_PROGRAMS]; /* lines as config/confline.h has them */
};

/* NULL if there is no such profile. */
const struct profile *profile_find(const char *name);

/* "NAME  SUMMARY", a line for each. */
void profile_list(FILE *out);

/* "NAME, NAME" of all profiles, truncated to the buffer. */
void profile_names(char *text, size_t n_bytes);

#endif
