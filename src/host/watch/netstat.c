/* SPDX-License-Identifier: MIT
 * netstat: see host/watch/netstat.h. */
#include "host/watch/netstat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 8192 };

static uint64_t find_counter(const char *names, const char *values, const char *wanted)
{
    char name[64];
    uint64_t value;
    int n_name, n_value;

    names += strcspn(names, " ");
    values += strcspn(values, " ");
    while (sscanf(names, " %63s%n", name, &n_name) == 1 &&
           sscanf(values, " %" SCNu64 "%n", &value, &n_value) == 1) {
        if (strcmp(name, wanted) == 0)
            return value;
        names += n_name;
        values += n_value;
    }
    return NETSTAT_UNKNOWN;
}

uint64_t netstat_read(const char *file, const char *group, const char *name)
{
    char names[LINE_BYTES], values[LINE_BYTES];
    uint64_t value = NETSTAT_UNKNOWN;
    FILE *f = fopen(file, "re");

    if (f == NULL)
        return value;
    while (fgets(names, LINE_BYTES, f) != NULL && fgets(values, LINE_BYTES, f) != NULL)
        if (strncmp(names, group, strlen(group)) == 0)
            value = find_counter(names, values, name);
    fclose(f);
    return value;
}
