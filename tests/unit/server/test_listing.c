/* SPDX-License-Identifier: MIT
 * test_server_listing: the rows of connections. */
#include "server/listing.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

static const struct srcplan_tuple four = {.address = {.family = AF_INET, .bytes = {10, 0, 3, 1}},
                                          .port = 1024};
static const struct srcplan_tuple six = {.address = {.family = AF_INET6, .bytes = {0xfd, [15] = 7}},
                                         .port = 65535};
static const struct srcplan_tuple mapped = {
    .address = {.family = AF_INET6, .bytes = {[10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, 1}},
    .port = 53};
static const struct srcplan_tuple nobody = {.address.family = AF_UNSPEC};

/* Puts the rows into an output that nobody reads: it keeps them. */
static void assert_written(struct server_listing *l, const char *expected)
{
    const struct output closed = OUTPUT_CLOSED;
    struct output out = closed;

    out.error = EAGAIN;
    server_listing_put(l, &out);
    assert_int_equal(out.backlog.n_bytes, strlen(expected));
    if (out.backlog.n_bytes > 0)
        assert_memory_equal(out.backlog.text, expected, strlen(expected));
    backlog_drop(&out.backlog);
}

static void rows_have_sources_and_identities_in_order(void **state)
{
    struct server_listing l;

    (void)state;
    server_listing_init(&l);
    server_listing_add(&l, &six, &four);
    server_listing_add(&l, &mapped, &six);
    server_listing_add(&l, &four, &mapped);
    server_listing_add(&l, &four, &nobody);
    assert_written(&l, "fd00::7,65535,10.0.3.1,1024\n192.0.2.1,53,fd00::7,65535\n"
                       "10.0.3.1,1024,192.0.2.1,53\n10.0.3.1,1024,,\n");
    assert_written(&l, "");
    server_listing_free(&l);
}

static void every_row_is_written_once_however_many(void **state)
{
    enum { N = 10000 };
    struct server_listing l;
    char *expected = malloc(N * 30), *end = expected;

    (void)state;
    assert_non_null(expected);
    server_listing_init(&l);
    for (int i = 0; i < N; i++) {
        server_listing_add(&l, &six, &four);
        end += sprintf(end, "fd00::7,65535,10.0.3.1,1024\n");
    }
    assert_written(&l, expected);
    assert_int_equal(l.n_lost, 0);
    server_listing_free(&l);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_sources_and_identities_in_order),
        cmocka_unit_test(every_row_is_written_once_however_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
