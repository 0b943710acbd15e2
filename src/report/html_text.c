/* SPDX-License-Identifier: MIT
 * html_text: see report/html_text.h. */
#include "report/html_text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* Reads one character of UTF-8.  Returns its number of bytes; 0: not UTF-8 (RFC 3629). */
static unsigned take_character(const unsigned char *text, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned n = text[0] < 0x80   ? 1
                       : text[0] < 0xc0 ? 0
                       : text[0] < 0xe0 ? 2
                       : text[0] < 0xf0 ? 3
                       : text[0] < 0xf8 ? 4
                                        : 0;

    *character = n == 1 ? text[0] : text[0] & (0x7fu >> n);
    for (unsigned i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (text[i] & 0x3fu);
    }
    if (n > 1 && (*character < least[n] || *character > 0x10ffff ||
                  (*character >= 0xd800 && *character <= 0xdfff)))
        return 0;
    return n;
}

/* False for control characters, characters that change the direction of writing, noncharacters. */
static bool is_printable(uint32_t c)
{
    return (c >= 0x20 || c == '\t' || c == '\n') && !(c >= 0x7f && c <= 0x9f) &&
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
        const unsigned n = take_character(at, &character);

        if (n == 0 || !is_printable(character))
            fputs(REPLACEMENT, out);
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
