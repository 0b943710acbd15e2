/* SPDX-License-Identifier: MIT
 * options_json: see config/options_json.h. */
#include "config/options_json.h"

#include "base/json.h"
#include "config/confline.h"
#include "config/options_section.h"
#include "config/options_value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_choice(struct json *j, const struct option_row *row, int choice)
{
    char text[64];

    if (*options_choice(row->choices, choice, text, sizeof text) != '\0')
        json_string(j, row->name, text);
    else
        json_null(j, row->name);
}

/* An object with the values as they were given. */
static void put_section(struct json *j, const struct options_section *s)
{
    char *text = strdup(s->text), *rest = text, *line, reason[CONFLINE_ERROR_BYTES];
    struct confline parts;

    json_object_begin(j, NULL);
    if (s->name != NULL)
        json_string(j, "name", s->name);
    while ((line = strsep(&rest, s->file != NULL ? "\n" : ",")) != NULL)
        if (confline_cut(line, &parts, reason) == 0 && parts.name != NULL)
            json_string(j, parts.name, parts.value != NULL ? parts.value : "yes");
    json_object_end(j);
    free(text);
}

static void put_sections(struct json *j, const struct option_row *row,
                         const struct options_sections *all)
{
    if (all->n == 0) {
        json_null(j, row->name);
        return;
    }
    json_array_begin(j, row->name);
    for (unsigned i = 0; i < all->n; i++)
        put_section(j, &all->items[i]);
    json_array_end(j);
}

static void put(struct json *j, const struct option_row *row, const void *field)
{
    char share[32];

    switch (row->kind) {
    case OPTION_FLAG:
        json_bool(j, row->name, *(const bool *)field);
        break;
    case OPTION_COUNTER:
        json_u64(j, row->name, *(const unsigned *)field);
        break;
    case OPTION_COUNT:
    case OPTION_BYTES:
        json_u64(j, row->name, *(const uint64_t *)field);
        break;
    case OPTION_AUTO:
        if (*(const uint64_t *)field == 0)
            json_string(j, row->name, "auto");
        else
            json_u64(j, row->name, *(const uint64_t *)field);
        break;
    case OPTION_SHARE:
        snprintf(share, sizeof share, "1/%" PRIu64, *(const uint64_t *)field);
        json_string(j, row->name, share);
        break;
    case OPTION_DURATION:
        json_double(j, row->name, (double)*(const uint64_t *)field / 1e9);
        break;
    case OPTION_RATE:
        json_double(j, row->name, *(const double *)field);
        break;
    case OPTION_PORT:
    case OPTION_ANY_PORT:
        json_u64(j, row->name, *(const uint16_t *)field);
        break;
    case OPTION_TEXT:
    case OPTION_PROFILE:
    case OPTION_CONFIG:
        json_string(j, row->name, *(const char *const *)field);
        break;
    case OPTION_CHOICE:
        put_choice(j, row, *(const int *)field);
        break;
    case OPTION_SECTION:
        put_sections(j, row, field);
        break;
    case OPTION_HEADING:
    case OPTION_COMMAND:
    case OPTION_HELP:
    case OPTION_VERSION:
        break;
    }
}

void options_json(const struct options *o, const void *settings, struct json *j, const char *key)
{
    json_object_begin(j, key);
    for (size_t i = 0; i < o->n_rows; i++)
        put(j, &o->rows[i], (const char *)settings + o->rows[i].offset);
    json_object_end(j);
}
