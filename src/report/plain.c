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

bool plain_is(const char *text)
{
    while (*text != '\0' && !is_control(*text))
        text++;
    return *text == '\0';
}
