/* SPDX-License-Identifier: MIT
 * fuzz_dns_keepalive: arbitrary answers, cut anywhere.  What is found does not depend on the cuts,
 * and is what a parser finds that has the whole answer before it. */
#include "fuzz.h"
#include "protocol/dns_keepalive.h"

#include <string.h>

enum { LENGTH_BYTES = 2, HEAD_BYTES = 14, TYPE_OPT = 41 };

/* Pieces of `piece` bytes, each in separate memory, so that sanitizers detect overruns. */
static enum dns_keepalive_found read_pieces(const uint8_t *data, size_t n_bytes, size_t piece,
                                            uint16_t *timeout)
{
    struct dns_keepalive k = {0};
    enum dns_keepalive_found found;

    for (size_t at = 0; at < n_bytes; at += piece) {
        const size_t n = n_bytes - at < piece ? n_bytes - at : piece;
        uint8_t *copy = malloc(n);

        REQUIRE(copy != NULL);
        memcpy(copy, data + at, n);
        dns_keepalive_read(&k, copy, n);
        free(copy);
    }
    found = dns_keepalive_end(&k);
    *timeout = k.timeout;
    return found;
}

/* --- the other parser --- */

struct reader {
    const uint8_t *data;
    size_t n_bytes, at;
    int is_cut;
};

static unsigned read_bytes(struct reader *r, int n)
{
    unsigned value = 0;

    for (; n > 0; n--) {
        r->is_cut |= r->at >= r->n_bytes;
        value = value << 8 | (r->is_cut ? 0 : r->data[r->at++]);
    }
    return value;
}

static void skip(struct reader *r, size_t n)
{
    r->is_cut |= n > r->n_bytes - r->at;
    r->at = r->is_cut ? r->n_bytes : r->at + n;
}

/* Returns whether it is a name. */
static int skip_name(struct reader *r)
{
    unsigned label;

    while ((label = read_bytes(r, 1)) > 0 && label < 0x40)
        skip(r, label);
    if (label >= 0xc0)
        read_bytes(r, 1);
    return (label == 0 || label >= 0xc0) && !r->is_cut;
}

static enum dns_keepalive_found parse_options(struct reader *r, size_t n_bytes, uint16_t *timeout)
{
    enum dns_keepalive_found found = DNS_KEEPALIVE_NONE;

    while (n_bytes > 0) {
        const unsigned code = n_bytes >= 4 ? read_bytes(r, 2) : 0;
        const unsigned n = n_bytes >= 4 ? read_bytes(r, 2) : 0;

        if (n_bytes < 4 || n > n_bytes - 4 || r->is_cut || (code == 11 && n != 2))
            return DNS_KEEPALIVE_MALFORMED;
        n_bytes -= 4 + n;
        if (code == 11) {
            *timeout = (uint16_t)read_bytes(r, 2);
            found = DNS_KEEPALIVE_TIMEOUT;
        } else {
            skip(r, n);
        }
        if (r->is_cut)
            return DNS_KEEPALIVE_MALFORMED;
    }
    return found;
}

static enum dns_keepalive_found parse(const uint8_t *data, size_t n_bytes, uint16_t *timeout)
{
    struct reader r = {data, n_bytes, 0, 0};
    unsigned n_questions, n_before, n_additional;

    if (n_bytes >= LENGTH_BYTES + 3 && (data[LENGTH_BYTES + 2] & 0x80) == 0)
        return DNS_KEEPALIVE_NONE;
    if (n_bytes < HEAD_BYTES)
        return DNS_KEEPALIVE_MALFORMED;
    skip(&r, 6);
    n_questions = read_bytes(&r, 2);
    n_before = read_bytes(&r, 2);
    n_before += read_bytes(&r, 2);
    n_additional = read_bytes(&r, 2);
    for (unsigned i = 0; i < n_questions + n_before + n_additional && r.at < n_bytes; i++) {
        unsigned type, n;

        if (!skip_name(&r))
            return DNS_KEEPALIVE_MALFORMED;
        if (i < n_questions) {
            skip(&r, 4);
        } else {
            type = read_bytes(&r, 2);
            skip(&r, 6);
            n = read_bytes(&r, 2);
            if (!r.is_cut && type == TYPE_OPT && i >= n_questions + n_before)
                return parse_options(&r, n, timeout);
            skip(&r, n);
        }
        if (r.is_cut)
            return DNS_KEEPALIVE_MALFORMED;
    }
    return DNS_KEEPALIVE_NONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    uint16_t whole_timeout, cut_timeout, timeout = 0;
    enum dns_keepalive_found whole, cut;

    if (n_bytes < 1 + LENGTH_BYTES || n_bytes > FUZZ_MOST_BYTES)
        return 0;
    whole = read_pieces(data + 1, n_bytes - 1, n_bytes, &whole_timeout);
    cut = read_pieces(data + 1, n_bytes - 1, data[0] % 64 + 1u, &cut_timeout);
    REQUIRE(whole == cut && whole == parse(data + 1, n_bytes - 1, &timeout));
    if (whole == DNS_KEEPALIVE_TIMEOUT)
        REQUIRE(whole_timeout == cut_timeout && whole_timeout == timeout);
    return 0;
}
