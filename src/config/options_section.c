/* SPDX-License-Identifier: MIT
 * options_section: see config/options_section.h. */
#include "config/options_section.h"

#include <stdio.h>
#include <string.h>

#define BLANKS " \t\r"

#define REFUSE(...) (snprintf(reason, OPTIONS_SECTION_ERROR_BYTES, __VA_ARGS__), -1)

int options_section_add(struct options_sections *all, unsigned place,
                        const struct options_section *section)
{
    if (all->place != place)
        all->n = 0;
    all->place = place;
    if (all->n == OPTIONS_SECTION_MOST)
        return -1;
    all->items[all->n++] = *section;
    return 0;
}

bool options_section_is_header(const char *line)
{
    return line[strspn(line, BLANKS)] == '[';
}

int options_section_cut_header(char *line, char **option, char **name, char *reason)
{
    char *end = strchr(line, ']'), *rest;

    if (end == NULL ||
        (end[1 + strspn(end + 1, BLANKS)] != '\0' && end[1 + strspn(end + 1, BLANKS)] != '#'))
        return REFUSE("invalid header '%.80s': expected [OPTION NAME]", line);
    *end = '\0';
    rest = strchr(line, '[') + 1;
    rest += strspn(rest, BLANKS);
    *option = strsep(&rest, BLANKS);
    *name = NULL;
    if (rest == NULL || rest[strspn(rest, BLANKS)] == '\0')
        return 0;
    *name = rest + strspn(rest, BLANKS);
    rest = *name + strcspn(*name, BLANKS);
    if (rest[strspn(rest, BLANKS)] != '\0')
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
