/* SPDX-License-Identifier: MIT
 * options_steps: what the tests of options have in common. */
#ifndef TCPSCALER_TESTS_UNIT_CONFIG_OPTIONS_STEPS_H
#define TCPSCALER_TESTS_UNIT_CONFIG_OPTIONS_STEPS_H

#include "config/options.h"
#include "config/options_help.h"
#include "config/options_parse.h"
#include "print_steps.h"
#include "words_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(array)  (sizeof(array) / sizeof *(array))
#define FIELD(field) offsetof(struct settings, field)
#define S            1000000000ull

enum { LINE_BYTES = 512, HELP_WIDTH = 100 };

struct settings {
    bool flag;
    unsigned counter;
    uint64_t count, unlimited, automatic, bytes, duration;
    double rate;
    uint16_t port;
    const char *text;
    int choice;
};

static const struct option_row rows[] = {
    {"Numbers", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"count", 'c', OPTION_COUNT, FIELD(count), "N", "how many there are", 2, 1000000, NULL},
    {"unlimited", 0, OPTION_COUNT, FIELD(unlimited), "N", "as many as you like", 0, 0, NULL},
    {"automatic", 'a', OPTION_AUTO, FIELD(automatic), "N", "auto or not", 1, 64, NULL},
    {"bytes", 'b', OPTION_BYTES, FIELD(bytes), "SIZE", "how large it is", 1024, 1 << 20, NULL},
    {"duration", 'd', OPTION_DURATION, FIELD(duration), "TIME", "how long it takes", 1000, 3600 * S,
     NULL},
    {"rate", 'r', OPTION_RATE, FIELD(rate), "QPS", "how often it happens", 0, 0, NULL},
    {"port", 'p', OPTION_PORT, FIELD(port), "PORT", "where it listens", 0, 0, NULL},
    {"The others", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"flag", 'f', OPTION_FLAG, FIELD(flag), NULL, "whether it is so", 0, 0, NULL},
    {"counter", 'v', OPTION_COUNTER, FIELD(counter), NULL, "more of it", 0, 0, NULL},
    {"text", 't', OPTION_TEXT, FIELD(text), "TEXT", "what it is called", 0, 0, NULL},
    {"choice-with-quite-a-long-name", 0, OPTION_CHOICE, FIELD(choice), "WHICH", "one of three", 0,
     0, "first|second|third"},
    {"help", 'h', OPTION_HELP, 0, NULL, "print this help", 0, 0, NULL},
    {"version", 'V', OPTION_VERSION, 0, NULL, "print the version", 0, 0, NULL},
};

/* A command line, its result and its output. */
struct run {
    struct options options;
    struct settings settings;
    unsigned char given[N_OF(rows)];
    struct words words;
    int first_operand;
    enum options_result result;
    char error[OPTIONS_ERROR_BYTES];
    char *output;
};

static inline void init(struct run *r)
{
    *r = (struct run){
        .options = {.program = "tool",
                    .usage = "[options] HOST",
                    .summary = "Does what it is told.",
                    .version = "1.2.3",
                    .rows = rows,
                    .n_rows = N_OF(rows),
                    .given = r->given},
        .settings = {.counter = 40, .count = 7, .automatic = 3, .choice = 2},
    };
}

/* Parses the words of a line, separated by single blanks. */
static inline void parse(struct run *r, const char *line)
{
    words_split(&r->words, "tool", line);
    free(r->output);
    r->result = options_parse(&r->options, &r->settings, r->words.argc, r->words.argv,
                              &r->first_operand, print_open(), r->error);
    r->output = print_close();
}

static inline void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

/* The line must be rejected with one line of error that contains all three parts. */
static inline void assert_refused(const char *line, const char *option, const char *value,
                                  const char *accepted)
{
    struct run r;

    init(&r);
    parse(&r, line);
    assert_int_equal(r.result, OPTIONS_USAGE);
    assert_contains(r.error, option);
    assert_contains(r.error, value);
    assert_contains(r.error, accepted);
    assert_null(strchr(r.error, '\n'));
    assert_string_equal(r.output, "");
    free(r.output);
}

#endif
