/* SPDX-License-Identifier: MIT
 * test_client_record: the row of a connection. */
#include "client/worker/record.h"

#include "measure/outcome.h"
#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

static const struct client_record_about seventh = {.connection_id = 7, .origin_ns = 1000};

/* Returns the row, to be freed by the caller. */
static char *row_of(const struct client_record *r, const struct client_record_about *about)
{
    client_record_print(print_open(), r, about);
    return print_close();
}

static void assert_row(const struct client_record *r, const struct client_record_about *about,
                       const char *wanted)
{
    char *text = row_of(r, about);

    assert_string_equal(text, wanted);
    free(text);
}

static int count_commas(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++)
        n += *text == ',';
    return n;
}

static void row_has_every_figure(void **state)
{
    const struct client_record r = {
        .source = {.address = {.family = AF_INET, .bytes = {127, 0, 0, 2}}, .port = 20001},
        .connect_ns = 1234567,
        .established_ns = 2012346000,
        .bytes_sent = 310,
        .bytes_received = 300,
        .queries = 10,
        .answers = 9,
        .syn_retransmits = 1,
        .retransmits = 3,
        .min_rtt_us = 41,
        .ended_phase = PHASE_RECEIVE,
        .ended_reason = REASON_PEER,
        .proven = true,
        .connections = 2,
        .handshake_ns = 7654321,
        .resumed = true,
        .due_ns = 2011000000,
        .answered_ns = 2021000000,
        .lost_ns = 3000001000,
        .back_ns = 5500001000,
    };

    (void)state;
    assert_row(&r, &seventh,
               "7,127.0.0.2,20001,1234.567,1,10,9,310,300,1,3,41,receive/closed by peer,2,"
               "2.012345,7654.321,1,2.010999,1346.000,9000.321,10000.000,,,3.000000,5.500000,\n");
}

static void another_connection_has_nothing_of_the_one_before_but_counts(void **state)
{
    struct client_record r = {.source = {.address.family = AF_INET, .port = 20001},
                              .min_rtt_us = 41,
                              .connect_ns = 1,
                              .established_ns = 2,
                              .handshake_ns = 3,
                              .answered_ns = 4,
                              .resumed = true,
                              .proven = true,
                              .bytes_sent = 5,
                              .connections = 1};

    (void)state;
    client_record_begin(&r);
    assert_int_equal(r.source.address.family, AF_UNSPEC);
    assert_int_equal(r.source.port, 0);
    assert_int_equal(r.min_rtt_us, 0);
    assert_int_equal(r.connect_ns, 0);
    assert_int_equal(r.established_ns, 0);
    assert_int_equal(r.handshake_ns, 0);
    assert_int_equal(r.answered_ns, 0);
    assert_false(r.resumed);
    assert_false(r.proven);
    assert_int_equal(r.bytes_sent, 5); /* counts go on */
    assert_int_equal(r.connections, 2);
}

static void columns_of_events_that_never_happened_are_empty(void **state)
{
    const struct client_record r = {.source.address.family = AF_UNSPEC,
                                    .ended_phase = PHASE_CONNECT,
                                    .ended_reason = REASON_REFUSED};

    (void)state;
    assert_row(&r, &seventh, "7,,,,0,0,0,0,0,0,0,,connect/refused,0,,,,,,,,,,,,\n");
}

static void identity_is_an_address_and_a_port(void **state)
{
    const struct client_record r = {.source.address.family = AF_UNSPEC,
                                    .ended_phase = PHASE_CONNECT,
                                    .ended_reason = REASON_REFUSED};
    const struct srcplan_tuple identity = {
        .address = {.family = AF_INET6, .bytes = {0xfd, [15] = 1}}, .port = 1024};
    const struct client_record_about about = {
        .connection_id = 7, .identity = &identity, .class_name = "stub"};

    (void)state;
    assert_row(&r, &about, "7,,,,0,0,0,0,0,0,0,,connect/refused,0,,,,,,,,fd00::1,1024,,,stub\n");
}

static void what_only_tcp_has_is_empty_for_udp(void **state)
{
    const struct client_record r = {.source.address.family = AF_UNSPEC,
                                    .queries = 5,
                                    .ended_phase = PHASE_RUN,
                                    .ended_reason = REASON_FINISHED,
                                    .connections = 1};
    const struct client_record_about about = {.connection_id = 7, .udp = true};

    (void)state;
    assert_row(&r, &about, "7,,,,0,5,0,0,0,,,,run/finished,1,,,,,,,,,,,,\n");
}

/* At 100,000 queries per second on one connection, 2^32 are reached after 12 hours. */
static void queries_and_answers_are_counted_beyond_32_bits(void **state)
{
    struct client_record r = {.source.address.family = AF_UNSPEC,
                              .queries = UINT32_MAX,
                              .answers = UINT32_MAX,
                              .ended_phase = PHASE_RUN,
                              .ended_reason = REASON_FINISHED,
                              .connections = 1};

    (void)state;
    r.queries += 2;
    r.answers++;
    assert_row(&r, &seventh, "7,,,,0,4294967297,4294967296,0,0,0,0,,run/finished,1,,,,,,,,,,,,\n");
}

static void header_names_as_many_columns_as_a_row_has(void **state)
{
    const struct client_record r = {.proven = true};
    char *text = row_of(&r, &seventh);

    (void)state;
    assert_int_equal(count_commas(CLIENT_RECORD_HEADER), count_commas(text));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_has_every_figure),
        cmocka_unit_test(another_connection_has_nothing_of_the_one_before_but_counts),
        cmocka_unit_test(columns_of_events_that_never_happened_are_empty),
        cmocka_unit_test(identity_is_an_address_and_a_port),
        cmocka_unit_test(what_only_tcp_has_is_empty_for_udp),
        cmocka_unit_test(queries_and_answers_are_counted_beyond_32_bits),
        cmocka_unit_test(header_names_as_many_columns_as_a_row_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
