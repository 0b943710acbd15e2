/* SPDX-License-Identifier: MIT
 * fuzz_query_dns: arbitrary input for the parser of DNS answers, cut anywhere.  The parser finds
 * the same answers however the input is split, consumes all of it, and never reads beyond it. */
#include "fuzz.h"
#include "protocol/query.h"
#include "protocol/query_init.h"

#include <string.h>

enum { MOST_ANSWERS = 4096 };

struct found {
    uint16_t ids[MOST_ANSWERS];
    uint8_t status[MOST_ANSWERS];
    int n;
    int malformed;
};

/* Feeds pieces of `piece` bytes, each in separate memory, so that sanitizers detect overruns. */
static void parse(const struct query *q, const uint8_t *data, size_t n_bytes, size_t piece,
                  struct found *found)
{
    struct query_stream stream = {0};

    memset(found, 0, sizeof *found);
    for (size_t at = 0; at < n_bytes && !found->malformed; at += piece) {
        size_t n = n_bytes - at < piece ? n_bytes - at : piece;
        uint8_t *copy = malloc(n);
        struct query_input in = {copy, n};
        enum query_event event;

        REQUIRE(copy != NULL);
        memcpy(copy, data + at, n);
        while ((event = query_next(q, &stream, &in)) == QUERY_REPLY && found->n < MOST_ANSWERS) {
            REQUIRE((stream.status & QUERY_STATUS_CODE) < QUERY_N_CODES);
            found->status[found->n] = stream.status;
            found->ids[found->n++] = stream.id;
        }
        REQUIRE(event != QUERY_MORE || in.n_bytes == 0);
        found->malformed = event == QUERY_MALFORMED;
        free(copy);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static struct found whole, cut;
    char error[QUERY_ERROR_BYTES];
    struct query q;

    if (n_bytes < 1 || n_bytes > FUZZ_MOST_BYTES)
        return 0;
    REQUIRE(query_init(&q, 0, &(struct query_ask){0}, error) == 0);
    parse(&q, data + 1, n_bytes - 1, n_bytes, &whole);
    parse(&q, data + 1, n_bytes - 1, data[0] % 64 + 1u, &cut); /* the first byte selects the cuts */
    if (whole.n < MOST_ANSWERS) {
        REQUIRE(whole.n == cut.n && whole.malformed == cut.malformed);
        REQUIRE(memcmp(whole.ids, cut.ids, sizeof whole.ids) == 0);
        REQUIRE(memcmp(whole.status, cut.status, sizeof whole.status) == 0);
    }
    query_free(&q);
    return 0;
}
