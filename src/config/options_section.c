/* SPDX-License-Identifier: MIT
 * options_section: see config/options_section.h. */
#include "config/options_section.h"

#include "config/confline.h"

#include <stdio.h>
#include <string.h>

#define NAME_KEY "name"

#define REFUSE(...) (snprintf(reason, OPTIONS_SECTION_ERROR_BYTES, __VA_ARGS__), -1)

int options_section_add(struct options_sections *all, unsigned source,
                        const struct options_section *section, char *reason)
{
    if (all->source != source)
        all->n = 0;
    all->source = source;
    if (all->n == OPTIONS_SECTION_MOST)
        return REFUSE("%s: expected at most %d", section->option, OPTIONS_SECTION_MOST);
    all->items[all->n++] = *section;
    return 0;
}

/* Returns the value if this setting is "name = VALUE", otherwise NULL. */
static const char *value_of_name(const char *setting)
{
    setting += strspn(setting, CONFLINE_BLANKS);
    if (strncmp(setting, NAME_KEY, strlen(NAME_KEY)) != 0)
        return NULL;
    setting += strlen(NAME_KEY);
    setting += strspn(setting, CONFLINE_BLANKS);
    return *setting == '=' ? setting + 1 + strspn(setting + 1, CONFLINE_BLANKS) : NULL;
}

const char *options_section_find_name(const char *text, size_t *n_bytes)
{
    for (;; text++) {
        const char *value = value_of_name(text);

        *n_bytes = value != NULL ? strcspn(value, CONFLINE_BLANKS ",") : 0;
        if (*n_bytes > 0)
            return value;
        text += strcspn(text, ",");
        if (*text == '\0')
            return NULL;
    }
}

bool options_section_is_header(const char *line)
{
    return line[strspn(line, CONFLINE_BLANKS)] == '[';
}

int options_section_cut_header(char *line, char **option, char **name, char *reason)
{
    char *end = strchr(line, ']'), *rest;

    if (end == NULL || (end[1 + strspn(end + 1, CONFLINE_BLANKS)] != '\0' &&
                        end[1 + strspn(end + 1, CONFLINE_BLANKS)] != '#'))
        return REFUSE("invalid header '%.80s': expected [OPTION NAME]", line);
    *end = '\0';
    rest = strchr(line, '[') + 1;
    rest += strspn(rest, CONFLINE_BLANKS);
    *option = strsep(&rest, CONFLINE_BLANKS);
    *name = NULL;
    if (rest == NULL || rest[strspn(rest, CONFLINE_BLANKS)] == '\0')
        return 0;
    *name = rest + strspn(rest, CONFLINE_BLANKS);
    rest = *name + strcspn(*name, CONFLINE_BLANKS);
    if (rest[strspn(rest, CONFLINE_BLANKS)] != '\0')
        return REFUSE("invalid header '[%.30s %.40s]': expected one NAME", *option, *name);
    *rest = '\0';
    return 0;
}

unsigned options_section_cut_lines(char **rest, char **lines)
{
    static char none[] = "";
    char *end = *rest;
    unsigned n = 0;

    for (; end != NULL && !options_section_is_header(end); n++) {
        end = strchr(end, '\n');
        end = end != NULL ? end + 1 : NULL;
    }
    *lines = n > 0 ? *rest : none;
    if (n > 0 && end != NULL)
        end[-1] = '\0';
    *rest = end;
    return n;
}
