/* SPDX-License-Identifier: MIT
 * scenario: see scenario.h. */
#include "scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define NAME(name, simplest) #name,
    SCENARIO_FIELDS(NAME)
#undef NAME
};

static const uint64_t simplest_values[] = {
#define SIMPLEST(name, simplest) simplest,
    SCENARIO_FIELDS(SIMPLEST)
#undef SIMPLEST
};

/* --- fields --- */

uint64_t *scenario_field(struct scenario *s, int i)
{
    return &s->seed + 1 + i; /* all members have one type */
}

uint64_t scenario_simplest_of(int i)
{
    return simplest_values[i];
}

const char *scenario_name_of(int i)
{
    return names[i];
}

struct scenario scenario_simplest(uint64_t seed)
{
    struct scenario s = {.seed = seed};

    for (int i = 0; i < SCENARIO_N_FIELDS; i++)
        *scenario_field(&s, i) = simplest_values[i];
    return s;
}

uint64_t scenario_push_pieces(const struct scenario *s)
{
    return 1 + (s->sndbuf_bytes > 0 ? s->push_bytes / s->sndbuf_bytes : 0);
}

/* --- text --- */

void scenario_print(char text[SCENARIO_TEXT_BYTES], const struct scenario *s)
{
    struct scenario copy = *s;
    size_t n = (size_t)snprintf(text, SCENARIO_TEXT_BYTES, "seed=%" PRIu64, s->seed);

    for (int i = 0; i < SCENARIO_N_FIELDS; i++) {
        const uint64_t value = *scenario_field(&copy, i);

        if (value != simplest_values[i] && n < SCENARIO_TEXT_BYTES)
            n += (size_t)snprintf(text + n, SCENARIO_TEXT_BYTES - n, " %s=%" PRIu64, names[i],
                                  value);
    }
}

static uint64_t *find(struct scenario *s, const char *name, size_t n)
{
    if (n == 4 && memcmp(name, "seed", 4) == 0)
        return &s->seed;
    for (int i = 0; i < SCENARIO_N_FIELDS; i++)
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
            return scenario_field(s, i);
    return NULL;
}

int scenario_parse(struct scenario *s, const char *text)
{
    *s = scenario_simplest(0);
    for (text += strspn(text, " \n"); *text != '\0'; text += strspn(text, " \n")) {
        const size_t n = strcspn(text, "= \n");
        uint64_t *value = find(s, text, n);
        char *end;

        if (value == NULL || text[n] != '=')
            return -1;
        *value = strtoull(text + n + 1, &end, 10);
        if (end == text + n + 1)
            return -1;
        text = end;
    }
    return 0;
}
