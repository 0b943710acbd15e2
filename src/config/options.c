/* SPDX-License-Identifier: MIT
 * options: see config/options.h. */
#include "config/options.h"

#include "config/suggest.h"

#include <stdio.h>
#include <string.h>

/* --- rows --- */

bool options_is_option(const struct option_row *row)
{
    return row->kind != OPTION_HEADING;
}

static bool has_kind(const struct options *o, enum option_kind kind)
{
    for (size_t i = 0; i < o->n_rows; i++)
        if (o->rows[i].kind == kind)
            return true;
    return false;
}

static void list_names(const struct options *o, char *text, size_t n_bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < o->n_rows && n < n_bytes; i++)
        n += (size_t)snprintf(text + n, n_bytes - n, "%s%s", i == 0 ? ": expected " : ", ",
                              o->rows[i].name);
}

void options_suggest(const struct options *o, const char *word, char *text, size_t n_bytes)
{
    struct suggest nearest = {.word = word, .n_word = strcspn(word, "=")};

    for (size_t i = 0; i < o->n_rows; i++)
        if (options_is_option(&o->rows[i]))
            suggest_consider(&nearest, o->rows[i].name);
    if (nearest.name != NULL)
        snprintf(text, n_bytes, ", did you mean '%s'? See --help", nearest.name);
    else if (has_kind(o, OPTION_HELP))
        snprintf(text, n_bytes, ": see --help");
    else
        list_names(o, text, n_bytes);
}

const struct option_row *options_row(const struct options *o, const char *name)
{
    for (size_t i = 0; i < o->n_rows; i++)
        if (options_is_option(&o->rows[i]) && strcmp(o->rows[i].name, name) == 0)
            return &o->rows[i];
    return NULL;
}

bool options_is_setting(const struct option_row *row)
{
    return row->kind != OPTION_HEADING && row->kind < OPTION_PROFILE;
}

/* --- given options --- */

static unsigned char *given(const struct options *o, const char *name)
{
    const struct option_row *row = options_row(o, name);

    return row != NULL ? &o->given[row - o->rows] : NULL;
}

enum options_source options_given_at(const struct options *o, const char *name)
{
    const unsigned char *source = given(o, name);

    return source != NULL ? (enum options_source) * source : OPTIONS_DEFAULT;
}

bool options_was_given(const struct options *o, const char *name)
{
    return options_given_at(o, name) != OPTIONS_DEFAULT;
}

void options_mark_given(struct options *o, const char *name)
{
    unsigned char *source = given(o, name);

    if (source != NULL)
        *source = OPTIONS_COMMAND_LINE;
}
