/* SPDX-License-Identifier: MIT
 * options: see options.h. */
#include "options.h"

#include "endpoint.h"
#include "units.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* getopt_long values: row numbers, apart from characters. */
enum { FIRST_LONG = 256, HELP_COLUMN = 30, ACCEPTED_BYTES = 160 };

/* --- values --- */

/* Position of the value among "a|b|c", or -1. */
static int find_choice(const char *choices, const char *value)
{
    const size_t n_value = strlen(value);

    for (int i = 0;; i++) {
        const size_t n = strcspn(choices, "|");

        if (n == n_value && strncmp(choices, value, n) == 0)
            return i;
        if (choices[n] == '\0')
            return -1;
        choices += n + 1;
    }
}

static bool in_range(const struct option_row *row, uint64_t value)
{
    return value >= row->min && (row->max == 0 || value <= row->max);
}

static int set_whole(const struct option_row *row, const char *value, uint64_t *field)
{
    int (*parse)(const char *, uint64_t *) = row->kind == OPTION_BYTES      ? units_parse_bytes
                                             : row->kind == OPTION_DURATION ? units_parse_duration
                                                                            : units_parse_count;
    uint64_t number;

    if (row->kind == OPTION_AUTO && strcmp(value, "auto") == 0) {
        *field = 0;
        return 0;
    }
    if (parse(value, &number) != 0 || !in_range(row, number))
        return -1;
    *field = number;
    return 0;
}

/* Returns 0, or -1 when the value is not accepted. */
static int set(const struct option_row *row, const char *value, void *field)
{
    int choice;

    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case OPTION_COUNTER:
        ++*(unsigned *)field;
        return 0;
    case OPTION_COUNT:
    case OPTION_AUTO:
    case OPTION_BYTES:
    case OPTION_DURATION:
        return set_whole(row, value, field);
    case OPTION_RATE:
        return units_parse_rate(value, field);
    case OPTION_SHARE:
        return units_parse_share(value, field);
    case OPTION_PORT:
        return endpoint_parse_port(value, 0, field);
    case OPTION_TEXT:
        if (*value == '\0')
            return -1;
        *(const char **)field = value;
        return 0;
    case OPTION_CHOICE:
        choice = find_choice(row->choices, value);
        if (choice < 0)
            return -1;
        *(int *)field = choice;
        return 0;
    case OPTION_HEADING:
    case OPTION_HELP:
    case OPTION_VERSION:
        break;
    }
    return 0;
}

static void describe_range(const struct option_row *row, char *text)
{
    char min[UNITS_TEXT_BYTES], max[UNITS_TEXT_BYTES];
    char *(*format)(char *, uint64_t) = row->kind == OPTION_DURATION ? units_format_duration
                                        : row->kind == OPTION_BYTES  ? units_format_bytes
                                                                     : units_format_count;

    if (row->max != 0)
        snprintf(text, ACCEPTED_BYTES, " from %s to %s", format(min, row->min),
                 format(max, row->max));
    else
        text[0] = '\0';
}

static void describe_accepted(const struct option_row *row, char *text)
{
    char range[ACCEPTED_BYTES];

    describe_range(row, range);
    switch (row->kind) {
    case OPTION_COUNT:
        snprintf(text, ACCEPTED_BYTES, "a whole number as 1000, 10k, 1.5M%.60s", range);
        break;
    case OPTION_AUTO:
        snprintf(text, ACCEPTED_BYTES, "auto or a whole number%.60s", range);
        break;
    case OPTION_BYTES:
        snprintf(text, ACCEPTED_BYTES, "bytes as 4096, 64KiB, 1M%.60s", range);
        break;
    case OPTION_DURATION:
        snprintf(text, ACCEPTED_BYTES, "a time as 250ms, 1.5s, 2m, 20us%.60s", range);
        break;
    case OPTION_RATE:
        snprintf(text, ACCEPTED_BYTES, "a number per second as 0.5, 20000, 20k");
        break;
    case OPTION_SHARE:
        snprintf(text, ACCEPTED_BYTES, "one in many as 1/100, 1/1k");
        break;
    case OPTION_PORT:
        snprintf(text, ACCEPTED_BYTES, "a port from 1 to 65535");
        break;
    case OPTION_CHOICE:
        snprintf(text, ACCEPTED_BYTES, "%s", row->choices);
        break;
    default:
        snprintf(text, ACCEPTED_BYTES, "a text that is not empty");
        break;
    }
}

/* --- getopt's tables, made from ours --- */

static bool is_option(const struct option_row *row)
{
    return row->kind != OPTION_HEADING;
}

static void make_tables(const struct options *o, char *letters, struct option *longs)
{
    *letters++ = ':'; /* a missing argument is told apart from an unknown option */
    for (size_t i = 0; i < o->n_rows; i++) {
        const struct option_row *row = &o->rows[i];

        if (!is_option(row))
            continue;
        *longs++ =
            (struct option){row->name, row->argument != NULL ? required_argument : no_argument,
                            NULL, FIRST_LONG + (int)i};
        if (row->letter != 0) {
            *letters++ = row->letter;
            if (row->argument != NULL)
                *letters++ = ':';
        }
    }
    *letters = '\0';
    *longs = (struct option){0};
}

/* The row that getopt_long found; NULL: none. */
static const struct option_row *find_row(const struct options *o, int found)
{
    if (found >= FIRST_LONG)
        return &o->rows[found - FIRST_LONG];
    for (size_t i = 0; i < o->n_rows; i++)
        if (is_option(&o->rows[i]) && o->rows[i].letter == found)
            return &o->rows[i];
    return NULL;
}

/* --- parsing --- */

static enum options_result refuse(const struct options *o, int found, char **argv, char *error)
{
    const struct option_row *row = optopt != 0 ? find_row(o, optopt) : NULL;
    const char *word = argv[optind - 1];

    if (found == ':')
        snprintf(error, OPTIONS_ERROR_BYTES, "--%s: its value %s is missing",
                 row != NULL ? row->name : "?", row != NULL ? row->argument : "?");
    else if (row != NULL)
        snprintf(error, OPTIONS_ERROR_BYTES, "--%s: '%.100s': it takes no value", row->name, word);
    else if (optopt != 0)
        snprintf(error, OPTIONS_ERROR_BYTES, "-%c: unknown option: see --help", optopt);
    else
        snprintf(error, OPTIONS_ERROR_BYTES, "%.100s: unknown or ambiguous option: see --help",
                 word);
    return OPTIONS_USAGE;
}

static enum options_result apply(struct options *o, const struct option_row *row, void *settings,
                                 FILE *out, char *error)
{
    char accepted[ACCEPTED_BYTES];

    if (row->kind == OPTION_HELP) {
        options_print_help(o, out);
        return OPTIONS_EXIT;
    }
    if (row->kind == OPTION_VERSION) {
        fprintf(out, "%s %s\n", o->program, o->version);
        return OPTIONS_EXIT;
    }
    o->given[row - o->rows] = true;
    if (set(row, optarg, (char *)settings + row->offset) == 0)
        return OPTIONS_RUN;
    describe_accepted(row, accepted);
    snprintf(error, OPTIONS_ERROR_BYTES, "--%s: '%.80s' is not accepted: accepted is %s", row->name,
             optarg, accepted);
    return OPTIONS_USAGE;
}

static enum options_result parse(struct options *o, void *settings, int argc, char **argv,
                                 const char *letters, const struct option *longs, FILE *out,
                                 char *error)
{
    enum options_result result = OPTIONS_RUN;
    int found;

    optind = 0; /* glibc: begin anew, also after an earlier call */
    opterr = 0;
    while (result == OPTIONS_RUN && (found = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (found == '?' || found == ':')
            return refuse(o, found, argv, error);
        result = apply(o, find_row(o, found), settings, out, error);
    }
    return result;
}

enum options_result options_parse(struct options *o, void *settings, int argc, char **argv,
                                  int *first_operand, FILE *out, char *error)
{
    char *letters = malloc(2 * o->n_rows + 2);
    struct option *longs = malloc((o->n_rows + 1) * sizeof *longs);
    enum options_result result = OPTIONS_USAGE;

    snprintf(error, OPTIONS_ERROR_BYTES, "no memory");
    memset(o->given, 0, o->n_rows * sizeof *o->given);
    if (letters != NULL && longs != NULL) {
        make_tables(o, letters, longs);
        result = parse(o, settings, argc, argv, letters, longs, out, error);
        *first_operand = optind;
    }
    free(letters);
    free(longs);
    return result;
}

bool options_was_given(const struct options *o, const char *name)
{
    for (size_t i = 0; i < o->n_rows; i++)
        if (is_option(&o->rows[i]) && strcmp(o->rows[i].name, name) == 0)
            return o->given[i];
    return false;
}

/* --- help --- */

static void print_row(const struct option_row *row, FILE *out)
{
    int n = row->letter != 0 ? fprintf(out, "  -%c, ", row->letter) : fprintf(out, "      ");

    n += fprintf(out, "--%s", row->name);
    if (row->argument != NULL)
        n += fprintf(out, " %s", row->argument);
    if (n + 2 > HELP_COLUMN) {
        fputc('\n', out);
        n = 0;
    }
    fprintf(out, "%*s%s\n", HELP_COLUMN - n, "", row->help);
}

void options_print_help(const struct options *o, FILE *out)
{
    fprintf(out, "Usage: %s %s\n%s\n", o->program, o->usage, o->summary);
    if (o->n_rows > 0 && is_option(&o->rows[0]))
        fputs("\nOptions\n", out);
    for (size_t i = 0; i < o->n_rows; i++) {
        if (is_option(&o->rows[i]))
            print_row(&o->rows[i], out);
        else
            fprintf(out, "\n%s\n", o->rows[i].name);
    }
    fputs("\nTimes take units (250ms, 5s, 2m; a bare number is seconds), counts k, M and G.\n",
          out);
}
