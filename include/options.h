/* SPDX-License-Identifier: MIT
 * options: a command line from a table with one row per option.
 *
 * Parsing, --help and the tests of the man pages and the README read the same rows.  Nothing here
 * exits; the caller decides.  Not reentrant (getopt_long(3) is not). */
#ifndef TCPSCALER_OPTIONS_H
#define TCPSCALER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTIONS_ERROR_BYTES 320

/* What an option's argument is, and the type of the field it sets. */
enum option_kind {
    OPTION_HEADING,  /* no option: a title in --help */
    OPTION_FLAG,     /* no argument; bool */
    OPTION_COUNTER,  /* no argument, may be repeated; unsigned */
    OPTION_COUNT,    /* units_parse_count; uint64_t */
    OPTION_AUTO,     /* "auto" (0) or a count; uint64_t */
    OPTION_BYTES,    /* units_parse_bytes; uint64_t */
    OPTION_DURATION, /* units_parse_duration; uint64_t ns */
    OPTION_RATE,     /* units_parse_rate; double */
    OPTION_SHARE,    /* units_parse_share; uint64_t */
    OPTION_PORT,     /* 1..65535; uint16_t */
    OPTION_TEXT,     /* not empty; const char *, borrowed from argv */
    OPTION_CHOICE,   /* one of `choices`; int, its position */
    OPTION_HELP,     /* prints help, OPTIONS_EXIT */
    OPTION_VERSION   /* prints the version, OPTIONS_EXIT */
};

struct option_row {
    const char *name; /* long name, or the heading's text */
    char letter;      /* 0: none */
    enum option_kind kind;
    size_t offset;        /* of the field in the settings */
    const char *argument; /* its name in --help; NULL: takes none */
    const char *help;     /* one line */
    uint64_t min, max;    /* COUNT, AUTO, BYTES, DURATION (ns); max 0: no limit */
    const char *choices;  /* CHOICE: "first|second" */
};

struct options {
    const char *program; /* for messages and --help */
    const char *usage;   /* "[options] HOST[:PORT]" */
    const char *summary; /* one or two lines for --help */
    const char *version; /* the text of --version, without the program's name */
    const struct option_row *rows;
    size_t n_rows;
    bool *given; /* n_rows: set for each option that was on the command line */
};

enum options_result { OPTIONS_RUN, OPTIONS_EXIT, OPTIONS_USAGE };

/* Sets the fields of *settings that the arguments name.  OPTIONS_RUN: *first_operand is the index
 * in argv (permuted) of the first operand.  OPTIONS_EXIT: help or version went to `out`.
 * OPTIONS_USAGE: error (OPTIONS_ERROR_BYTES) has one line with option, value, what is accepted. */
enum options_result options_parse(struct options *o, void *settings, int argc, char **argv,
                                  int *first_operand, FILE *out, char *error);

/* Whether the option with this long name was given. */
bool options_was_given(const struct options *o, const char *name);

void options_print_help(const struct options *o, FILE *out);

struct json;

/* The settings in force, given or default, as one object: long name -> value; durations in seconds.
 * (src/options_json.c) */
void options_json(const struct options *o, const void *settings, struct json *j, const char *key);

#endif
