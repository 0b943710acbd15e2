/* SPDX-License-Identifier: MIT
 * test_proxy_header: headers of the PROXY protocol, both versions: as written, as read whole and
 * byte by byte, and each way to be malformed. */
#include "protocol/proxy_header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"

/* Without the terminating zero. */
#define BYTES(literal) (literal), sizeof(literal) - 1

static const char payload[] = "Ping";

static const struct proxy_header tcp4 = {
    .version = PROXY_HEADER_V1,
    .family = AF_INET,
    .source = {10, 0, 3, 1},
    .destination = {192, 0, 2, 7},
    .source_port = 1024,
    .destination_port = 65535,
};

static const struct proxy_header tcp6 = {
    .version = PROXY_HEADER_V1,
    .family = AF_INET6,
    .source = {0x20, 0x01, 0x0d, 0xb8, [15] = 9},
    .destination = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                    0xff, 0xff, 0xff},
    .source_port = 0,
    .destination_port = 53,
};

static const struct proxy_header nobody = {.version = PROXY_HEADER_V1, .family = AF_UNSPEC};

static const struct {
    const struct proxy_header *header;
    enum proxy_header_version version;
    const char *bytes;
    size_t n_bytes;
} examples[] = {
    {&tcp4, PROXY_HEADER_V1, BYTES("PROXY TCP4 10.0.3.1 192.0.2.7 1024 65535\r\n")},
    {&tcp6, PROXY_HEADER_V1,
     BYTES("PROXY TCP6 2001:db8::9 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 0 53\r\n")},
    {&nobody, PROXY_HEADER_V1, BYTES("PROXY UNKNOWN\r\n")},
    {&tcp4, PROXY_HEADER_V2,
     BYTES(SIGNATURE "\x21\x11\0\x0c\x0a\0\x03\x01\xc0\0\x02\x07\x04\0\xff\xff")},
    {&tcp6, PROXY_HEADER_V2,
     BYTES(SIGNATURE "\x21\x21\0\x24\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x09"
                     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                     "\0\0\0\x35")},
    {&nobody, PROXY_HEADER_V2, BYTES(SIGNATURE "\x20\0\0\0")},
};

enum { N_EXAMPLES = sizeof examples / sizeof *examples };

static void assert_same(const struct proxy_header *h, const struct proxy_header *expected,
                        enum proxy_header_version version)
{
    assert_int_equal(h->version, version);
    assert_int_equal(h->family, expected->family);
    assert_memory_equal(h->source, expected->source, 16);
    assert_memory_equal(h->destination, expected->destination, 16);
    assert_int_equal(h->source_port, expected->source_port);
    assert_int_equal(h->destination_port, expected->destination_port);
}

/* Reads bytes in pieces of `step`. Returns the last event, and the bytes consumed in *n_taken. */
static enum proxy_header_event read_in_pieces(const uint8_t *bytes, size_t n_bytes, size_t step,
                                              struct proxy_header *h, size_t *n_taken)
{
    struct proxy_header_stream stream = {0};
    enum proxy_header_event event = PROXY_HEADER_MORE;

    *n_taken = 0;
    for (size_t at = 0; at < n_bytes && event == PROXY_HEADER_MORE; at += step) {
        struct query_input in = {bytes + at, n_bytes - at < step ? n_bytes - at : step};

        event = proxy_header_next(&stream, &in, h);
        *n_taken = (size_t)(in.data - bytes);
    }
    return event;
}

static void assert_malformed(const char *bytes, size_t n_bytes)
{
    for (size_t step = 1; step <= n_bytes; step += n_bytes > 1 ? n_bytes - 1 : 1) {
        struct proxy_header h;
        size_t n_taken;

        assert_int_equal(read_in_pieces((const uint8_t *)bytes, n_bytes, step, &h, &n_taken),
                         PROXY_HEADER_MALFORMED);
    }
}

/* A complete header that names no client, followed by payload. */
static void assert_names_nobody(const char *bytes, size_t n_bytes)
{
    uint8_t all[512];
    struct proxy_header h;
    size_t n_taken;

    memcpy(all, bytes, n_bytes);
    memcpy(all + n_bytes, payload, sizeof payload);
    assert_int_equal(read_in_pieces(all, n_bytes + sizeof payload, sizeof all, &h, &n_taken),
                     PROXY_HEADER_COMPLETE);
    assert_int_equal(n_taken, n_bytes);
    assert_int_equal(h.family, AF_UNSPEC);
}

static void written_headers_are_those_of_the_specification(void **state)
{
    uint8_t out[PROXY_HEADER_V1_MAX_BYTES];

    (void)state;
    for (int i = 0; i < N_EXAMPLES; i++) {
        struct proxy_header h = *examples[i].header;

        h.version = examples[i].version;
        assert_int_equal(proxy_header_write(&h, out), examples[i].n_bytes);
        assert_memory_equal(out, examples[i].bytes, examples[i].n_bytes);
    }
}

static void longest_line_fits(void **state)
{
    uint8_t out[PROXY_HEADER_V1_MAX_BYTES];
    struct proxy_header h = tcp6;

    (void)state;
    memset(h.source, 0xff, sizeof h.source);
    h.source_port = h.destination_port = 65535;
    assert_int_equal(proxy_header_write(&h, out), 104);
}

static void header_is_read_whatever_the_pieces_and_payload_is_left(void **state)
{
    (void)state;
    for (int i = 0; i < N_EXAMPLES; i++) {
        const size_t n = examples[i].n_bytes;
        uint8_t all[256];

        memcpy(all, examples[i].bytes, n);
        memcpy(all + n, payload, sizeof payload);
        for (size_t step = 1; step <= n + sizeof payload; step++) {
            struct proxy_header h;
            size_t n_taken;

            assert_int_equal(read_in_pieces(all, n + sizeof payload, step, &h, &n_taken),
                             PROXY_HEADER_COMPLETE);
            assert_int_equal(n_taken, n);
            assert_same(&h, examples[i].header, examples[i].version);
        }
    }
}

static void cut_header_waits_for_more(void **state)
{
    (void)state;
    for (int i = 0; i < N_EXAMPLES; i++)
        for (size_t n = 0; n < examples[i].n_bytes; n++) {
            struct proxy_header h;
            size_t n_taken;

            assert_int_equal(
                read_in_pieces((const uint8_t *)examples[i].bytes, n, n + 1, &h, &n_taken),
                PROXY_HEADER_MORE);
        }
}

static void triples_after_the_addresses_are_skipped(void **state)
{
    static uint8_t all[PROXY_HEADER_V2_MAX_BYTES + sizeof payload];
    const size_t n_rest = PROXY_HEADER_V2_MAX_BYTES - 16;
    static const size_t steps[] = {1, 7, sizeof all};
    struct proxy_header h;
    size_t n_taken;

    (void)state;
    memcpy(all, examples[3].bytes, examples[3].n_bytes);
    all[14] = (uint8_t)(n_rest >> 8);
    all[15] = (uint8_t)n_rest;
    memset(all + examples[3].n_bytes, '\n', sizeof all - examples[3].n_bytes);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_int_equal(read_in_pieces(all, sizeof all, steps[i], &h, &n_taken),
                         PROXY_HEADER_COMPLETE);
        assert_int_equal(n_taken, PROXY_HEADER_V2_MAX_BYTES);
        assert_same(&h, &tcp4, PROXY_HEADER_V2);
    }
}

static void other_protocols_name_nobody(void **state)
{
    char unix_stream[16 + 216] = SIGNATURE "\x21\x31\0\xd8";

    (void)state;
    assert_names_nobody(BYTES("PROXY UNKNOWN ffff::1 whatever stands here\r\n"));
    assert_names_nobody(BYTES(SIGNATURE "\x20\xff\0\x03\x01\x02\x03")); /* LOCAL: family ignored */
    assert_names_nobody(BYTES(SIGNATURE "\x21\0\0\0"));                 /* unspecified */
    assert_names_nobody(BYTES(SIGNATURE "\x21\x10\0\0"));               /* no transport */
    assert_names_nobody(BYTES(SIGNATURE "\x21\x12\0\x0c"
                                        "123456789012")); /* UDP */
    assert_names_nobody(unix_stream, sizeof unix_stream);
}

static void wrong_lines_are_malformed(void **state)
{
    static const char *const lines[] = {
        "GET / HTTP/1.1\r\n",
        "PROXX",
        "proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY\tTCP4",
        "PROXY \r\n",
        "PROXY TCP4\r\n",
        "PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY UNKNOWNS\r\n",
        "PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP4 1.2.3.4  1.2.3.4 1 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 \r\n",
        "PROXY TCP4 1.2.3.4\r\n",
        "PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n",
        "PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP4 256.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP4 ::1 ::1 1 2\r\n",
        "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP6 1:2:3 ::1 1 2\r\n",
        "PROXY TCP6 ::1%lo ::1 1 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 99999\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 100000 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 +2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 2a\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\rP",
        "PROXY UNKNOWN one\rtwo",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_malformed(lines[i], strlen(lines[i]));
    assert_malformed(BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\0\r\n"));
    assert_malformed(BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\0 3\r\n"));
}

/* 107 bytes without the end of the line, and not earlier. */
static void line_ends_within_107_bytes(void **state)
{
    uint8_t line[PROXY_HEADER_V1_MAX_BYTES];
    struct proxy_header h;
    size_t n_taken;

    (void)state;
    memset(line, 'x', sizeof line);
    memcpy(line, "PROXY UNKNOWN ", 14);
    assert_int_equal(read_in_pieces(line, sizeof line - 1, 1, &h, &n_taken), PROXY_HEADER_MORE);
    assert_malformed((const char *)line, sizeof line);
    line[sizeof line - 1] = '\r';
    assert_malformed((const char *)line, sizeof line);
    line[sizeof line - 2] = '\r';
    line[sizeof line - 1] = '\n';
    assert_int_equal(read_in_pieces(line, sizeof line, 1, &h, &n_taken), PROXY_HEADER_COMPLETE);
}

static void wrong_binary_headers_are_malformed(void **state)
{
    (void)state;
    assert_malformed(BYTES("\r\n\r\n\1"));
    assert_malformed(BYTES("\r\n\r\n\0\r\nQUIX"));
    assert_malformed(BYTES(SIGNATURE "\x11"));             /* version 1 */
    assert_malformed(BYTES(SIGNATURE "\x31"));             /* version 3 */
    assert_malformed(BYTES(SIGNATURE "\x22"));             /* neither LOCAL nor PROXY */
    assert_malformed(BYTES(SIGNATURE "\x21\x41"));         /* family 4 */
    assert_malformed(BYTES(SIGNATURE "\x21\x13"));         /* transport 3 */
    assert_malformed(BYTES(SIGNATURE "\x21\x11\0\x0b"));   /* shorter than its addresses */
    assert_malformed(BYTES(SIGNATURE "\x21\x12\0\0"));     /* likewise */
    assert_malformed(BYTES(SIGNATURE "\x21\x21\0\x23"));   /* likewise */
    assert_malformed(BYTES(SIGNATURE "\x21\x31\0\xd7"));   /* likewise */
    assert_malformed(BYTES(SIGNATURE "\x21\x11\x0f\xf1")); /* 4097 bytes */
    assert_malformed(BYTES(SIGNATURE "\x20\0\xff\xff"));   /* 65,551 bytes */
}

static void every_wrong_byte_of_the_start_is_told_at_once(void **state)
{
    static const int binary[] = {0, 3};
    struct proxy_header h;
    size_t n_taken;

    (void)state;
    for (int i = 0; i < 2; i++)
        for (size_t at = 0; at < (i == 0 ? 6 : 12); at++) {
            uint8_t bytes[16];

            memcpy(bytes, examples[binary[i]].bytes, sizeof bytes);
            bytes[at] ^= 0x40;
            assert_int_equal(read_in_pieces(bytes, sizeof bytes, sizeof bytes, &h, &n_taken),
                             PROXY_HEADER_MALFORMED);
            assert_int_equal(n_taken, at + 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_headers_are_those_of_the_specification),
        cmocka_unit_test(longest_line_fits),
        cmocka_unit_test(header_is_read_whatever_the_pieces_and_payload_is_left),
        cmocka_unit_test(cut_header_waits_for_more),
        cmocka_unit_test(triples_after_the_addresses_are_skipped),
        cmocka_unit_test(other_protocols_name_nobody),
        cmocka_unit_test(wrong_lines_are_malformed),
        cmocka_unit_test(line_ends_within_107_bytes),
        cmocka_unit_test(wrong_binary_headers_are_malformed),
        cmocka_unit_test(every_wrong_byte_of_the_start_is_told_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
