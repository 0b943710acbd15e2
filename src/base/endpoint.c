/* SPDX-License-Identifier: MIT
 * endpoint: see base/endpoint.h. */
#include "base/endpoint.h"

#include <stddef.h>
#include <string.h>

int endpoint_parse_port(const char *text, int zero_allowed, uint16_t *port)
{
    uint32_t value = 0;

    if (*text == '\0')
        return -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint32_t)(*text - '0');
        if (value > 65535)
            return -1;
    }
    if (*text != '\0' || (value == 0 && !zero_allowed))
        return -1;
    *port = (uint16_t)value;
    return 0;
}

/* Splits the text into host and port; port is NULL if there is none. */
static int split(const char *text, const char **host, size_t *n_host, const char **port)
{
    const char *colon = strchr(text, ':'), *bracket;

    *port = NULL;
    *host = text;
    *n_host = strlen(text);
    if (text[0] == '[') {
        bracket = strchr(text, ']');
        if (bracket == NULL || (bracket[1] != '\0' && bracket[1] != ':'))
            return -1;
        *host = text + 1;
        *n_host = (size_t)(bracket - *host);
        *port = bracket[1] == ':' ? bracket + 2 : NULL;
    } else if (colon != NULL && strchr(colon + 1, ':') == NULL) {
        *n_host = (size_t)(colon - text);
        *port = colon + 1;
    }
    return *n_host > 0 && *n_host < ENDPOINT_HOST_BYTES ? 0 : -1;
}

int endpoint_parse(const char *text, struct endpoint *e)
{
    const char *host, *port;
    uint16_t number = 0;
    size_t n_host;

    if (split(text, &host, &n_host, &port) != 0)
        return -1;
    if (port != NULL && endpoint_parse_port(port, 0, &number) != 0)
        return -1;
    memcpy(e->host, host, n_host);
    e->host[n_host] = '\0';
    e->port = number;
    return 0;
}
