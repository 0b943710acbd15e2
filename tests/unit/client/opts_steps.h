/* SPDX-License-Identifier: MIT
 * opts_steps: parses a command line of tcpclient given as one text. */
#ifndef TCPSCALER_TEST_OPTS_STEPS_H
#define TCPSCALER_TEST_OPTS_STEPS_H

#include "client/opts.h"

#include <stdio.h>
#include <string.h>

enum { MOST_WORDS = 32 };

static struct client_opts opts;
static char error[OPTIONS_ERROR_BYTES];

/* Splits a line at blanks and parses it. */
static enum options_result parse(const char *line)
{
    static char words[512];
    char *argv[MOST_WORDS] = {(char *)"tcpclient"}, *rest = words;
    int argc = 1;

    snprintf(words, sizeof words, "%s", line);
    while (argc < MOST_WORDS - 1 && (argv[argc] = strsep(&rest, " ")) != NULL)
        argc++;
    error[0] = '\0';
    return client_opts_parse(&opts, argc, argv, stdout, error);
}

#endif
