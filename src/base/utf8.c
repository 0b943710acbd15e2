/* SPDX-License-Identifier: MIT
 * utf8: see base/utf8.h. */
#include "base/utf8.h"

#include <string.h>

size_t utf8_mark_bytes(const char *text, size_t n_bytes)
{
    const size_t n_mark = sizeof UTF8_BYTE_ORDER_MARK - 1;

    return n_bytes >= n_mark && memcmp(text, UTF8_BYTE_ORDER_MARK, n_mark) == 0 ? n_mark : 0;
}

unsigned utf8_take(const unsigned char *text, uint32_t *character)
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

unsigned utf8_control_bytes(const char *text)
{
    uint32_t character;
    const unsigned n = utf8_take((const unsigned char *)text, &character);

    return *text != '\0' && (character < 0x20 || (character >= 0x7f && character <= 0x9f)) ? n : 0;
}

void utf8_replace_controls(char *text)
{
    char *to = text;

    while (*text != '\0') {
        const unsigned n = utf8_control_bytes(text);

        *to++ = n > 0 ? '?' : *text;
        text += n > 0 ? n : 1;
    }
    *to = '\0';
}
