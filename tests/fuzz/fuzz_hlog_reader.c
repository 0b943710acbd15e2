/* SPDX-License-Identifier: MIT
 * fuzz_hlog_reader: arbitrary interval logs, line by line, and arbitrary decompressed data.
 * Accepted input is a consistent histogram: counts add up, percentiles increase from minimum to
 * maximum. */
#include "fuzz.h"
#include "report/hlog_reader.h"

#include <string.h>

static void check_histogram(const struct hist *h)
{
    uint64_t sum = 0, below = 0;

    for (uint32_t i = 0; i < HIST_COUNTS; i++)
        sum += h->counts[i];
    REQUIRE(sum == h->count && sum <= INT64_MAX);
    for (uint32_t num = 20; num <= 100 && h->count > 0; num += 20) {
        const uint64_t value = hist_percentile(h, num, 100);

        REQUIRE(value >= h->min_ns && value >= below && value <= h->max_ns);
        below = value;
    }
}

/* In separate memory, so that sanitizers detect overruns. */
static void take_line(const uint8_t *data, size_t n_bytes, struct hist *h)
{
    char error[HLOG_ERROR_BYTES] = "", *line = malloc(n_bytes + 1);
    struct hlog_interval interval;
    enum hlog_line kind;

    REQUIRE(line != NULL);
    memcpy(line, data, n_bytes);
    line[n_bytes] = '\0';
    kind = hlog_reader_line(line, &interval, error);
    REQUIRE(kind != HLOG_BAD || error[0] != '\0');
    hist_reset(h);
    if (kind == HLOG_INTERVAL && hlog_reader_histogram(&interval, h, error) == 0)
        check_histogram(h);
    free(line);
}

static void take_counts(const uint8_t *data, size_t n_bytes, struct hist *h)
{
    static const uint8_t head[] = {0x1c, 0x84, 0x93, 0x13, 0,    0,    0,    0, 0,    0,   0, 0,
                                   0,    0,    0,    3,    0,    0,    0,    0, 0,    0,   0, 1,
                                   0,    0,    3,    0x46, 0x30, 0xb8, 0xa0, 0, 0x3f, 0xf0};
    uint8_t *plain = calloc(1, 40 + n_bytes);
    char error[HLOG_ERROR_BYTES];

    REQUIRE(plain != NULL);
    memcpy(plain, head, sizeof head);
    for (int i = 0; i < 4; i++)
        plain[4 + i] = (uint8_t)(n_bytes >> (24 - 8 * i));
    memcpy(plain + 40, data, n_bytes);
    hist_reset(h);
    if (hlog_reader_counts(plain, 40 + n_bytes, 0, h, error) == 0)
        check_histogram(h);
    free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static struct hist h; /* static: nothing of one input may remain for the next */
    const uint8_t *end;

    if (n_bytes > FUZZ_MOST_BYTES)
        return 0;
    if (h.counts == NULL)
        REQUIRE(hist_init(&h) == 0);
    take_counts(data, n_bytes, &h);
    for (size_t at = 0; at < n_bytes; at = (size_t)(end - data) + 1) {
        end = memchr(data + at, '\n', n_bytes - at);
        if (end == NULL)
            end = data + n_bytes;
        take_line(data + at, (size_t)(end - data) - at, &h);
    }
    return 0;
}
