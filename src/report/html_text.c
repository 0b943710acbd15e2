/* SPDX-License-Identifier: MIT
 * html_text: see report/html_text.h. */
#include "report/html_text.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* False for control characters, characters that change the direction of writing, noncharacters. */
static bool is_printable(uint32_t c)
{
    return (c >= 0x20 || c == '\t' || c == '\n') && !(c >= 0x7f && c <= 0x9f) && c != 0x061c &&
           !(c >= 0x200e && c <= 0x200f) && !(c >= 0x202a && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069) && !(c >= 0xfdd0 && c <= 0xfdef) && (c & 0xfffe) != 0xfffe;
}

static void put_byte(FILE *out, unsigned char byte, bool with_quotes)
{
    if (byte == '&')
        fputs("&amp;", out);
    else if (byte == '<')
        fputs("&lt;", out);
    else if (byte == '>')
        fputs("&gt;", out);
    else if (byte == '"' && !with_quotes)
        fputs("&quot;", out);
    else if (byte == '\'' && !with_quotes)
        fputs("&#39;", out);
    else
        fputc(byte, out);
}

static void put(FILE *out, const char *text, bool with_quotes)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t character;

    while (at != NULL && *at != '\0') {
        const unsigned n = utf8_take(at, &character);

        if (n == 0 || !is_printable(character))
            fputs(UTF8_REPLACEMENT, out);
        else if (n == 1)
            put_byte(out, *at, with_quotes);
        else
            fwrite(at, 1, n, out);
        at += n > 0 ? n : 1;
    }
}

void html_text(FILE *out, const char *text)
{
    put(out, text, false);
}

void html_content(FILE *out, const char *text)
{
    put(out, text, true);
}

void html_printf(FILE *out, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) >= 0)
        html_text(out, text);
    va_end(arguments);
    free(text);
}
