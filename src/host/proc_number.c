/* SPDX-License-Identifier: MIT
 * proc_number: see host/proc_number.h. */
#include "host/proc_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t proc_number(const char *path, const char *head, unsigned nth)
{
    char line[512];
    uint64_t value = PROC_NUMBER_UNKNOWN;
    FILE *f = fopen(path, "re");

    if (f == NULL)
        return PROC_NUMBER_UNKNOWN;
    while (value == PROC_NUMBER_UNKNOWN && fgets(line, sizeof line, f) != NULL) {
        const char *at = line + strlen(head);
        int n_read = 0;

        if (strncmp(line, head, strlen(head)) != 0)
            continue;
        for (unsigned i = 0; i <= nth; i++, at += n_read)
            if (sscanf(at, " %" SCNu64 "%n", &value, &n_read) != 1) {
                fclose(f);
                return PROC_NUMBER_UNKNOWN;
            }
    }
    fclose(f);
    return value;
}

uint64_t proc_number_named(const char *path, const char *head, const char *name)
{
    char line[512], *at;
    uint64_t value = PROC_NUMBER_UNKNOWN;
    FILE *f = fopen(path, "re");

    if (f == NULL)
        return PROC_NUMBER_UNKNOWN;
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, head, strlen(head)) == 0 && (at = strstr(line, name)) != NULL &&
            sscanf(at + strlen(name), "%" SCNu64, &value) != 1)
            value = PROC_NUMBER_UNKNOWN;
    fclose(f);
    return value;
}
