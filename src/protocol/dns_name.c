/* SPDX-License-Identifier: MIT
 * dns_name: see protocol/dns_name.h. */
#include "protocol/dns_name.h"

#include <stdbool.h>

enum { LABEL_BYTES = 63, FIRST_PRINTABLE = 0x21, DELETE = 0x7f };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses what follows a backslash.  Returns its length, 0 if it is not an escape. */
static size_t parse_escape(const char *text, size_t n, uint8_t *byte)
{
    int value;

    if (n == 0)
        return 0;
    if (!is_digit(text[0])) {
        *byte = (uint8_t)text[0];
        return 1;
    }
    if (n < 3 || !is_digit(text[1]) || !is_digit(text[2]))
        return 0;
    value = (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0');
    *byte = (uint8_t)value;
    return value <= UINT8_MAX ? 3 : 0;
}

/* Parses one byte of a label.  Returns the number of characters, 0: invalid. */
static size_t parse_byte(const char *text, size_t n, uint8_t *byte)
{
    size_t n_escape;

    *byte = (uint8_t)text[0];
    if (text[0] != '\\')
        return *byte < FIRST_PRINTABLE || *byte == DELETE ? 0 : 1;
    n_escape = parse_escape(text + 1, n - 1, byte);
    return n_escape > 0 ? 1 + n_escape : 0;
}

/* Writes one label with its length.  Returns the number of characters, 0: invalid, or no room for
 * it and the final zero. */
static size_t parse_label(const char *text, size_t n, uint8_t *out, size_t room)
{
    size_t at = 0, n_label = 0;

    while (at < n && text[at] != '.') {
        uint8_t byte;
        const size_t n_taken = parse_byte(text + at, n - at, &byte);

        if (n_taken == 0 || n_label == LABEL_BYTES || 1 + n_label + 1 >= room)
            return 0;
        out[1 + n_label++] = byte;
        at += n_taken;
    }
    out[0] = (uint8_t)n_label;
    return at;
}

size_t dns_name_parse(const char *text, size_t n, uint8_t out[DNS_NAME_BYTES])
{
    size_t at = 0, n_bytes = 0;

    if (n == 0)
        return 0;
    if (n == 1 && text[0] == '.')
        at = n;
    while (at < n) {
        const size_t n_label =
            parse_label(text + at, n - at, out + n_bytes, DNS_NAME_BYTES - n_bytes);

        if (n_label == 0)
            return 0;
        n_bytes += 1 + (size_t)out[n_bytes];
        at += n_label;
        at += at < n; /* its dot */
    }
    out[n_bytes++] = 0;
    return n_bytes;
}
