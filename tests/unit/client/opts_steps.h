/* SPDX-License-Identifier: MIT
 * opts_steps: parses a command line of tcpclient given as one text. */
#ifndef TCPSCALER_TEST_OPTS_STEPS_H
#define TCPSCALER_TEST_OPTS_STEPS_H

#include "client/opts.h"
#include "words_steps.h"

static struct client_opts opts;
static char error[OPTIONS_ERROR_BYTES];

static enum options_result parse(const char *line)
{
    static struct words words;

    words_split(&words, "tcpclient", line);
    error[0] = '\0';
    return client_opts_parse(&opts, words.argc, words.argv, stdout, error);
}

#endif
