/* SPDX-License-Identifier: MIT
 * fuzz_proxy_header: arbitrary bytes in place of a PROXY header.  However the input is split, the
 * result and its end are the same; no header is longer than its limit; and the addresses of a
 * header survive writing and reading it in either version.
 *
 * The first byte selects the cuts. */
#include "fuzz.h"
#include "protocol/proxy_header.h"

#include <stdbool.h>
#include <string.h>

struct found {
    enum proxy_header_event event;
    size_t n_taken;
    struct proxy_header header;
};

/* Pieces in separate memory, so that sanitizers detect overruns. */
static void parse(const uint8_t *data, size_t n_bytes, size_t piece, struct found *found)
{
    struct proxy_header_stream stream = {0};

    memset(found, 0, sizeof *found);
    for (size_t at = 0; at < n_bytes && found->event == PROXY_HEADER_MORE; at += piece) {
        const size_t n = n_bytes - at < piece ? n_bytes - at : piece;
        uint8_t *copy = malloc(n);
        struct query_input in = {copy, n};

        REQUIRE(copy != NULL);
        memcpy(copy, data + at, n);
        found->event = proxy_header_next(&stream, &in, &found->header);
        found->n_taken += n - in.n_bytes;
        REQUIRE(found->event != PROXY_HEADER_MORE || in.n_bytes == 0);
        free(copy);
    }
}

static bool is_same(const struct proxy_header *a, const struct proxy_header *b)
{
    return a->family == b->family && memcmp(a->source, b->source, sizeof a->source) == 0 &&
           memcmp(a->destination, b->destination, sizeof a->destination) == 0 &&
           a->source_port == b->source_port && a->destination_port == b->destination_port;
}

static void require_again(const struct proxy_header *h, enum proxy_header_version version)
{
    uint8_t out[PROXY_HEADER_V1_MAX_BYTES];
    struct proxy_header again = *h;
    struct found found;
    size_t n;

    again.version = version;
    n = proxy_header_write(&again, out);
    REQUIRE(n <= sizeof out);
    parse(out, n, n, &found);
    REQUIRE(found.event == PROXY_HEADER_COMPLETE && found.n_taken == n);
    REQUIRE(found.header.version == version && is_same(&found.header, h));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    struct found whole, cut;
    size_t most;

    if (n_bytes < 2 || n_bytes > FUZZ_MOST_BYTES)
        return 0;
    parse(data + 1, n_bytes - 1, n_bytes - 1, &whole);
    parse(data + 1, n_bytes - 1, 1u + data[0], &cut);
    REQUIRE(whole.event == cut.event && whole.n_taken == cut.n_taken);
    most = data[1] == 'P' ? PROXY_HEADER_V1_MAX_BYTES : PROXY_HEADER_V2_MAX_BYTES;
    REQUIRE(whole.n_taken <= most);
    if (whole.event != PROXY_HEADER_COMPLETE)
        return 0;
    REQUIRE(whole.header.version == cut.header.version && is_same(&whole.header, &cut.header));
    require_again(&whole.header, PROXY_HEADER_V1);
    require_again(&whole.header, PROXY_HEADER_V2);
    return 0;
}
