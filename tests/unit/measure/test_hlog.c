/* SPDX-License-Identifier: MIT
 * test_hlog: the log's text, and its histograms, decoded independently from the specification. */
#include "measure/hlog.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

enum { MOST_BYTES = 1 << 20 };

static uint8_t decoded[MOST_BYTES];

static char *text_of_interval(const char *tag, const struct hist *h)
{
    assert_int_equal(hlog_interval(print_open(), tag, 1500000000, 1000250000, h), 0);
    return print_close();
}

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    return c == '=' ? 0 : (int)(strchr(digits, c) - digits);
}

static size_t decode_base64(const char *text, uint8_t *out)
{
    size_t n = 0;

    for (; *text != '\0' && *text != '\n'; text += 4) {
        uint32_t three = 0;

        for (int i = 0; i < 4; i++)
            three = three << 6 | (uint32_t)digit_of(text[i]);
        for (int i = 0; i < 3 && text[i + 1] != '='; i++)
            out[n++] = (uint8_t)(three >> (16 - 8 * i));
    }
    return n;
}

static uint64_t take(const uint8_t **in, int n_bytes)
{
    uint64_t value = 0;

    for (; n_bytes > 0; n_bytes--)
        value = value << 8 | *(*in)++;
    return value;
}

static int64_t take_zigzag(const uint8_t **in)
{
    uint64_t value = 0;
    int shift = 0;

    for (; shift < 56 && (**in & 0x80) != 0; shift += 7)
        value |= (uint64_t)(*(*in)++ & 0x7f) << shift;
    value |= (uint64_t) * (*in)++ << shift;
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Decodes a line's histogram and compares it with the original. */
static void assert_decodes_to(const char *line, const struct hist *h)
{
    uint8_t *compressed = malloc(MOST_BYTES);
    uLongf n_plain = MOST_BYTES;
    const uint8_t *in = compressed, *end;
    uint64_t n_beyond = 0;
    uint32_t index = 0;
    size_t n_compressed = decode_base64(strrchr(line, ',') + 1, compressed);

    assert_int_equal(take(&in, 4), 0x1c849314);
    assert_int_equal(take(&in, 4), n_compressed - 8);
    assert_int_equal(uncompress(decoded, &n_plain, in, n_compressed - 8), Z_OK);
    in = decoded;
    assert_int_equal(take(&in, 4), 0x1c849313);
    end = decoded + 40 + take(&in, 4);
    assert_int_equal(end - decoded, n_plain);
    assert_int_equal(take(&in, 4), 0);
    assert_int_equal(take(&in, 4), 3);
    assert_int_equal(take(&in, 8), 1);
    assert_int_equal(take(&in, 8), 3600000000000);
    assert_int_equal(take(&in, 8), 0x3ff0000000000000); /* 1.0 */
    while (in < end) {
        int64_t value = take_zigzag(&in);

        if (value < 0) {
            for (; value < 0; value++)
                assert_int_equal(h->counts[index++], 0);
        } else {
            assert_int_equal(index == HIST_BEYOND_INDEX ? h->beyond : h->counts[index], value);
            n_beyond += index++ == HIST_BEYOND_INDEX ? (uint64_t)value : 0;
        }
    }
    assert_int_equal(n_beyond, h->beyond);
    for (; index < HIST_COUNTS; index++)
        assert_int_equal(h->counts[index], 0);
    free(compressed);
}

static void head_is_that_of_format_1_3(void **state)
{
    char *text;

    (void)state;
    hlog_begin(print_open(), "tcpclient", "0.1.0", 1769903999123456789);
    text = print_close();
    assert_string_equal(text, "#[Logged with tcpclient 0.1.0]\n"
                              "#[Histogram log format version 1.3]\n"
                              "#[StartTime: 1769903999.123 (seconds since epoch), "
                              "2026-01-31T23:59:59.123Z]\n"
                              "#[Unanswered samples are counted at 4398.047 s; Interval_Max is "
                              "of the answers, in ms]\n"
                              "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                              "\"Interval_Compressed_Histogram\"\n");
    free(text);
}

static void line_has_times_maximum_and_tag(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record(&h, 2769001);
    hist_record_beyond(&h, 300);
    text = text_of_interval(NULL, &h);
    assert_int_equal(strncmp(text, "1.500,1.000,2.769001,HIST", 25), 0);
    assert_decodes_to(text, &h);
    free(text);
    text = text_of_interval("service", &h);
    assert_int_equal(strncmp(text, "Tag=service,1.500,1.000,2.769001,HIST", 37), 0);
    free(text);
    hist_free(&h);
}

static void every_count_comes_back(void **state)
{
    struct hist h;
    char *text;
    uint64_t value = 1;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    text = text_of_interval(NULL, &h); /* an empty one */
    assert_decodes_to(text, &h);
    free(text);
    hist_record_beyond(&h, 5); /* no values */
    text = text_of_interval(NULL, &h);
    assert_int_equal(strncmp(text, "1.500,1.000,0.000000,HIST", 25), 0);
    assert_decodes_to(text, &h);
    free(text);
    for (int i = 0; i < 50000; i++) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        hist_record(&h, (value >> 20) % 1000000007);
    }
    hist_record(&h, HIST_HIGHEST_NS);
    h.counts[5] = 1ull << 62; /* nine bytes, the last one whole */
    h.counts[6] = 127;
    h.counts[7] = 64;
    h.min_ns = 1;
    text = text_of_interval(NULL, &h);
    assert_decodes_to(text, &h);
    free(text);
    hist_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_is_that_of_format_1_3),
        cmocka_unit_test(line_has_times_maximum_and_tag),
        cmocka_unit_test(every_count_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
