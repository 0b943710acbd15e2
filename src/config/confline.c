/* SPDX-License-Identifier: MIT
 * confline: see config/confline.h. */
#include "config/confline.h"

#include <stdbool.h>
#include <string.h>

#define REFUSE(...) (snprintf(error, CONFLINE_ERROR_BYTES, __VA_ARGS__), -1)

static bool is_blank(char c)
{
    return c != '\0' && strchr(CONFLINE_BLANKS, c) != NULL;
}

static char *skip_blanks(char *text)
{
    return text + strspn(text, CONFLINE_BLANKS);
}

static bool is_end(const char *text)
{
    return *text == '\0' || *text == '#';
}

/* The end of an unquoted value: before the blanks at the end of the line or before a comment. */
static char *end_of_bare(char *value)
{
    char *end = value;

    for (char *c = value; *c != '\0' && !(*c == '#' && (c == value || is_blank(c[-1]))); c++)
        if (!is_blank(*c))
            end = c + 1;
    return end;
}

/* Removes the quotes in place. */
static int cut_quoted(char *value, char *error)
{
    char *to = value, *from = value + 1;

    for (; *from != '"' && *from != '\0'; from++) {
        const bool escaped = *from == '\\';

        from += escaped;
        if (escaped && (*from == '\0' || strchr("\"\\n", *from) == NULL))
            return REFUSE("invalid escape in quotes: expected \\\", \\\\ or \\n");
        *to++ = escaped && *from == 'n' ? '\n' : *from;
    }
    if (*from == '\0')
        return REFUSE("missing closing quote");
    *to = '\0';
    return is_end(skip_blanks(from + 1)) ? 0 : REFUSE("unexpected text after the closing quote");
}

int confline_cut(char *line, struct confline *parts, char *error)
{
    char *name = skip_blanks(line), *end, *value;

    *parts = (struct confline){0};
    if (is_end(name))
        return 0;
    end = name + strcspn(name, CONFLINE_BLANKS "=");
    value = skip_blanks(end);
    if (end == name)
        return REFUSE("missing name before '='");
    if (*value != '=' && !is_end(value))
        return REFUSE("missing '=' after '%.*s'", (int)(end - name < 60 ? end - name : 60), name);
    parts->name = name;
    if (*value == '=') {
        parts->value = skip_blanks(value + 1);
        if (*parts->value == '"') {
            if (cut_quoted(parts->value, error) != 0)
                return -1;
        } else {
            *end_of_bare(parts->value) = '\0';
            if (*parts->value == '\0')
                return REFUSE("missing value after '='");
        }
    }
    *end = '\0';
    return 0;
}

static bool needs_quotes(const char *value)
{
    const size_t n = strlen(value);

    if (n == 0 || is_blank(value[0]) || is_blank(value[n - 1]) || value[0] == '"' ||
        value[0] == '#' || strchr(value, '\n') != NULL)
        return true;
    for (const char *c = value + 1; *c != '\0'; c++)
        if (*c == '#' && is_blank(c[-1]))
            return true;
    return false;
}

void confline_print(FILE *out, const char *name, const char *value)
{
    if (!needs_quotes(value)) {
        fprintf(out, "%s = %s\n", name, value);
        return;
    }
    fprintf(out, "%s = \"", name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\' || *value == '\n')
            fputc('\\', out);
        fputc(*value == '\n' ? 'n' : *value, out);
    }
    fputs("\"\n", out);
}
