/* SPDX-License-Identifier: MIT
 * fuzz_endpoint: arbitrary hosts and ports.  Accepted input, written with brackets and port, parses
 * to the same. */
#include "base/endpoint.h"
#include "text.h"

static void require_again(const struct endpoint *e)
{
    char text[ENDPOINT_HOST_BYTES + 16];
    struct endpoint again = {.port = 0};

    if (e->port != 0)
        snprintf(text, sizeof text, "[%s]:%u", e->host, e->port);
    else
        snprintf(text, sizeof text, "[%s]", e->host);
    REQUIRE(endpoint_parse(text, &again) == 0);
    REQUIRE(strcmp(again.host, e->host) == 0 && again.port == e->port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *text = fuzz_text(data, n_bytes);
    struct endpoint e = {.host = "untouched"};
    uint16_t port = 1, any = 1;

    if (text == NULL)
        return 0;
    if (endpoint_parse(text, &e) == 0) {
        REQUIRE(e.host[0] != '\0' && strlen(e.host) <= n_bytes);
        if (strchr(e.host, ']') ==
            NULL) /* no host contains one; rejecting it is up to the resolver */
            require_again(&e);
    } else {
        REQUIRE(strcmp(e.host, "untouched") == 0 && e.port == 0);
    }
    if (endpoint_parse_port(text, 0, &port) == 0)
        REQUIRE(port != 0 && endpoint_parse_port(text, 1, &any) == 0 && any == port);
    else
        REQUIRE(port == 1);
    free(text);
    return 0;
}
