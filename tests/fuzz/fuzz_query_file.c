/* SPDX-License-Identifier: MIT
 * fuzz_query_file: an arbitrary file of queries.  It is rejected with one line of error, or every
 * line with a word becomes one message that is well-formed, padded as requested and as long as its
 * length field says. */
#include "fuzz.h"
#include "protocol/query.h"
#include "protocol/query_init.h"

#include <string.h>

enum { HEADER_BYTES = 12, TAIL_BYTES = 4, OPT_BYTES = 11, N_WISHES = 4 };

static const struct dns_edns wishes[N_WISHES] = {
    {0}, {.dnssec = true}, {.padding_bytes = 128}, {.udp_bytes = 512, .padding_bytes = 7}};

/* Counts lines with content, that is, neither blank nor comments. */
static size_t count_lines(const char *text, size_t n_bytes)
{
    bool is_begin = true;
    size_t n = 0;

    for (size_t i = 0; i < n_bytes; i++) {
        if (text[i] == '\n') {
            is_begin = true;
        } else if (is_begin && memchr(" \t\r", text[i], 3) == NULL) {
            n += text[i] != ';';
            is_begin = false;
        }
    }
    return n;
}

/* Returns the length of the name that follows the header of a message of n_bytes. */
static size_t name_bytes(const uint8_t *message, size_t n_bytes)
{
    size_t at = HEADER_BYTES;

    while (at < n_bytes && message[at] != 0) {
        REQUIRE(message[at] <= 63);
        at += 1u + message[at];
    }
    REQUIRE(at < n_bytes);
    return at + 1 - HEADER_BYTES;
}

static void check_message(const uint8_t *message, size_t n_bytes, const struct dns_edns *edns)
{
    static const uint8_t header[10] = {0, 0, 1, 0, 0, 1};
    const bool has_opt = edns->udp_bytes > 0 || edns->dnssec || edns->padding_bytes > 0;
    const size_t n_name = name_bytes(message, n_bytes);
    const uint8_t *tail = message + HEADER_BYTES + n_name;
    const size_t n_question = HEADER_BYTES + n_name + TAIL_BYTES;

    REQUIRE(memcmp(message, header, sizeof header) == 0);
    REQUIRE(message[10] == 0 && message[11] == has_opt);
    REQUIRE(n_name <= DNS_NAME_BYTES);
    REQUIRE(n_bytes >= n_question && tail[2] == 0 && tail[3] == 1);
    if (!has_opt) {
        REQUIRE(n_bytes == n_question);
        return;
    }
    REQUIRE(memcmp(tail + TAIL_BYTES, "\0\0\x29", 3) == 0);
    REQUIRE(n_bytes == n_question + OPT_BYTES + (size_t)(tail[13] << 8 | tail[14]));
    if (edns->padding_bytes == 0)
        return;
    REQUIRE(n_bytes % edns->padding_bytes == 0);
    REQUIRE((tail[17] << 8 | tail[18]) < edns->padding_bytes);
}

static void check_queries(const struct query *q, const struct dns_edns *edns)
{
    size_t at = 0, n = 0;

    do {
        const size_t n_bytes = query_size(q, at);

        REQUIRE(n_bytes > 2 && at + n_bytes <= q->n_bytes);
        REQUIRE((size_t)(q->bytes[at] << 8 | q->bytes[at + 1]) == n_bytes - 2);
        check_message(q->bytes + at + 2, n_bytes - 2, edns);
        at = query_after(q, at);
        n++;
    } while (at != 0);
    REQUIRE(n == q->n_queries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    struct query_ask ask = {.lines = {.file = "file"}};
    char error[QUERY_ERROR_BYTES] = "", *text;
    struct query q;

    if (n_bytes < 1 || n_bytes > FUZZ_MOST_BYTES)
        return 0;
    ask.edns = wishes[data[0] % N_WISHES]; /* the first byte selects the options */
    ask.lines.n_bytes = n_bytes - 1;
    text = malloc(n_bytes > 1 ? n_bytes - 1 : 1); /* separate memory: sanitizers detect overruns */
    REQUIRE(text != NULL);
    ask.lines.text = text;
    memcpy(text, data + 1, n_bytes - 1);
    if (query_init(&q, 0, &ask, error) == 0) {
        REQUIRE(q.n_queries == count_lines(text, n_bytes - 1));
        check_queries(&q, &ask.edns);
        query_free(&q);
    } else {
        REQUIRE(strncmp(error, "--query-file: file:", 19) == 0);
        REQUIRE(strlen(error) < QUERY_ERROR_BYTES - 1);
    }
    free(text);
    return 0;
}
