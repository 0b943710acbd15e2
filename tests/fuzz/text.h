/* SPDX-License-Identifier: MIT
 * text: text inputs, for targets that parse text. */
#ifndef TCPSCALER_FUZZ_TEXT_H
#define TCPSCALER_FUZZ_TEXT_H

#include "fuzz.h"

#include <string.h>

/* Returns a terminated copy in separate memory, so that sanitizers detect overruns; the caller
 * frees it.  NULL: not text, contains a NUL. */
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

/* The error of a rejected text: not empty, and within its buffer. */
static inline void fuzz_require_error(const char *error, size_t room)
{
    REQUIRE(error[0] != '\0' && strnlen(error, room) < room);
}

#endif
