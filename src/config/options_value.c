/* SPDX-License-Identifier: MIT
 * options_value: see config/options_value.h. */
#include "config/options_value.h"

#include "base/endpoint.h"
#include "base/units.h"
#include "config/options_section.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { ACCEPTED_BYTES = 160, N_EXAMPLES = 4 };

/* Returns the index of the value in "a|b|c", or -1. */
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

const char *options_choice(const char *choices, int choice, char *text, size_t n_bytes)
{
    const char *begin = choices;

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

/* A count, a size in bytes or a duration, as the row accepts it.  Returns 0 or -1. */
static int parse_whole(const struct option_row *row, const char *value, uint64_t *number)
{
    int (*parse)(const char *, uint64_t *) = row->kind == OPTION_BYTES      ? units_parse_bytes
                                             : row->kind == OPTION_DURATION ? units_parse_duration
                                                                            : units_parse_count;

    return parse(value, number) == 0 && in_range(row, *number) ? 0 : -1;
}

static int set_whole(const struct option_row *row, const char *value, uint64_t *field)
{
    uint64_t number;

    assert(value != NULL); /* rows of these kinds have an argument */
    if (row->kind == OPTION_AUTO && strcmp(value, "auto") == 0) {
        *field = 0;
        return 0;
    }
    if (parse_whole(row, value, &number) != 0)
        return -1;
    *field = number;
    return 0;
}

static int set_rate(const struct option_row *row, const char *value, double *field)
{
    double per_s;

    if (units_parse_rate(value, &per_s) != 0 ||
        (row->max != 0 && (per_s < (double)row->min || per_s > (double)row->max)))
        return -1;
    *field = per_s;
    return 0;
}

/* Yes, no, or no value, which means yes. */
static int set_flag(const char *value, bool *field)
{
    if (value != NULL && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return -1;
    *field = value == NULL || *value == 'y';
    return 0;
}

/* Increments, or sets to the value if there is one. */
static int set_counter(const char *value, unsigned *field)
{
    uint64_t number = *field + 1ull;

    if (value != NULL && (units_parse_count(value, &number) != 0 || number > UINT16_MAX))
        return -1;
    *field = (unsigned)number;
    return 0;
}

/* Returns 0, or -1 if the value is invalid. */
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
        return set_rate(row, value, field);
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
    case OPTION_SECTION: /* options_set() */
    case OPTION_HEADING:
    case OPTION_HELP:
    case OPTION_VERSION:
        break;
    }
    return 0;
}

/* Exact: the limits themselves are valid. */
static void append_range(const struct option_row *row, char *text)
{
    const size_t n_bytes = strlen(text);
    char min[UNITS_TEXT_BYTES], max[UNITS_TEXT_BYTES];
    char *(*format)(char *, uint64_t) =
        row->kind == OPTION_DURATION ? units_write_duration : units_format_count;

    if (row->max != 0)
        snprintf(text + n_bytes, ACCEPTED_BYTES - n_bytes, ", from %s to %s", format(min, row->min),
                 format(max, row->max));
}

/* Includes the examples that the row accepts. */
static void describe_whole(const struct option_row *row, const char *kind,
                           const char *const examples[N_EXAMPLES], char *text)
{
    const char *accepted[N_EXAMPLES];
    int n = 0, n_bytes = snprintf(text, ACCEPTED_BYTES, "%s", kind);

    for (int i = 0; i < N_EXAMPLES; i++) {
        uint64_t number;

        if (parse_whole(row, examples[i], &number) == 0)
            accepted[n++] = examples[i];
    }
    for (int i = 0; i < n; i++)
        n_bytes += snprintf(text + n_bytes, (size_t)(ACCEPTED_BYTES - n_bytes), "%s%s",
                            i == 0      ? " such as "
                            : i < n - 1 ? ", "
                                        : " or ",
                            accepted[i]);
}

static void describe_accepted(const struct option_row *row, char *text)
{
    static const char *const counts[N_EXAMPLES] = {"10", "1000", "10k", "1.5M"},
                             *const sizes[N_EXAMPLES] = {"64", "4096", "64KiB", "1M"},
                             *const times[N_EXAMPLES] = {"20us", "250ms", "1.5s", "2m"};

    switch (row->kind) {
    case OPTION_FLAG:
    case OPTION_COMMAND:
        snprintf(text, ACCEPTED_BYTES, "yes or no");
        break;
    case OPTION_COUNTER:
        snprintf(text, ACCEPTED_BYTES, "a whole number such as 1");
        break;
    case OPTION_COUNT:
        describe_whole(row, "a whole number", counts, text);
        break;
    case OPTION_AUTO:
        snprintf(text, ACCEPTED_BYTES, "auto or a whole number");
        break;
    case OPTION_BYTES:
        describe_whole(row, "a size in bytes", sizes, text);
        break;
    case OPTION_DURATION:
        describe_whole(row, "a time", times, text);
        break;
    case OPTION_RATE:
        snprintf(text, ACCEPTED_BYTES, "a number per second such as 0.5, 20000 or 20k");
        break;
    case OPTION_SHARE:
        snprintf(text, ACCEPTED_BYTES, "a fraction such as 1/100 or 1/1k");
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
        snprintf(text, ACCEPTED_BYTES, "a non-empty string");
        break;
    }
    append_range(row, text);
}

/* On the command line, or in a file as an option. */
static int add_section(struct options *o, struct options_sections *all,
                       const struct option_row *row, const char *value, enum options_source source,
                       char *error)
{
    const struct options_section section = {.option = row->name, .text = value};

    if (options_section_add(all, source, &section, error) != 0)
        return -1;
    o->given[row - o->rows] = (unsigned char)source;
    return 0;
}

int options_set(struct options *o, void *settings, const struct option_row *row, const char *value,
                enum options_source source, char *error)
{
    void *field = (char *)settings + row->offset;
    char accepted[ACCEPTED_BYTES];

    if (value == NULL && row->argument != NULL) {
        snprintf(error, OPTIONS_ERROR_BYTES, "%s: missing value %s", row->name, row->argument);
        return -1;
    }
    if (row->kind == OPTION_SECTION)
        return add_section(o, field, row, value, source, error);
    if (set(row, value, field) != 0) {
        describe_accepted(row, accepted);
        snprintf(error, OPTIONS_ERROR_BYTES, "%s: invalid value '%.80s': expected %s", row->name,
                 value, accepted);
        return -1;
    }
    /* a flag that is off counts as not given */
    o->given[row - o->rows] = row->kind == OPTION_FLAG && !*(const bool *)field
                                  ? (unsigned char)OPTIONS_DEFAULT
                                  : (unsigned char)source;
    return 0;
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
    case OPTION_SECTION:
        return sizeof(struct options_sections);
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
    const enum options_source source_a = options_given_at(o, a), source_b = options_given_at(o, b);
    const struct option_row *loser = options_row(o, source_a < source_b ? a : b);

    if (source_a == OPTIONS_DEFAULT || source_b == OPTIONS_DEFAULT || source_a == source_b)
        return;
    memcpy((char *)settings + loser->offset, (const char *)defaults + loser->offset,
           field_bytes(loser->kind));
    o->given[loser - o->rows] = OPTIONS_DEFAULT;
}
