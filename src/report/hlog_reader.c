/* SPDX-License-Identifier: MIT
 * hlog_reader: see report/hlog_reader.h. */
#include "report/hlog_reader.h"

#include "base/units.h"
#include "measure/hlog.h"
#include "report/decimal.h"
#include "report/plain.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST_BYTES = HLOG_HEAD_BYTES + HIST_COUNTS * HLOG_LEB128_BYTES };

#define REFUSE(...) (snprintf(error, HLOG_ERROR_BYTES, __VA_ARGS__), -1)

/* --- lines --- */

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

static enum hlog_line take_comment(const char *line, struct hlog_interval *interval)
{
    static const char start[] = "#[StartTime: ";

    if (!begins_with(line, start) ||
        decimal_take(line + sizeof start - 1, UNITS_NS_PER_S, &interval->begin_ns) == NULL)
        return HLOG_NOTE;
    return HLOG_START;
}

/* Parses "Tag=NAME,"; returns what follows, NULL: not a valid tag. */
static const char *take_tag(const char *line, char tag[HLOG_TAG_BYTES])
{
    const char *name = line + strlen("Tag="), *end = strchr(name, ',');

    if (end == NULL || end == name || end - name >= HLOG_TAG_BYTES)
        return NULL;
    memcpy(tag, name, (size_t)(end - name));
    tag[end - name] = '\0';
    return plain_is(tag) ? end + 1 : NULL;
}

static const char *take_column(const char *line, uint64_t scale, uint64_t *value)
{
    const char *end = decimal_take(line, scale, value);

    return end != NULL && *end == ',' ? end + 1 : NULL;
}

enum hlog_line hlog_reader_line(const char *line, struct hlog_interval *interval,
                                char error[HLOG_ERROR_BYTES])
{
    const char *at = line;

    *interval = (struct hlog_interval){.base64 = line};
    if (*line == '#')
        return take_comment(line, interval);
    if (*line == '"' || line[strspn(line, "\r\n")] == '\0')
        return HLOG_NOTE;
    if (begins_with(at, "Tag=") && (at = take_tag(at, interval->tag)) == NULL) {
        (void)REFUSE("expected a tag of 1 to %d printable characters and a comma",
                     HLOG_TAG_BYTES - 1);
        return HLOG_BAD;
    }
    if ((at = take_column(at, UNITS_NS_PER_S, &interval->begin_ns)) == NULL ||
        (at = take_column(at, UNITS_NS_PER_S, &interval->length_ns)) == NULL ||
        (at = take_column(at, UNITS_NS_PER_MS, &interval->max_ns)) == NULL) {
        (void)REFUSE("expected start, length and maximum, each followed by a comma");
        return HLOG_BAD;
    }
    interval->base64 = at;
    interval->n_base64 = strcspn(at, "\r\n");
    return HLOG_INTERVAL;
}

/* --- base64 (RFC 4648) --- */

/* The value of each digit, plus 1; 0: not a digit. */
static const uint8_t digits[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64};

/* Returns the number of bytes, or -1. */
static long decode_base64(const char *text, size_t n_chars, uint8_t *out)
{
    long n_bytes = 0;

    if (n_chars % 4 != 0)
        return -1;
    for (size_t i = 0; i < n_chars; i += 4) {
        const bool last = i + 4 == n_chars;
        const int n_pad = !last || text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
        uint32_t three = 0;

        for (int k = 0; k < 4; k++) {
            const uint8_t digit = k >= 4 - n_pad ? 1 : digits[(uint8_t)text[i + (size_t)k]];

            if (digit == 0)
                return -1;
            three = three << 6 | (digit - 1u);
        }
        for (int k = 0; k < 3 - n_pad; k++)
            out[n_bytes++] = (uint8_t)(three >> (16 - 8 * k));
    }
    return n_bytes;
}

/* --- the encoding --- */

static uint64_t take_number(const uint8_t *in, int n_bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < n_bytes; i++)
        value = value << 8 | in[i];
    return value;
}

/* Returns what follows the number, or NULL if it is truncated. */
static const uint8_t *take_zigzag(const uint8_t *in, const uint8_t *end, int64_t *value)
{
    uint64_t bits = 0;

    for (int i = 0; in < end; i++) {
        const bool last = i == HLOG_LEB128_BYTES - 1;
        const uint8_t byte = *in++;

        bits |= (uint64_t)(last ? byte : byte & 0x7f) << (7 * i);
        if (last || byte < 0x80) {
            *value = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
            return in;
        }
    }
    return NULL;
}

/* A value of 0 is counted as this project's smallest. */
static void add_count(struct hist *h, uint32_t index, uint64_t count)
{
    const uint32_t at = index > 0 ? index : 1;
    const uint64_t middle_ns = hist_lowest_of(at) / 2 + hist_highest_of(at) / 2;

    h->counts[at] += count;
    h->count += count;
    h->clamped += index == 0 ? count : 0;
    hist_add(&h->sum_ns, (hist_uint128)count * middle_ns);
    hist_add(&h->sum_ns2, (hist_uint128)count * middle_ns * middle_ns);
    if (h->min_ns == UINT64_MAX)
        h->min_ns = hist_lowest_of(at);
    h->max_ns = hist_highest_of(at);
}

/* Counts in index order; a negative one is a run of zeros. */
static int take_counts(const uint8_t *in, const uint8_t *end, struct hist *h,
                       char error[HLOG_ERROR_BYTES])
{
    const int64_t n_indexes = hist_index(HIST_HIGHEST_NS) + 1;
    int64_t index = 0, value;

    while (in < end) {
        if ((in = take_zigzag(in, end, &value)) == NULL)
            return REFUSE("the last count is truncated");
        if (value < 0 ? value < -(int64_t)HIST_COUNTS
                      : value > INT64_MAX - (int64_t)(h->count + h->beyond))
            return REFUSE("the run of zeros is too long, or the counts exceed 2^63");
        if (value > 0 && index >= n_indexes && index != HIST_BEYOND_INDEX)
            return REFUSE("values above 1 h");
        if (value > 0 && index == HIST_BEYOND_INDEX)
            hist_record_beyond(h, (uint64_t)value);
        else if (value > 0)
            add_count(h, (uint32_t)index, (uint64_t)value);
        index += value < 0 ? -value : 1;
    }
    return 0;
}

int hlog_reader_counts(const uint8_t *data, size_t n_bytes, uint64_t max_ns, struct hist *h,
                       char error[HLOG_ERROR_BYTES])
{
    static const uint64_t ratio_of_1 = 0x3ff0000000000000;

    if (n_bytes < HLOG_HEAD_BYTES || take_number(data, 4) != HLOG_V2_COOKIE)
        return REFUSE("not a histogram in HdrHistogram's V2 encoding");
    if (take_number(data + 4, 4) != n_bytes - HLOG_HEAD_BYTES)
        return REFUSE("the histogram does not have the length in its header");
    if (take_number(data + 8, 4) != 0 || take_number(data + 12, 4) != HIST_DIGITS ||
        take_number(data + 16, 8) != HIST_LOWEST_NS || take_number(data + 32, 8) != ratio_of_1)
        return REFUSE(
            "unsupported histogram parameters: expected lowest value 1 and %d significant digits",
            HIST_DIGITS);
    if (take_counts(data + HLOG_HEAD_BYTES, data + n_bytes, h, error) != 0)
        return -1;
    if (h->count > 0 && max_ns > 0 && hist_index(max_ns) == hist_index(h->max_ns))
        h->max_ns = max_ns;
    return 0;
}

static int decompress(const uint8_t *data, size_t n_bytes, const struct hlog_interval *interval,
                      struct hist *h, char error[HLOG_ERROR_BYTES])
{
    uLongf n_plain = MOST_BYTES;
    uint8_t *plain;
    int status;

    if (n_bytes < HLOG_COMPRESSED_HEAD_BYTES || take_number(data, 4) != HLOG_V2_COMPRESSED_COOKIE)
        return REFUSE("not a histogram in HdrHistogram's compressed V2 encoding");
    if (take_number(data + 4, 4) != n_bytes - HLOG_COMPRESSED_HEAD_BYTES)
        return REFUSE("the histogram is truncated");
    plain = malloc(MOST_BYTES);
    if (plain == NULL)
        return REFUSE("out of memory");
    status = uncompress(plain, &n_plain, data + HLOG_COMPRESSED_HEAD_BYTES,
                        n_bytes - HLOG_COMPRESSED_HEAD_BYTES);
    status = status == Z_MEM_ERROR ? REFUSE("out of memory")
             : status != Z_OK      ? REFUSE("cannot decompress the histogram")
                                   : hlog_reader_counts(plain, n_plain, interval->max_ns, h, error);
    free(plain);
    return status;
}

int hlog_reader_histogram(const struct hlog_interval *interval, struct hist *h,
                          char error[HLOG_ERROR_BYTES])
{
    uint8_t *data = malloc(interval->n_base64 / 4 * 3 + 1);
    long n_bytes;
    int status;

    if (data == NULL)
        return REFUSE("out of memory");
    n_bytes = decode_base64(interval->base64, interval->n_base64, data);
    status = n_bytes < 0 ? REFUSE("the histogram is truncated or not base64")
                         : decompress(data, (size_t)n_bytes, interval, h, error);
    free(data);
    return status;
}
