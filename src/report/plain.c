/* SPDX-License-Identifier: MIT
 * plain: see report/plain.h. */
#include "report/plain.h"

#include "base/utf8.h"

#include <stdio.h>

const char *plain(char copy[PLAIN_BYTES], const char *text)
{
    snprintf(copy, PLAIN_BYTES, "%s", text != NULL ? text : "-");
    utf8_replace_controls(copy);
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

    while (*text != '\0') {
        const unsigned n_control = utf8_control_bytes(text);

        fputc(n_control > 0 ? '?' : *text, out);
        text += n_control > 0 ? n_control : 1;
    }
    if (columns > n)
        fprintf(out, "%*s", columns - n, "");
}

bool plain_is(const char *text)
{
    while (*text != '\0' && utf8_control_bytes(text) == 0)
        text++;
    return *text == '\0';
}
