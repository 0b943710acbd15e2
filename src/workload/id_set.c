/* SPDX-License-Identifier: MIT
 * id_set: see workload/id_set.h. */
#include "workload/id_set.h"

static uint64_t bit(unsigned i)
{
    return UINT64_C(1) << i % 64;
}

void id_set_add(struct id_set *s, uint16_t id)
{
    const unsigned word = id / 64u, group = word / 64;

    s->words[word] |= bit(id);
    if (s->words[word] == UINT64_MAX)
        s->groups[group] |= bit(word);
    if (s->groups[group] == UINT64_MAX)
        s->full |= bit(group);
}

void id_set_remove(struct id_set *s, uint16_t id)
{
    const unsigned word = id / 64u, group = word / 64;

    s->words[word] &= ~bit(id);
    s->groups[group] &= ~bit(word);
    s->full &= ~bit(group);
}

/* Returns the first clear bit from number `from` on, 64 if there is none. */
static unsigned first_clear(uint64_t bits, unsigned from)
{
    const uint64_t clear = from < 64 ? ~bits & UINT64_MAX << from : 0;

    return clear != 0 ? (unsigned)__builtin_ctzll(clear) : 64;
}

/* Returns the next id from `from` on, or 65,536. */
static uint32_t next_free(const struct id_set *s, uint32_t from)
{
    unsigned word = from / 64, group = word / 64, i = first_clear(s->words[word], from % 64);

    if (i < 64)
        return word * 64 + i;
    i = first_clear(s->groups[group], word % 64 + 1);
    if (i == 64) {
        group = first_clear(s->full, group + 1);
        if (group >= ID_SET_GROUPS)
            return 64 * ID_SET_WORDS;
        i = first_clear(s->groups[group], 0);
    }
    word = group * 64 + i;
    return word * 64 + first_clear(s->words[word], 0);
}

uint16_t id_set_next_free(const struct id_set *s, uint16_t from)
{
    const uint32_t id = next_free(s, from);

    return (uint16_t)(id < 65536 ? id : next_free(s, 0));
}
