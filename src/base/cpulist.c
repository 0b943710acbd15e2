/* SPDX-License-Identifier: MIT
 * cpulist: see base/cpulist.h. */
#include "base/cpulist.h"

#include <stdbool.h>
#include <stdio.h>

#define REFUSE(...) (snprintf(error, CPULIST_ERROR_BYTES, __VA_ARGS__), -1)

/* Returns the number and moves *text past it, or returns -1. */
static int take_number(const char **text)
{
    int number = 0;

    if (**text < '0' || **text > '9')
        return -1;
    for (; **text >= '0' && **text <= '9'; ++*text) {
        number = number * 10 + (**text - '0');
        if (number >= (int)CPULIST_MOST)
            return -1;
    }
    return number;
}

static bool has(const struct cpulist *list, int cpu)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->cpus[i] == cpu)
            return true;
    return false;
}

/* Parses "3" or "0-3".  Returns 0, or -1 if it is neither or repeats a CPU. */
static int take_range(const char **text, struct cpulist *list)
{
    const int first = take_number(text);
    int last = first;

    if (first >= 0 && **text == '-') {
        ++*text;
        last = take_number(text);
    }
    if (first < 0 || last < first)
        return -1;
    for (int cpu = first; cpu <= last; cpu++) {
        if (has(list, cpu))
            return -1;
        list->cpus[list->n++] = (uint16_t)cpu;
    }
    return 0;
}

int cpulist_parse(const char *text, struct cpulist *list, char *error)
{
    const char *rest = text;

    list->n = 0;
    do {
        if (take_range(&rest, list) != 0 || (*rest != ',' && *rest != '\0')) {
            list->n = 0;
            return REFUSE("invalid value '%.100s': expected CPU numbers from 0 to %u, each once, "
                          "such as 0-3,6",
                          text, CPULIST_MOST - 1);
        }
    } while (*rest++ == ',');
    return 0;
}

int cpulist_of(const struct cpulist *list, uint32_t index)
{
    return list->n > 0 ? list->cpus[index % list->n] : -1;
}
