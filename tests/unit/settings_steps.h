/* SPDX-License-Identifier: MIT
 * settings_steps: parses command lines and a configuration file of both programs. */
#ifndef TCPSCALER_TESTS_UNIT_SETTINGS_STEPS_H
#define TCPSCALER_TESTS_UNIT_SETTINGS_STEPS_H

#include "client/opts.h"
#include "print_steps.h"
#include "server/opts.h"
#include "words_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

enum { LINE_BYTES = 256, PATH_BYTES = 64 };

static struct client_opts opts;
static struct server_opts server;
static char error[OPTIONS_ERROR_BYTES], *output, path[PATH_BYTES];

typedef enum options_result parser(int argc, char **argv, FILE *out);

static inline enum options_result parse_client(int argc, char **argv, FILE *out)
{
    return client_opts_parse(&opts, argc, argv, out, error);
}

static inline enum options_result parse_server(int argc, char **argv, FILE *out)
{
    return server_opts_parse(&server, argc, argv, out, error);
}

static inline enum options_result parse_words(parser *parse, int argc, char **argv)
{
    enum options_result result;

    free(output);
    error[0] = '\0';
    result = parse(argc, argv, print_open());
    output = print_close();
    return result;
}

static inline enum options_result parse(parser *parse_with, const char *line)
{
    static struct words words;

    words_split(&words, "tool", line);
    return parse_words(parse_with, words.argc, words.argv);
}

static inline void write_file(const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* Parses a file of this text and then these words. */
static inline enum options_result parse_with_file(parser *parse_with, const char *text,
                                                  const char *words)
{
    char line[LINE_BYTES];

    write_file(text);
    snprintf(line, sizeof line, "--config %s%s%s", path, *words != '\0' ? " " : "", words);
    return parse(parse_with, line);
}

static inline int make_path(void **state)
{
    int fd;

    (void)state;
    snprintf(path, sizeof path, "/tmp/tcpscaler-test-XXXXXX");
    fd = mkstemp(path);
    return fd >= 0 ? close(fd) : -1;
}

static inline int remove_path(void **state)
{
    (void)state;
    free(output);
    return unlink(path);
}

#endif
