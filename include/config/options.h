/* SPDX-License-Identifier: MIT
 * options: a table with one row per option, and where each was given.
 *
 * Values (config/options_value.h), parsing (config/options_parse.h), --help
 * (config/options_help.h), --print-config (config/options_config.h) and the tests of the man pages
 * use the same rows. */
#ifndef TCPSCALER_CONFIG_OPTIONS_H
#define TCPSCALER_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTIONS_ERROR_BYTES 320

/* The argument of an option, and the type of its field. */
enum option_kind {
    OPTION_HEADING,  /* not an option: a heading in --help */
    OPTION_FLAG,     /* no argument, or yes|no; bool */
    OPTION_COUNTER,  /* no argument, may be repeated; in a file a whole number; unsigned */
    OPTION_COUNT,    /* units_parse_count; uint64_t */
    OPTION_AUTO,     /* "auto" (0) or a count; uint64_t */
    OPTION_BYTES,    /* units_parse_bytes; uint64_t */
    OPTION_DURATION, /* units_parse_duration; uint64_t ns */
    OPTION_RATE,     /* units_parse_rate; double */
    OPTION_SHARE,    /* units_parse_share; uint64_t */
    OPTION_PORT,     /* 1..65535; uint16_t */
    OPTION_ANY_PORT, /* 0..65535; uint16_t */
    OPTION_TEXT,     /* non-empty; const char *, borrowed from argv or the settings' text */
    /* One of `choices`; int, its index; without `argument` may have no value: yes. */
    OPTION_CHOICE,
    OPTION_SECTION, /* may be repeated, has settings of its own; struct options_sections */
    /* on the command line only: */
    OPTION_PROFILE, /* names a built-in text of settings; const char * */
    OPTION_CONFIG,  /* names a file of settings; const char * */
    OPTION_COMMAND, /* like FLAG, but not a setting of a run */
    OPTION_HELP,    /* prints help, OPTIONS_EXIT */
    OPTION_VERSION  /* prints the version, OPTIONS_EXIT */
};

struct option_row {
    const char *name; /* long name, or the heading's text */
    char letter;      /* 0: none */
    enum option_kind kind;
    size_t offset;        /* of the field in the settings */
    const char *argument; /* its name in --help; NULL: takes none */
    const char *help;     /* one line */
    /* COUNT, AUTO, BYTES, DURATION (ns), RATE; max 0: no maximum and, for RATE, no minimum. */
    uint64_t min, max;
    const char *choices; /* CHOICE: "first|second" */
};

/* Where a setting comes from; later sources override earlier ones. */
enum options_source { OPTIONS_DEFAULT, OPTIONS_PROFILE, OPTIONS_FILE, OPTIONS_COMMAND_LINE };

/* Lines in the format of config/confline.h, with long option names. */
struct options_text {
    const char *name; /* for messages */
    char *text;       /* NULL: none; split in place, and settings point into it */
};

struct options {
    const char *program; /* for messages and --help */
    const char *usage;   /* "[options] HOST[:PORT]" */
    const char *summary; /* one or two lines for --help */
    const char *version; /* the text of --version, without the program's name */
    const struct option_row *rows;
    size_t n_rows;
    unsigned char *given;                            /* n_rows: enum options_source */
    struct options_text texts[OPTIONS_COMMAND_LINE]; /* by source, owned by settings_parse() */
};

enum options_result { OPTIONS_RUN, OPTIONS_EXIT, OPTIONS_USAGE };

/* Returns the row of a long name, or NULL. */
const struct option_row *options_row(const struct options *o, const char *name);

/* Writes a hint for an unknown option `word`: the nearest option, if any, and a pointer to --help.
 */
void options_suggest(const struct options *o, const char *word, char *text, size_t n_bytes);

/* Returns whether a row is an option, not a heading. */
bool options_is_option(const struct option_row *row);

/* Returns whether it is a setting of a run and allowed in a file. */
bool options_is_setting(const struct option_row *row);

/* Return where the option with this long name was last given, and whether it was given at all.  A
 * flag that is off counts as not given. */
enum options_source options_given_at(const struct options *o, const char *name);
bool options_was_given(const struct options *o, const char *name);

/* Marks an option as given on the command line, if an argument without option implies it. */
void options_mark_given(struct options *o, const char *name);

#endif
