/* SPDX-License-Identifier: MIT
 * options_config: see config/options_config.h. */
#include "config/options_config.h"

#include "base/units.h"
#include "config/confline.h"
#include "config/options_value.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBER_BYTES = 64, MOST_DECIMALS = 19, MOST_NAME_BYTES = 40 };

/* --- reading --- */

_Static_assert((int)NUMBER_BYTES >= (int)UNITS_TEXT_BYTES, "holds a duration");

/* Prefixes the error, which contains the reason, with the line. */
static int refuse(const struct options_text *t, unsigned line, const char *reason, char *error)
{
    snprintf(error, OPTIONS_ERROR_BYTES, "%.80s:%u: %.220s", t->name, line, reason);
    return -1;
}

static int refuse_name(const struct options *o, const char *name, char *reason)
{
    const int n = snprintf(reason, OPTIONS_ERROR_BYTES, "%.80s: unknown option", name);

    options_suggest(o, name, reason + n, OPTIONS_ERROR_BYTES - (size_t)n);
    return -1;
}

static int read_line(struct options *o, void *settings, enum options_source source, char *line,
                     char *reason)
{
    const struct option_row *row;
    struct confline parts;

    if (confline_cut(line, &parts, reason) != 0)
        return -1;
    if (parts.name == NULL)
        return 0;
    row = options_row(o, parts.name);
    if (row == NULL)
        return refuse_name(o, parts.name, reason);
    if (!options_is_setting(row)) {
        snprintf(reason, OPTIONS_ERROR_BYTES, "%s: only valid on the command line: see --help",
                 row->name);
        return -1;
    }
    return options_set(o, settings, row, parts.value, source, reason);
}

/* Parses the section that begins with this line.  Returns the number of lines after the header, or
 * -1 with the reason. */
static int take_section(struct options *o, void *settings, enum options_source source, char *header,
                        unsigned line, char **rest, char *reason)
{
    struct options_section section = {.file = o->texts[source].name, .line = line};
    const struct option_row *row;
    char *option, *name, *lines;
    unsigned n;

    if (options_section_cut_header(header, &option, &name, reason) != 0)
        return -1;
    row = options_row(o, option);
    if (row == NULL || row->kind != OPTION_SECTION) {
        snprintf(reason, OPTIONS_ERROR_BYTES, "[%.80s]: unknown section: see --help", option);
        return -1;
    }
    n = options_section_cut_lines(rest, &lines);
    section.option = row->name;
    section.name = name;
    section.text = lines;
    if (options_section_add((void *)((char *)settings + row->offset), source, &section, reason) !=
        0)
        return -1;
    o->given[row - o->rows] = (unsigned char)source;
    return (int)n;
}

int options_read_text(struct options *o, void *settings, enum options_source source, char *error)
{
    const struct options_text *t = &o->texts[source];
    char *rest = t->text, *line, reason[OPTIONS_ERROR_BYTES];

    _Static_assert(CONFLINE_ERROR_BYTES <= OPTIONS_ERROR_BYTES, "one buffer serves both");
    for (unsigned number = 1; (line = strsep(&rest, "\n")) != NULL; number++) {
        const int n = options_section_is_header(line)
                          ? take_section(o, settings, source, line, number, &rest, reason)
                          : read_line(o, settings, source, line, reason);

        if (n < 0)
            return refuse(t, number, reason, error);
        number += (unsigned)n;
    }
    return 0;
}

static int refuse_setting(const struct options_section *s, unsigned line, const char *reason,
                          char *error)
{
    size_t n_name = 0;
    const char *name = s->file == NULL ? options_section_find_name(s->text, &n_name) : NULL;

    if (s->file != NULL)
        snprintf(error, OPTIONS_ERROR_BYTES, "%.80s:%u: %.220s", s->file, line, reason);
    else if (name != NULL)
        snprintf(error, OPTIONS_ERROR_BYTES, "--%s: %.*s: %.240s", s->option,
                 (int)(n_name < MOST_NAME_BYTES ? n_name : MOST_NAME_BYTES), name, reason);
    else
        snprintf(error, OPTIONS_ERROR_BYTES, "--%s: %.280s", s->option, reason);
    return -1;
}

int options_read_section(const struct options_section *section, char *text, struct options *table,
                         void *settings, char *error)
{
    const enum options_source source = section->file != NULL ? OPTIONS_FILE : OPTIONS_COMMAND_LINE;
    char *line, reason[OPTIONS_ERROR_BYTES];
    unsigned number = section->line;

    while ((line = strsep(&text, section->file != NULL ? "\n" : ",")) != NULL) {
        number++;
        if (read_line(table, settings, source, line, reason) != 0)
            return refuse_setting(section, number, reason, error);
    }
    return 0;
}

/* --- printing --- */

/* Uses the fewest decimals that read back as the same number. */
static void put_rate(char *text, double per_s)
{
    double again;

    for (int decimals = 0; decimals <= MOST_DECIMALS; decimals++) {
        snprintf(text, NUMBER_BYTES, "%.*f", decimals, per_s);
        if (units_parse_rate(text, &again) == 0 && !(again < per_s) && !(again > per_s))
            return;
    }
}

/* Prints nothing if 0 means "not given" and would be rejected. */
static void put_whole(const struct option_row *row, char *text, uint64_t value)
{
    if (value == 0 && row->kind == OPTION_AUTO)
        snprintf(text, NUMBER_BYTES, "auto");
    else if (value < row->min)
        text[0] = '\0';
    else if (row->kind == OPTION_DURATION)
        units_write_duration(text, value);
    else
        snprintf(text, NUMBER_BYTES, "%s%" PRIu64, row->kind == OPTION_SHARE ? "1/" : "", value);
}

/* Returns the value as a text, in the buffer or borrowed. */
static const char *format(const struct option_row *row, const void *field, char *buffer)
{
    switch (row->kind) {
    case OPTION_FLAG:
        return *(const bool *)field ? "yes" : "no";
    case OPTION_COUNTER:
        snprintf(buffer, NUMBER_BYTES, "%u", *(const unsigned *)field);
        return buffer;
    case OPTION_RATE:
        put_rate(buffer, *(const double *)field);
        return buffer;
    case OPTION_PORT:
    case OPTION_ANY_PORT:
        snprintf(buffer, NUMBER_BYTES, "%u", *(const uint16_t *)field);
        return buffer;
    case OPTION_TEXT:
        return *(const char *const *)field != NULL ? *(const char *const *)field : "";
    case OPTION_CHOICE:
        return options_choice(row->choices, *(const int *)field, buffer, NUMBER_BYTES);
    default:
        put_whole(row, buffer, *(const uint64_t *)field);
        return buffer;
    }
}

/* Prints a section in the form of a file. */
static void print_section(FILE *out, const struct options_section *s)
{
    fprintf(out, "\n[%s%s%s]\n", s->option, s->name != NULL ? " " : "",
            s->name != NULL ? s->name : "");
    for (const char *c = s->text; *c != '\0'; c++)
        fputc(*c == ',' && s->file == NULL ? '\n' : *c, out);
    if (s->text[0] != '\0' && s->text[strlen(s->text) - 1] != '\n')
        fputc('\n', out);
}

/* After everything else: the last section ends with the text. */
static void print_sections(const struct options *o, const void *settings, FILE *out)
{
    for (size_t i = 0; i < o->n_rows; i++) {
        const struct options_sections *all =
            (const void *)((const char *)settings + o->rows[i].offset);

        for (unsigned k = 0; o->rows[i].kind == OPTION_SECTION && k < all->n; k++)
            print_section(out, &all->items[k]);
    }
}

void options_print_given(const struct options *o, const void *settings, FILE *out)
{
    char buffer[NUMBER_BYTES];

    for (size_t i = 0; i < o->n_rows; i++)
        if (o->given[i] != OPTIONS_DEFAULT)
            confline_print(out, o->rows[i].name,
                           format(&o->rows[i], (const char *)settings + o->rows[i].offset, buffer));
}

void options_print_config(const struct options *o, const void *settings, FILE *out)
{
    char buffer[NUMBER_BYTES];

    for (size_t i = 0; i < o->n_rows; i++) {
        const struct option_row *row = &o->rows[i];
        const char *value;

        if (row->kind == OPTION_HEADING)
            fprintf(out, "%s# %s\n", i > 0 ? "\n" : "", row->name);
        if (!options_is_setting(row) || row->kind == OPTION_SECTION)
            continue;
        value = format(row, (const char *)settings + row->offset, buffer);
        if (o->given[i] != OPTIONS_DEFAULT)
            confline_print(out, row->name, value);
        else if (*value == '\0')
            fprintf(out, "# %s =\n", row->name);
        else {
            fputs("# ", out);
            confline_print(out, row->name, value);
        }
    }
    print_sections(o, settings, out);
}
