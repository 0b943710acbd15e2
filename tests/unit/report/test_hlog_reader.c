/* SPDX-License-Identifier: MIT
 * test_hlog_reader: logs written by hlog and by HdrHistogram's Python library (hdrhistogram 0.10.3
 * of PyPI, with that library's values), and invalid logs.  Linked with --wrap=uncompress. */
#include "report/hlog_reader.h"

#include "measure/hlog.h"
#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

static struct hist read_back;
static char error[HLOG_ERROR_BYTES];
static bool is_out_of_memory;

int __real_uncompress(Bytef *to, uLongf *n_to, const Bytef *from, uLong n_from);
int __wrap_uncompress(Bytef *to, uLongf *n_to, const Bytef *from, uLong n_from);

int __wrap_uncompress(Bytef *to, uLongf *n_to, const Bytef *from, uLong n_from)
{
    return is_out_of_memory ? Z_MEM_ERROR : __real_uncompress(to, n_to, from, n_from);
}

static int start(void **state)
{
    (void)state;
    return hist_init(&read_back);
}

static int end(void **state)
{
    (void)state;
    hist_free(&read_back);
    return 0;
}

static int read_line(const char *line)
{
    struct hlog_interval interval;

    hist_reset(&read_back);
    if (hlog_reader_line(line, &interval, error) != HLOG_INTERVAL)
        return -1;
    return hlog_reader_histogram(&interval, &read_back, error);
}

static void intervals_written_by_hlog_are_read_back(void **state)
{
    struct hist h;
    char *text;
    uint64_t value = 1;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < round * 20000; i++) {
            value = value * 6364136223846793005u + 1442695040888963407u;
            hist_record(&h, 1 + (value >> 20) % 1000000007);
        }
        hist_record_beyond(&h, 500 + (uint64_t)round);
        assert_int_equal(hlog_interval(print_open(), NULL, 0, 1000000000, &h), 0);
        text = print_close();
        assert_int_equal(read_line(text), 0);
        assert_int_equal(read_back.count, h.count);
        assert_int_equal(read_back.beyond, h.beyond);
        assert_memory_equal(read_back.counts, h.counts, HIST_COUNTS * sizeof *h.counts);
        assert_int_equal(read_back.max_ns, h.max_ns);
        if (h.count > 0) {
            assert_int_equal(hist_index(read_back.min_ns), hist_index(h.min_ns));
            assert_true(hist_mean_ns(&read_back) > hist_mean_ns(&h) * 0.9995 &&
                        hist_mean_ns(&read_back) < hist_mean_ns(&h) * 1.0005);
            assert_true(hist_stddev_ns(&read_back) > hist_stddev_ns(&h) * 0.999 &&
                        hist_stddev_ns(&read_back) < hist_stddev_ns(&h) * 1.001);
        }
        free(text);
    }
    hist_free(&h);
}

static void large_counts_come_back(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record(&h, 5);
    hist_record(&h, HIST_HIGHEST_NS);
    h.counts[5] = 1ull << 61; /* nine bytes */
    assert_int_equal(hlog_interval(print_open(), NULL, 0, 1000000000, &h), 0);
    text = print_close();
    assert_int_equal(read_line(text), 0);
    assert_int_equal(read_back.counts[5], 1ull << 61);
    assert_int_equal(read_back.count, (1ull << 61) + 1);
    assert_int_equal(read_back.max_ns, HIST_HIGHEST_NS);
    free(text);
    hist_free(&h);
}

/* HdrHistogram(1, 3600000000000, 3): 3 times 1000, 7 times 80000, once 2769001. */
#define FOREIGN "HISTFAAAACp4nJNpmSzMwMDAyQABzFCaEch0M9ixgMH+A0TgPD/bx2S+k4FMAIkLB7Y="

static void histogram_of_another_library_has_its_values(void **state)
{
    (void)state;
    assert_int_equal(read_line("Tag=x,1.500,1.000,2.769001," FOREIGN "\r\n"), 0);
    assert_int_equal(read_back.count, 11);
    assert_int_equal(read_back.counts[hist_index(1000)], 3);
    assert_int_equal(read_back.counts[hist_index(80000)], 7);
    assert_int_equal(read_back.counts[hist_index(2769001)], 1);
    assert_int_equal(read_back.min_ns, 1000);
    assert_int_equal(read_back.max_ns, 2769001);
    assert_true(hist_mean_ns(&read_back) > 303013.09 * 0.9999 &&
                hist_mean_ns(&read_back) < 303013.09 * 1.0001);
    /* Divides by n - 1, the library by n. */
    assert_true(hist_stddev_ns(&read_back) / 780868.3620689627 < 1.05);
    assert_true(hist_stddev_ns(&read_back) / 780868.3620689627 > 1.04);
}

static void maximum_of_another_bucket_is_not_believed(void **state)
{
    (void)state;
    assert_int_equal(read_line("0,1,9.999," FOREIGN), 0);
    assert_int_equal(read_back.max_ns, hist_highest_of(hist_index(2769001)));
}

static void lines_say_what_they_are(void **state)
{
    struct hlog_interval i;

    (void)state;
    assert_int_equal(hlog_reader_line("#[Logged with x]\n", &i, error), HLOG_NOTE);
    assert_int_equal(hlog_reader_line("\"StartTimestamp\",\"Interval_Length\"\n", &i, error),
                     HLOG_NOTE);
    assert_int_equal(hlog_reader_line("\n", &i, error), HLOG_NOTE);
    assert_int_equal(
        hlog_reader_line("#[StartTime: 1769903999.123 (seconds since epoch), x]\n", &i, error),
        HLOG_START);
    assert_int_equal(i.begin_ns, 1769903999123000000);
    assert_int_equal(hlog_reader_line("Tag=send_lag,1.5,0.25,2.769001,AAAA\n", &i, error),
                     HLOG_INTERVAL);
    assert_string_equal(i.tag, "send_lag");
    assert_int_equal(i.begin_ns, 1500000000);
    assert_int_equal(i.length_ns, 250000000);
    assert_int_equal(i.max_ns, 2769001);
    assert_int_equal(i.n_base64, 4);
    assert_int_equal(hlog_reader_line("0,1,2,AAAA", &i, error), HLOG_INTERVAL);
    assert_string_equal(i.tag, "");
}

static void assert_refused(const char *line, const char *why)
{
    error[0] = '\0';
    assert_int_equal(read_line(line), -1);
    assert_non_null(strstr(error, why));
}

static void tags_have_at_most_31_characters(void **state)
{
    struct hlog_interval i;

    (void)state;
    assert_int_equal(
        hlog_reader_line("Tag=0123456789012345678901234567890,1.5,1,2,AAAA\n", &i, error),
        HLOG_INTERVAL);
    assert_string_equal(i.tag, "0123456789012345678901234567890");
    assert_int_equal(i.begin_ns, 1500000000);
    assert_refused("Tag=01234567890123456789012345678901,1.5,1,2,AAAA\n",
                   "expected a tag of 1 to 31 printable characters and a comma");
}

static void invalid_histograms_are_refused(void **state)
{
    (void)state;
    assert_refused("hello\n", "start, length and maximum");
    assert_refused("0,1,AAAA\n", "start, length and maximum");
    assert_refused("Tag=,0,1,2,AAAA\n", "a tag of");
    assert_refused("Tag=\x1b[2J,0,1,2,AAAA\n", "printable characters");
    assert_refused("0,1,2,\n", "not a histogram");
    assert_refused("0,1,2,AAA\n", "base64");
    assert_refused("0,1,2,A?==\n", "base64");
    assert_refused("0,1,2,A===\n", "base64");
    assert_refused("0,1,2,AAAAAAAAAAAA\n", "not a histogram");
    assert_refused("0,1,2,HISTFAAAACp4nJNpmSzMwMDAyQABzFCaEch0M9ixgMH+\n", "truncated");
    assert_refused("0,1,2,HISTFAAAACN4nJNpmSzMwMDAxAABMJqRgYHZzWDHAgb7DxABTiYAVw4EVw==\n",
                   "unsupported histogram parameters"); /* 2 digits */
    assert_refused("0,1,2,HISTFAAAAAR4nJNp\n", "cannot decompress");
    is_out_of_memory = true;
    assert_refused("0,1,2,HISTFAAAAAR4nJNp\n", "out of memory");
    is_out_of_memory = false;
}

/* A histogram of n bytes of counts, with this project's parameters. */
static void make_head(uint8_t data[HLOG_HEAD_BYTES], size_t n)
{
    const uint8_t head[HLOG_HEAD_BYTES] = {0x1c, 0x84,       0x93,     0x13,     0,           0,
                                           0,    (uint8_t)n, [15] = 3, [23] = 1, [32] = 0x3f, 0xf0};

    memcpy(data, head, sizeof head);
}

/* Each parameter alone would give the counts other values. */
static void histograms_with_other_parameters_are_refused(void **state)
{
    static const struct {
        const char *name;
        size_t at;
        bool is_refused;
    } fields[] = {
        {"cookie", 3, true},
        {"length", 7, true},
        {"index offset", 11, true},
        {"digits", 15, true},
        {"lowest value", 23, true},
        {"highest value", 31, false},
        {"conversion ratio", 32, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        uint8_t data[HLOG_HEAD_BYTES + 1];
        int code;

        make_head(data, 1);
        data[HLOG_HEAD_BYTES] = 2;
        data[fields[i].at] ^= 0x40;
        hist_reset(&read_back);
        code = hlog_reader_counts(data, sizeof data, 0, &read_back, error);
        if ((code != 0) != fields[i].is_refused)
            fail_msg("%s: %d", fields[i].name, code);
    }
}

static int read_counts(const uint8_t *counts, size_t n)
{
    uint8_t data[128];

    make_head(data, n);
    memcpy(data + HLOG_HEAD_BYTES, counts, n);
    hist_reset(&read_back);
    return hlog_reader_counts(data, HLOG_HEAD_BYTES + n, 0, &read_back, error);
}

static void counts_are_checked(void **state)
{
    static const uint8_t one[] = {0x01, 0x01, 0x04}; /* two zeros, then a 2 */
    static const uint8_t cut_off[] = {0x02, 0x80};
    static const uint8_t zeros[] = {0xff, 0xff, 0x7f};
    static const uint8_t hour[] = {0x97, 0x8a, 0x04, 0x02};   /* 33,420 zeros, then a 1 */
    static const uint8_t last[] = {0xfd, 0x8f, 0x04, 0x02};   /* of all buckets: unanswered */
    static const uint8_t behind[] = {0xff, 0x8f, 0x04, 0x02}; /* beyond the last bucket */
    static const uint8_t more[] = {0x99, 0x8a, 0x04, 0x02};
    static const uint8_t large[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};

    (void)state;
    assert_int_equal(read_counts(one, sizeof one), 0);
    assert_int_equal(read_back.count, 2);
    assert_int_equal(read_back.counts[2], 2);
    assert_int_equal(read_counts(cut_off, sizeof cut_off), -1);
    assert_non_null(strstr(error, "truncated"));
    assert_int_equal(read_counts(zeros, sizeof zeros), -1);
    assert_non_null(strstr(error, "zeros"));
    assert_int_equal(read_counts(hour, sizeof hour), 0);
    assert_int_equal(hist_index(read_back.max_ns), hist_index(HIST_HIGHEST_NS));
    assert_int_equal(read_counts(more, sizeof more), -1);
    assert_non_null(strstr(error, "above 1 h"));
    assert_int_equal(read_counts(last, sizeof last), 0);
    assert_int_equal(read_back.count, 0);
    assert_int_equal(read_back.beyond, 1);
    assert_int_equal(read_counts(behind, sizeof behind), -1);
    assert_non_null(strstr(error, "above 1 h"));
    assert_int_equal(read_counts(large, 9), 0);
    assert_int_equal(read_counts(large, 10), -1);
    assert_non_null(strstr(error, "2^63"));
}

static void values_of_0_are_kept_as_the_smallest(void **state)
{
    static const uint8_t zeros[] = {0x06};

    (void)state;
    assert_int_equal(read_counts(zeros, sizeof zeros), 0);
    assert_int_equal(read_back.counts[1], 3);
    assert_int_equal(read_back.clamped, 3);
    assert_int_equal(read_back.min_ns, 1);
    assert_int_equal(read_back.max_ns, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_written_by_hlog_are_read_back),
        cmocka_unit_test(large_counts_come_back),
        cmocka_unit_test(histogram_of_another_library_has_its_values),
        cmocka_unit_test(maximum_of_another_bucket_is_not_believed),
        cmocka_unit_test(lines_say_what_they_are),
        cmocka_unit_test(tags_have_at_most_31_characters),
        cmocka_unit_test(invalid_histograms_are_refused),
        cmocka_unit_test(histograms_with_other_parameters_are_refused),
        cmocka_unit_test(counts_are_checked),
        cmocka_unit_test(values_of_0_are_kept_as_the_smallest),
    };

    return cmocka_run_group_tests(tests, start, end);
}
