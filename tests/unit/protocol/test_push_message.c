/* SPDX-License-Identifier: MIT
 * test_push_message: the format byte by byte, any split, any damage; sequence numbers. */
#include "protocol/push_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = 512, N_MESSAGES = 5 };

static struct push_pattern pattern;

static const struct push_message example = {
    .n_bytes = SIZE,
    .sequence = 0x0405060708,
    .intended_ns = 0x1112131415161718,
    .sent_ns = 0x2122232425262728,
    .realtime_offset_ns = 0x3132333435363738,
    .clock_id = 0x4142434445464748,
};

static int setup(void **state)
{
    (void)state;
    push_pattern_fill(&pattern);
    return 0;
}

static void message_has_the_documented_layout(void **state)
{
    static const uint8_t head[] = {
        0,    0,    2,    0,    'T',  'P',  'M',  '1',  0,    0,    0,    0x04,
        0x05, 0x06, 0x07, 0x08, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x31, 0x32, 0x33, 0x34,
        0x35, 0x36, 0x37, 0x38, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
    };
    uint8_t out[SIZE];

    (void)state;
    push_encode(&example, &pattern, out);
    assert_memory_equal(out, head, sizeof head);
    for (unsigned i = PUSH_HEADER_BYTES; i < SIZE; i++)
        assert_int_equal(out[i], (uint8_t)(out[PUSH_HEADER_BYTES - 1] + i));
}

static void assert_is_example(const struct push_message *m, uint64_t sequence)
{
    assert_int_equal(m->n_bytes, SIZE);
    assert_int_equal(m->sequence, sequence);
    assert_int_equal(m->intended_ns, example.intended_ns);
    assert_int_equal(m->sent_ns, example.sent_ns);
    assert_int_equal(m->realtime_offset_ns, example.realtime_offset_ns);
    assert_int_equal(m->clock_id, example.clock_id);
}

static void messages_survive_every_split(void **state)
{
    static uint8_t all[N_MESSAGES * SIZE];

    (void)state;
    for (uint64_t i = 0; i < N_MESSAGES; i++) {
        struct push_message m = example;

        m.sequence = i;
        push_encode(&m, &pattern, all + i * SIZE);
    }
    for (size_t step = 1; step <= sizeof all; step++) {
        struct push_stream stream = {0};
        uint64_t found = 0;

        for (size_t at = 0; at < sizeof all; at += step) {
            struct query_input in = {all + at, sizeof all - at < step ? sizeof all - at : step};
            enum push_event event;

            while ((event = push_next(&stream, &pattern, &in)) == PUSH_MESSAGE)
                assert_is_example(&stream.message, found++);
            assert_int_equal(event, PUSH_MORE);
            assert_int_equal(in.n_bytes, 0);
        }
        assert_int_equal(found, N_MESSAGES);
        assert_int_equal(stream.offset, 0);
    }
}

static void smallest_and_largest_message_pass(void **state)
{
    static uint8_t out[PUSH_MAX_BYTES];
    static const uint32_t sizes[] = {PUSH_MIN_BYTES, PUSH_MAX_BYTES};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct push_stream stream = {0};
        struct push_message m = example;
        struct query_input in = {out, sizes[i]};

        m.n_bytes = sizes[i];
        push_encode(&m, &pattern, out);
        assert_int_equal(push_next(&stream, &pattern, &in), PUSH_MESSAGE);
        assert_int_equal(in.n_bytes, 0);
    }
}

static void every_changed_bit_is_found(void **state)
{
    uint8_t out[2 * SIZE];

    (void)state;
    for (unsigned bit = 0; bit < SIZE * 8; bit++) {
        struct push_stream stream = {0};
        struct query_input in = {out, sizeof out};

        push_encode(&example, &pattern, out);
        push_encode(&example, &pattern, out + SIZE);
        out[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (bit < PUSH_HEADER_BYTES * 8) {
            assert_int_equal(push_next(&stream, &pattern, &in), PUSH_MALFORMED);
        } else {
            assert_int_equal(push_next(&stream, &pattern, &in), PUSH_DAMAGED);
            assert_is_example(&stream.message, example.sequence);
            assert_int_equal(push_next(&stream, &pattern, &in), PUSH_MESSAGE);
        }
    }
}

static void length_out_of_range_is_malformed(void **state)
{
    static const uint32_t sizes[] = {PUSH_MIN_BYTES - 1, PUSH_MAX_BYTES + 1};
    static uint8_t out[PUSH_MAX_BYTES + 1];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct push_stream stream = {0};
        struct push_message m = example;
        struct query_input in = {out, PUSH_MIN_BYTES};

        m.n_bytes = sizes[i];
        push_encode(&m, &pattern, out);
        assert_int_equal(push_next(&stream, &pattern, &in), PUSH_MALFORMED);
    }
}

/* As many missing messages would make the count of those lost wrap. */
static void number_that_no_connection_reaches_is_malformed(void **state)
{
    static const struct {
        uint64_t sequence;
        enum push_event event;
    } cases[] = {{PUSH_LAST_SEQUENCE, PUSH_MESSAGE},
                 {PUSH_LAST_SEQUENCE + 1, PUSH_MALFORMED},
                 {UINT64_MAX, PUSH_MALFORMED}};
    uint8_t out[SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct push_stream stream = {0};
        struct push_message m = example;
        struct query_input in = {out, sizeof out};

        m.sequence = cases[i].sequence;
        push_encode(&m, &pattern, out);
        assert_int_equal(push_next(&stream, &pattern, &in), cases[i].event);
    }
}

static void gaps_are_losses_and_passed_numbers_duplicates(void **state)
{
    static const struct {
        uint64_t sequence, n_lost;
        bool is_new;
    } steps[] = {
        {0, 0, true},  {1, 0, true}, {1, 0, false},           {4, 2, true},
        {3, 0, false}, {5, 0, true}, {1000005, 999999, true}, {0, 0, false},
    };
    uint64_t next = 0, n_lost;

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_int_equal(push_sequence_take(&next, steps[i].sequence, &n_lost), steps[i].is_new);
        assert_int_equal(n_lost, steps[i].n_lost);
    }
    assert_int_equal(next, 1000006);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_has_the_documented_layout),
        cmocka_unit_test(messages_survive_every_split),
        cmocka_unit_test(smallest_and_largest_message_pass),
        cmocka_unit_test(every_changed_bit_is_found),
        cmocka_unit_test(length_out_of_range_is_malformed),
        cmocka_unit_test(number_that_no_connection_reaches_is_malformed),
        cmocka_unit_test(gaps_are_losses_and_passed_numbers_duplicates),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
