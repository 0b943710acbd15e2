/* SPDX-License-Identifier: MIT
 * test_source_limit: limits per source, in bounded memory. */
#include "server/source_limit.h"

#include "base/rng.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECRET 0x9e3779b97f4a7c15u

static uint64_t source_of(const char *address)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, address, &four.sin_addr) == 1)
        return source_limit_source((const struct sockaddr *)&four);
    assert_int_equal(inet_pton(AF_INET6, address, &six.sin6_addr), 1);
    return source_limit_source((const struct sockaddr *)&six);
}

static void source_is_an_ipv4_address_or_64_bits_of_ipv6(void **state)
{
    (void)state;
    assert_int_equal(source_of("192.0.2.1"), source_of("::ffff:192.0.2.1"));
    assert_int_not_equal(source_of("192.0.2.1"), source_of("192.0.2.2"));
    assert_int_equal(source_of("2001:db8:1:2::1"), source_of("2001:db8:1:2:ffff:ffff:ffff:ffff"));
    assert_int_not_equal(source_of("2001:db8:1:2::1"), source_of("2001:db8:1:3::1"));
    assert_int_not_equal(source_of("::1"), source_of("127.0.0.1"));
}

static void source_has_its_share_and_no_more(void **state)
{
    struct source_limit *l = source_limit_new(2, 10, SECRET);
    const uint32_t first = source_limit_enter(l, 7);

    (void)state;
    assert_int_not_equal(first, SOURCE_LIMIT_REACHED);
    assert_int_not_equal(source_limit_enter(l, 7), SOURCE_LIMIT_REACHED);
    assert_int_equal(source_limit_enter(l, 7), SOURCE_LIMIT_REACHED);
    assert_int_not_equal(source_limit_enter(l, 8), SOURCE_LIMIT_REACHED);
    source_limit_leave(l, first);
    assert_int_not_equal(source_limit_enter(l, 7), SOURCE_LIMIT_REACHED);
    assert_int_equal(source_limit_enter(l, 7), SOURCE_LIMIT_REACHED);
    source_limit_free(l);
}

static void as_many_sources_as_connections_and_then_again(void **state)
{
    struct source_limit *l = source_limit_new(1, 3, SECRET);
    uint32_t entries[3];

    (void)state;
    for (uint64_t round = 0; round < 100; round++) {
        for (uint64_t i = 0; i < 3; i++) {
            entries[i] = source_limit_enter(l, 3 * round + i);
            assert_int_not_equal(entries[i], SOURCE_LIMIT_REACHED);
        }
        assert_int_equal(source_limit_enter(l, UINT64_MAX), SOURCE_LIMIT_REACHED);
        for (uint64_t i = 0; i < 3; i++)
            source_limit_leave(l, entries[(i + round) % 3]);
    }
    source_limit_free(l);
}

enum { N_SOURCES = 97, N_CONNECTIONS = 1000, MOST = 12, N_STEPS = 200000 };

struct held {
    uint32_t entry, source;
};

static void assert_agrees_with_plain_counters(uint64_t secret)
{
    struct source_limit *l = source_limit_new(MOST, N_CONNECTIONS, secret);
    struct held held[N_CONNECTIONS];
    uint32_t counts[N_SOURCES] = {0};
    uint32_t n = 0, n_refused = 0;
    struct rng rng;

    rng_seed(&rng, 1, 0);
    for (int i = 0; i < N_STEPS; i++) {
        const uint32_t source = (uint32_t)rng_below(&rng, N_SOURCES);

        if (n < N_CONNECTIONS && rng_below(&rng, 3) > 0) {
            const uint32_t entry = source_limit_enter(l, (uint64_t)source << 32);

            assert_int_equal(entry == SOURCE_LIMIT_REACHED, counts[source] == MOST);
            n_refused += entry == SOURCE_LIMIT_REACHED;
            if (entry != SOURCE_LIMIT_REACHED) {
                counts[source]++;
                held[n++] = (struct held){entry, source};
            }
        } else if (n > 0) {
            const uint32_t at = (uint32_t)rng_below(&rng, n);

            counts[held[at].source]--;
            source_limit_leave(l, held[at].entry);
            held[at] = held[--n];
        }
    }
    assert_true(n_refused > 1000);
    source_limit_free(l);
}

static void any_course_agrees_with_plain_counters(void **state)
{
    (void)state;
    assert_agrees_with_plain_counters(SECRET);
    assert_agrees_with_plain_counters(0); /* all sources share a bucket */
}

static void *enter_and_leave(void *arg)
{
    uintptr_t n_refused = 0;

    for (uint64_t i = 0; i < 20000; i++) {
        const uint32_t entry = source_limit_enter(arg, i % 5);

        if (entry == SOURCE_LIMIT_REACHED)
            n_refused++;
        else
            source_limit_leave(arg, entry);
    }
    return (void *)n_refused;
}

static void threads_share_the_counts(void **state)
{
    struct source_limit *l = source_limit_new(4, 4, SECRET);
    pthread_t threads[4];
    void *n_refused;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, enter_and_leave, l), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &n_refused);
        assert_null(n_refused);
    }
    for (int i = 0; i < 4; i++)
        assert_int_not_equal(source_limit_enter(l, 1), SOURCE_LIMIT_REACHED);
    assert_int_equal(source_limit_enter(l, 1), SOURCE_LIMIT_REACHED);
    source_limit_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(source_is_an_ipv4_address_or_64_bits_of_ipv6),
        cmocka_unit_test(source_has_its_share_and_no_more),
        cmocka_unit_test(as_many_sources_as_connections_and_then_again),
        cmocka_unit_test(any_course_agrees_with_plain_counters),
        cmocka_unit_test(threads_share_the_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
