/* SPDX-License-Identifier: MIT
 * options: see config/options.h. */
#include "config/options.h"

#include "base/endpoint.h"
#include "base/units.h"
#include "config/suggest.h"

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

const char *options_choice(const struct option_row *row, int choice, char *text, size_t n_bytes)
{
    const char *begin = row->choices;

    for (; choice > 0 && begin != NULL; choice--) {
        begin = strchr(begin, '|');
        begin = begin != NULL ? begin + 1 : NULL;
    }
    snprintf(text, n_bytes, "%.*s", begin != NULL ? (int)strcspn(begin, "|") : 0,
             begin != NULL ? begin : "");
    return text;
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

/* Yes, also when there is no value, or no. */
static int set_flag(const char *value, bool *field)
{
    if (value != NULL && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return -1;
    *field = value == NULL || *value == 'y';
    return 0;
}

/* One more, or as many as the value says. */
static int set_counter(const char *value, unsigned *field)
{
    uint64_t number = *field + 1ull;

    if (value != NULL && (units_parse_count(value, &number) != 0 || number > UINT16_MAX))
        return -1;
    *field = (unsigned)number;
    return 0;
}

/* Returns 0, or -1 when the value is not accepted. */
static int set(const struct option_row *row, const char *value, void *field)
{
    int choice;

    switch (row->kind) {
    case OPTION_FLAG:
    case OPTION_COMMAND:
        return set_flag(value, field);
    case OPTION_COUNTER:
        return set_counter(value, field);
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
    case OPTION_ANY_PORT:
        return endpoint_parse_port(value, 1, field);
    case OPTION_TEXT:
    case OPTION_PROFILE:
    case OPTION_CONFIG:
        if (value == NULL || *value == '\0')
            return -1;
        *(const char **)field = value;
        return 0;
    case OPTION_CHOICE:
        choice = find_choice(row->choices, value != NULL ? value : "yes");
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
    case OPTION_FLAG:
    case OPTION_COMMAND:
        snprintf(text, ACCEPTED_BYTES, "yes or no");
        break;
    case OPTION_COUNTER:
        snprintf(text, ACCEPTED_BYTES, "a whole number as 1");
        break;
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
    case OPTION_ANY_PORT:
        snprintf(text, ACCEPTED_BYTES, "a port from 0 to 65535");
        break;
    case OPTION_CHOICE:
        snprintf(text, ACCEPTED_BYTES, "%s", row->choices);
        break;
    default:
        snprintf(text, ACCEPTED_BYTES, "a text that is not empty");
        break;
    }
}

int options_set(struct options *o, void *settings, const struct option_row *row, const char *value,
                enum options_place place, char *error)
{
    void *field = (char *)settings + row->offset;
    char accepted[ACCEPTED_BYTES];

    if (value == NULL && row->argument != NULL) {
        snprintf(error, OPTIONS_ERROR_BYTES, "%s: its value %s is missing", row->name,
                 row->argument);
        return -1;
    }
    if (set(row, value, field) != 0) {
        describe_accepted(row, accepted);
        snprintf(error, OPTIONS_ERROR_BYTES, "%s: '%.80s' is not accepted: accepted is %s",
                 row->name, value, accepted);
        return -1;
    }
    /* a flag that is off is as if not given */
    o->given[row - o->rows] = row->kind == OPTION_FLAG && !*(const bool *)field
                                  ? (unsigned char)OPTIONS_NOWHERE
                                  : (unsigned char)place;
    return 0;
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
        *longs++ = (struct option){row->name,
                                   row->argument != NULL ? required_argument
                                   : row->kind == OPTION_FLAG || row->kind == OPTION_CHOICE
                                       ? optional_argument
                                       : no_argument,
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

void options_suggest(const struct options *o, const char *word, char *text, size_t n_bytes)
{
    struct suggest nearest = {.word = word, .n_word = strcspn(word, "=")};

    for (size_t i = 0; i < o->n_rows; i++)
        if (is_option(&o->rows[i]))
            suggest_consider(&nearest, o->rows[i].name);
    if (nearest.name != NULL)
        snprintf(text, n_bytes, ", did you mean '%s'? See --help", nearest.name);
    else
        snprintf(text, n_bytes, ": see --help");
}

/* The error names the options that begin with this word.  Returns how many there are. */
static unsigned refuse_abbreviation(const struct options *o, const char *word, char *error)
{
    const char *name = word + strspn(word, "-");
    const size_t n_name = strcspn(name, "=");
    unsigned n_found = 0;
    size_t n = (size_t)snprintf(error, OPTIONS_ERROR_BYTES, "%.100s: ambiguous option", word);

    for (size_t i = 0; i < o->n_rows && n < OPTIONS_ERROR_BYTES; i++)
        if (is_option(&o->rows[i]) && strncmp(o->rows[i].name, name, n_name) == 0)
            n += (size_t)snprintf(error + n, OPTIONS_ERROR_BYTES - n, "%s--%s",
                                  n_found++ == 0 ? ": expected " : ", ", o->rows[i].name);
    return n_found;
}

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
    else if (refuse_abbreviation(o, word, error) < 2) {
        const int n = snprintf(error, OPTIONS_ERROR_BYTES, "%.100s: unknown option", word);

        options_suggest(o, word + strspn(word, "-"), error + n, OPTIONS_ERROR_BYTES - (size_t)n);
    }
    return OPTIONS_USAGE;
}

static enum options_result apply(struct options *o, const struct option_row *row, void *settings,
                                 FILE *out, char *error)
{
    char reason[OPTIONS_ERROR_BYTES];

    if (row->kind == OPTION_HELP) {
        options_print_help(o, out);
        return OPTIONS_EXIT;
    }
    if (row->kind == OPTION_VERSION) {
        fprintf(out, "%s %s\n", o->program, o->version);
        return OPTIONS_EXIT;
    }
    if (options_set(o, settings, row, optarg, OPTIONS_COMMAND_LINE, reason) == 0)
        return OPTIONS_RUN;
    snprintf(error, OPTIONS_ERROR_BYTES, "--%.300s", reason);
    return OPTIONS_USAGE;
}

/* What getopt_long needs and remembers. */
struct scan {
    char *letters;
    struct option *longs;
};

static int scan_begin(struct scan *s, const struct options *o)
{
    s->letters = malloc(2 * o->n_rows + 2);
    s->longs = malloc((o->n_rows + 1) * sizeof *s->longs);
    optind = 0; /* glibc: begin anew, also after an earlier call */
    opterr = 0;
    if (s->letters == NULL || s->longs == NULL)
        return -1;
    make_tables(o, s->letters, s->longs);
    return 0;
}

static void scan_end(struct scan *s)
{
    free(s->letters);
    free(s->longs);
}

const char *options_find(const struct options *o, enum option_kind kind, int argc, char **argv)
{
    const char *value = NULL;
    struct scan s;
    int found;

    if (scan_begin(&s, o) == 0)
        while ((found = getopt_long(argc, argv, s.letters, s.longs, NULL)) != -1) {
            const struct option_row *row;

            if (found == '?' || found == ':')
                continue; /* options_parse() refuses it */
            row = find_row(o, found);
            if (row->kind == OPTION_HELP || row->kind == OPTION_VERSION)
                break;
            if (row->kind == kind)
                value = optarg;
        }
    scan_end(&s);
    return value;
}

static enum options_result parse(struct options *o, void *settings, int argc, char **argv,
                                 const struct scan *s, FILE *out, char *error)
{
    enum options_result result = OPTIONS_RUN;
    int found;

    while (result == OPTIONS_RUN &&
           (found = getopt_long(argc, argv, s->letters, s->longs, NULL)) != -1) {
        if (found == '?' || found == ':')
            return refuse(o, found, argv, error);
        result = apply(o, find_row(o, found), settings, out, error);
    }
    return result;
}

enum options_result options_parse(struct options *o, void *settings, int argc, char **argv,
                                  int *first_operand, FILE *out, char *error)
{
    enum options_result result = OPTIONS_USAGE;
    struct scan s;

    memset(o->given, OPTIONS_NOWHERE, o->n_rows * sizeof *o->given);
    for (int place = OPTIONS_PROFILE; place < OPTIONS_COMMAND_LINE; place++)
        if (o->texts[place].text != NULL &&
            options_read_text(o, settings, (enum options_place)place, error) != 0)
            return OPTIONS_USAGE;
    snprintf(error, OPTIONS_ERROR_BYTES, "no memory");
    if (scan_begin(&s, o) == 0)
        result = parse(o, settings, argc, argv, &s, out, error);
    *first_operand = optind;
    scan_end(&s);
    return result;
}

/* --- what was given --- */

const struct option_row *options_row(const struct options *o, const char *name)
{
    for (size_t i = 0; i < o->n_rows; i++)
        if (is_option(&o->rows[i]) && strcmp(o->rows[i].name, name) == 0)
            return &o->rows[i];
    return NULL;
}

bool options_is_setting(const struct option_row *row)
{
    return row->kind != OPTION_HEADING && row->kind < OPTION_PROFILE;
}

static unsigned char *given(const struct options *o, const char *name)
{
    const struct option_row *row = options_row(o, name);

    return row != NULL ? &o->given[row - o->rows] : NULL;
}

enum options_place options_given_at(const struct options *o, const char *name)
{
    const unsigned char *place = given(o, name);

    return place != NULL ? (enum options_place) * place : OPTIONS_NOWHERE;
}

bool options_was_given(const struct options *o, const char *name)
{
    return options_given_at(o, name) != OPTIONS_NOWHERE;
}

void options_mark_given(struct options *o, const char *name)
{
    unsigned char *place = given(o, name);

    if (place != NULL)
        *place = OPTIONS_COMMAND_LINE;
}

static size_t field_bytes(enum option_kind kind)
{
    switch (kind) {
    case OPTION_FLAG:
    case OPTION_COMMAND:
        return sizeof(bool);
    case OPTION_COUNTER:
        return sizeof(unsigned);
    case OPTION_RATE:
        return sizeof(double);
    case OPTION_PORT:
    case OPTION_ANY_PORT:
        return sizeof(uint16_t);
    case OPTION_TEXT:
    case OPTION_PROFILE:
    case OPTION_CONFIG:
        return sizeof(const char *);
    case OPTION_CHOICE:
        return sizeof(int);
    case OPTION_HEADING:
    case OPTION_HELP:
    case OPTION_VERSION:
        return 0;
    default:
        return sizeof(uint64_t);
    }
}

void options_outrank(struct options *o, void *settings, const void *defaults, const char *a,
                     const char *b)
{
    const enum options_place place_a = options_given_at(o, a), place_b = options_given_at(o, b);
    const struct option_row *loser = options_row(o, place_a < place_b ? a : b);

    if (place_a == OPTIONS_NOWHERE || place_b == OPTIONS_NOWHERE || place_a == place_b)
        return;
    memcpy((char *)settings + loser->offset, (const char *)defaults + loser->offset,
           field_bytes(loser->kind));
    o->given[loser - o->rows] = OPTIONS_NOWHERE;
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
