/* SPDX-License-Identifier: MIT
 * text: inputs that are text, for the targets whose parts take it. */
#ifndef TCPSCALER_FUZZ_TEXT_H
#define TCPSCALER_FUZZ_TEXT_H

#include "fuzz.h"

#include <string.h>

/* A copy in memory of its own, so that a sanitizer sees every overrun; terminated.  To be freed.
 * NULL: it is no text, a NUL is in it. */
static inline char *fuzz_text(const uint8_t *data, size_t n_bytes)
{
    char *text;

    if (memchr(data, 0, n_bytes) != NULL)
        return NULL;
    text = malloc(n_bytes + 1);
    REQUIRE(text != NULL);
    memcpy(text, data, n_bytes);
    text[n_bytes] = '\0';
    return text;
}

/* What is said of a text that is refused: something, and less than its room. */
static inline void fuzz_require_error(const char *error, size_t room)
{
    REQUIRE(error[0] != '\0' && strnlen(error, room) < room);
}

#endif
