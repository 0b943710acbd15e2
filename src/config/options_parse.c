/* SPDX-License-Identifier: MIT
 * options_parse: see config/options_parse.h. */
#include "config/options_parse.h"

#include "config/options_config.h"
#include "config/options_help.h"
#include "config/options_value.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* values returned by getopt_long: row numbers, which must differ from characters */
enum { FIRST_LONG = 256 };

/* --- tables for getopt --- */

static void make_tables(const struct options *o, char *letters, struct option *longs)
{
    *letters++ = ':'; /* reports a missing argument differently from an unknown option */
    for (size_t i = 0; i < o->n_rows; i++) {
        const struct option_row *row = &o->rows[i];

        if (!options_is_option(row))
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
        if (options_is_option(&o->rows[i]) && o->rows[i].letter == found)
            return &o->rows[i];
    return NULL;
}

/* --- parsing --- */

/* Lists the options that begin with this word in the error.  Returns their number. */
static unsigned refuse_abbreviation(const struct options *o, const char *word, char *error)
{
    const char *name = word + strspn(word, "-");
    const size_t n_name = strcspn(name, "=");
    unsigned n_found = 0;
    size_t n = (size_t)snprintf(error, OPTIONS_ERROR_BYTES, "%.100s: ambiguous option", word);

    for (size_t i = 0; i < o->n_rows && n < OPTIONS_ERROR_BYTES; i++)
        if (options_is_option(&o->rows[i]) && strncmp(o->rows[i].name, name, n_name) == 0)
            n += (size_t)snprintf(error + n, OPTIONS_ERROR_BYTES - n, "%s--%s",
                                  n_found++ == 0 ? ": expected " : ", ", o->rows[i].name);
    return n_found;
}

static enum options_result refuse(const struct options *o, int found, char **argv, char *error)
{
    const struct option_row *row = optopt != 0 ? find_row(o, optopt) : NULL;
    const char *word = argv[optind - 1];

    if (found == ':')
        snprintf(error, OPTIONS_ERROR_BYTES, "--%s: missing value %s",
                 row != NULL ? row->name : "?", row != NULL ? row->argument : "?");
    else if (row != NULL)
        snprintf(error, OPTIONS_ERROR_BYTES, "--%s: '%.100s': this option takes no value",
                 row->name, word);
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

/* State of getopt_long. */
struct scan {
    char *letters;
    struct option *longs;
};

static int scan_begin(struct scan *s, const struct options *o)
{
    s->letters = malloc(2 * o->n_rows + 2);
    s->longs = malloc((o->n_rows + 1) * sizeof *s->longs);
    optind = 0; /* glibc: starts from scratch, even after an earlier call */
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
                continue; /* options_parse() rejects it */
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

    memset(o->given, OPTIONS_DEFAULT, o->n_rows * sizeof *o->given);
    for (int source = OPTIONS_PROFILE; source < OPTIONS_COMMAND_LINE; source++)
        if (o->texts[source].text != NULL &&
            options_read_text(o, settings, (enum options_source)source, error) != 0)
            return OPTIONS_USAGE;
    snprintf(error, OPTIONS_ERROR_BYTES, "out of memory");
    if (scan_begin(&s, o) == 0)
        result = parse(o, settings, argc, argv, &s, out, error);
    *first_operand = optind;
    scan_end(&s);
    return result;
}
