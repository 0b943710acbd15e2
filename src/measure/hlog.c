/* SPDX-License-Identifier: MIT
 * hlog: see measure/hlog.h. */
#include "measure/hlog.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifdef TCPSCALER_HAVE_ZLIB
#include <zlib.h>
#endif

bool hlog_is_available(void)
{
#ifdef TCPSCALER_HAVE_ZLIB
    return true;
#else
    return false;
#endif
}

void hlog_begin(FILE *out, const char *program, const char *version, uint64_t started_epoch_ns)
{
    char date[CLOCK_RFC3339_BYTES];

    fprintf(out,
            "#[Logged with %.20s %.20s]\n"
            "#[Histogram log format version 1.3]\n"
            "#[StartTime: %" PRIu64 ".%03u (seconds since epoch), %s]\n"
            "#[Unanswered samples are counted at %.3f s; Interval_Max is of the answers, in ms]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
            "\"Interval_Compressed_Histogram\"\n",
            program, version, started_epoch_ns / 1000000000,
            (unsigned)(started_epoch_ns / 1000000 % 1000), clock_rfc3339(date, started_epoch_ns),
            (double)hist_highest_of(HIST_BEYOND_INDEX) / 1e9);
}

#ifdef TCPSCALER_HAVE_ZLIB

static uint8_t *put_bytes(uint8_t *out, uint64_t value, int n_bytes)
{
    for (int i = n_bytes - 1; i >= 0; i--, value >>= 8)
        out[i] = (uint8_t)value;
    return out + n_bytes;
}

static uint8_t *put_zigzag(uint8_t *out, int64_t value)
{
    uint64_t rest = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);

    for (int i = 1; i < HLOG_LEB128_BYTES && rest >= 0x80; i++, rest >>= 7)
        *out++ = (uint8_t)(rest | 0x80);
    *out++ = (uint8_t)rest;
    return out;
}

/* Encodes a nonzero count; the zeros before it become one negative number. */
static uint8_t *put_count(uint8_t *out, uint32_t n_zeros, uint64_t count)
{
    if (n_zeros > 0)
        out = put_zigzag(out, -(int64_t)n_zeros);
    return put_zigzag(out, (int64_t)count);
}

/* In index order up to the last nonzero count. */
static uint8_t *put_counts(uint8_t *out, const struct hist *h)
{
    const uint32_t end = h->count > 0 ? hist_index(h->max_ns) + 1 : 0;
    uint32_t next = 0;

    for (uint32_t i = 0; i < end; i++)
        if (h->counts[i] != 0) {
            out = put_count(out, i - next, h->counts[i]);
            next = i + 1;
        }
    return h->beyond > 0 ? put_count(out, HIST_BEYOND_INDEX - next, h->beyond) : out;
}

/* Returns the number of bytes written; out has HLOG_HEAD_BYTES + HIST_COUNTS * HLOG_LEB128_BYTES.
 */
static size_t encode(uint8_t *out, const struct hist *h)
{
    const double ratio = 1.0;
    uint64_t ratio_bits;
    uint8_t *end = put_counts(out + HLOG_HEAD_BYTES, h);

    memcpy(&ratio_bits, &ratio, sizeof ratio_bits);
    out = put_bytes(out, HLOG_V2_COOKIE, 4);
    out = put_bytes(out, (uint64_t)(end - out) - HLOG_HEAD_BYTES + 4, 4);
    out = put_bytes(out, 0, 4); /* offset for normalising the index */
    out = put_bytes(out, HIST_DIGITS, 4);
    out = put_bytes(out, HIST_LOWEST_NS, 8);
    out = put_bytes(out, HIST_HIGHEST_NS, 8);
    out = put_bytes(out, ratio_bits, 8);
    return (size_t)(end - out) + HLOG_HEAD_BYTES;
}

static void put_base64(FILE *out, const uint8_t *data, size_t n_bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < n_bytes; i += 3) {
        const size_t left = n_bytes - i;
        const uint32_t three = (uint32_t)data[i] << 16 |
                               (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                               (left > 2 ? data[i + 2] : 0);

        fputc(digits[three >> 18], out);
        fputc(digits[three >> 12 & 63], out);
        fputc(left > 1 ? digits[three >> 6 & 63] : '=', out);
        fputc(left > 2 ? digits[three & 63] : '=', out);
    }
}

static void put_seconds(FILE *out, uint64_t ns)
{
    fprintf(out, "%" PRIu64 ".%03u,", ns / 1000000000, (unsigned)(ns / 1000000 % 1000));
}

int hlog_interval(FILE *out, const char *tag, uint64_t begin_ns, uint64_t length_ns,
                  const struct hist *h)
{
    const size_t most = HLOG_HEAD_BYTES + (size_t)HIST_COUNTS * HLOG_LEB128_BYTES;
    uLongf n_compressed = compressBound(most);
    uint8_t *plain = malloc(most), *compressed = malloc(HLOG_COMPRESSED_HEAD_BYTES + n_compressed);
    const bool ok = plain != NULL && compressed != NULL &&
                    compress2(compressed + HLOG_COMPRESSED_HEAD_BYTES, &n_compressed, plain,
                              encode(plain, h), Z_DEFAULT_COMPRESSION) == Z_OK;

    if (ok) {
        put_bytes(put_bytes(compressed, HLOG_V2_COMPRESSED_COOKIE, 4), n_compressed, 4);
        if (tag != NULL)
            fprintf(out, "Tag=%s,", tag);
        put_seconds(out, begin_ns);
        put_seconds(out, length_ns);
        fprintf(out, "%" PRIu64 ".%06u,", h->max_ns / 1000000, (unsigned)(h->max_ns % 1000000));
        put_base64(out, compressed, HLOG_COMPRESSED_HEAD_BYTES + n_compressed);
        fputc('\n', out);
    }
    free(plain);
    free(compressed);
    return ok ? 0 : -1;
}

#else

int hlog_interval(FILE *out, const char *tag, uint64_t begin_ns, uint64_t length_ns,
                  const struct hist *h)
{
    (void)out;
    (void)tag;
    (void)begin_ns;
    (void)length_ns;
    (void)h;
    return -1;
}

#endif
