/* SPDX-License-Identifier: MIT
 * decimal: see report/decimal.h. */
#include "report/decimal.h"

#include <stdbool.h>
#include <stddef.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

const char *decimal_take(const char *text, uint64_t scale, uint64_t *value)
{
    uint64_t whole = 0, part = 0, weight = scale;

    if (!is_digit(*text))
        return NULL;
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(whole, 10u, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole))
            return NULL;
    if (*text == '.')
        for (text++; is_digit(*text); text++)
            part += (weight /= 10) * (uint64_t)(*text - '0');
    if (__builtin_mul_overflow(whole, scale, &whole) || __builtin_add_overflow(whole, part, &whole))
        return NULL;
    *value = whole;
    return text;
}
