/* SPDX-License-Identifier: MIT
 * plain: see report/plain.h. */
#include "report/plain.h"

#include <stdio.h>

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

const char *plain(char copy[PLAIN_BYTES], const char *text)
{
    snprintf(copy, PLAIN_BYTES, "%s", text != NULL ? text : "-");
    for (char *at = copy; *at != '\0'; at++)
        if (is_control(*at))
            *at = '?';
    return copy;
}

int plain_columns(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80; /* the first byte of a character */
    return n;
}

void plain_print(FILE *out, const char *text, int columns)
{
    const int n = plain_columns(text);

    for (; *text != '\0'; text++)
        fputc(is_control(*text) ? '?' : *text, out);
    if (columns > n)
        fprintf(out, "%*s", columns - n, "");
}

bool plain_is(const char *text)
{
    while (*text != '\0' && !is_control(*text))
        text++;
    return *text == '\0';
}
