/* SPDX-License-Identifier: MIT
 * meminfo: see host/meminfo.h. */
#include "host/meminfo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *next_line(const char *line)
{
    line = strchr(line, '\n');
    return line != NULL ? line + 1 : NULL;
}

/* Parses "Name:   17 kB" into bytes. */
static uint64_t value_of(const char *text, const char *name)
{
    const size_t length = strlen(name);

    for (const char *line = text; line != NULL; line = next_line(line))
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return strtoull(line + length + 1, NULL, 10) * 1024;
    return MEMINFO_UNKNOWN;
}

static uint64_t value_or_0(const char *text, const char *name)
{
    const uint64_t value = value_of(text, name);

    return value == MEMINFO_UNKNOWN ? 0 : value;
}

void meminfo_parse(struct meminfo *m, const char *text)
{
    const uint64_t cache = value_or_0(text, "Active(file)") + value_or_0(text, "Inactive(file)");
    const uint64_t pinned =
        value_or_0(text, "Dirty") + value_or_0(text, "Writeback") + value_or_0(text, "Mapped");

    m->total_bytes = value_of(text, "MemTotal");
    m->free_bytes = value_of(text, "MemFree");
    m->cache_bytes = cache > pinned ? cache - pinned : 0;
}

/* "        protection: (0, 2950, 24000)": the largest value. */
static uint64_t largest_of(const char *list)
{
    uint64_t largest = 0, value;
    int n;

    list += strcspn(list, "(");
    while (*list != '\0' && sscanf(list + 1, "%" SCNu64 "%n", &value, &n) == 1) {
        largest = value > largest ? value : largest;
        list += 1 + n;
    }
    return largest;
}

/* Like calculate_totalreserve_pages() in mm/page_alloc.c.  "protection" ends each zone's lines. */
uint64_t meminfo_reserve_bytes(const char *zoneinfo, uint64_t page_bytes)
{
    uint64_t n_pages = 0, high = 0, managed = 0;

    for (const char *line = zoneinfo; line != NULL; line = next_line(line)) {
        const char *word = line + strspn(line, " ");

        (void)sscanf(word, "high %" SCNu64, &high);
        (void)sscanf(word, "managed %" SCNu64, &managed);
        if (strncmp(word, "protection:", 11) == 0) {
            const uint64_t kept = high + largest_of(word);

            n_pages += kept < managed ? kept : managed;
        }
    }
    return n_pages * page_bytes;
}

uint64_t meminfo_left(const struct meminfo *m, uint64_t reserve_bytes)
{
    if (m->free_bytes == MEMINFO_UNKNOWN)
        return MEMINFO_UNKNOWN;
    return m->free_bytes + m->cache_bytes > reserve_bytes
               ? m->free_bytes + m->cache_bytes - reserve_bytes
               : 0;
}
