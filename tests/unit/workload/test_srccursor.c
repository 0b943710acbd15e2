/* SPDX-License-Identifier: MIT
 * test_srccursor: which worker gets which tuple, and returned tuples. */
#include "workload/srccursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "fill_srcplan.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* Distributes n connections over 3 workers, which take all tuples of a plan of 12 in turn. */
static void assert_cursors_take_all(const struct srcplan *p, uint64_t n)
{
    _Atomic uint64_t spare = n;
    struct srccursor cursors[3];
    uint64_t first[3], count[3], taken[3] = {0}, number;
    unsigned seen[12] = {0}, n_done = 0;
    struct srcplan_tuple t;

    for (uint64_t w = 0; w < 3; w++) {
        first[w] = n * w / 3;
        count[w] = n * (w + 1) / 3 - first[w];
        srccursor_init(&cursors[w], p, first[w], count[w], &spare);
    }
    for (unsigned turn = 0; n_done < 3; turn++) {
        const unsigned w = turn % 3;

        const bool has_fresh = srccursor_has_fresh(&cursors[w]);

        assert_int_equal(srccursor_next(&cursors[w], &t, &number) == 0, has_fresh);
        if (!has_fresh) {
            n_done++;
            continue;
        }
        n_done = 0;
        assert_in_range(number, 0, 11);
        if (taken[w] < count[w])
            assert_int_equal(number, first[w] + taken[w]);
        else
            assert_true(number >= n);
        assert_int_equal(t.port, p->ports[number % p->n_ports]);
        taken[w]++;
        seen[number]++;
    }
    for (size_t i = 0; i < N_OF(seen); i++)
        assert_int_equal(seen[i], 1);
}

static void cursors_together_hand_out_each_tuple_once(void **state)
{
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, "10.0.0.1-3", "5-8");
    for (uint64_t n = 0; n <= 40; n++)
        assert_cursors_take_all(&p, n);
    srcplan_free(&p);
    fill_srcplan(&p, NULL, "100-111");
    for (uint64_t n = 0; n <= 40; n++)
        assert_cursors_take_all(&p, n);
    srcplan_free(&p);
}

/* A plan of one tuple, port 7, and the cursor of the only worker. */
struct single {
    struct srcplan plan;
    _Atomic uint64_t spare;
    struct srccursor cursor;
};

static void begin_single(struct single *s)
{
    fill_srcplan(&s->plan, NULL, "7");
    s->spare = 1;
    srccursor_init(&s->cursor, &s->plan, 0, 1, &s->spare);
}

static void assert_takes_it(struct single *s)
{
    struct srcplan_tuple t;
    uint64_t number;

    assert_int_equal(srccursor_next(&s->cursor, &t, &number), 0);
    assert_int_equal(number, 0);
    assert_int_equal(t.port, 7);
}

static void assert_takes_none(struct single *s)
{
    struct srcplan_tuple t;
    uint64_t number;

    assert_int_equal(srccursor_next(&s->cursor, &t, &number), -1);
}

static void a_cursor_without_tuples_left_stays_at_its_end(void **state)
{
    struct single s;

    (void)state;
    begin_single(&s);
    assert_takes_it(&s);
    for (int i = 0; i < 3; i++)
        assert_takes_none(&s);
    assert_int_equal(srcplan_exclude_ports(&s.plan, 7, 7), 1);
    s.spare = 0;
    srccursor_init(&s.cursor, &s.plan, 0, 1, &s.spare);
    assert_takes_none(&s);
    srcplan_free(&s.plan);
}

static void an_automatic_plan_never_runs_out(void **state)
{
    _Atomic uint64_t spare = 10;
    struct srccursor c;
    struct srcplan_tuple t;
    struct srcplan p;
    uint64_t number;

    (void)state;
    fill_srcplan(&p, NULL, NULL);
    srccursor_init(&c, &p, 3, 2, &spare);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(srccursor_next(&c, &t, &number), 0);
        assert_int_equal(number, i < 2 ? 3 + i : 8 + i);
        assert_int_equal(t.address.family, AF_UNSPEC);
        assert_int_equal(t.port, 0);
    }
    srcplan_free(&p);
}

/* More tuples are out than the ring initially holds. */
static void returned_tuples_are_reused_in_that_order(void **state)
{
    enum { N = 1000, TURNS = 5000 };
    _Atomic uint64_t spare = N;
    struct srccursor c;
    struct srcplan_tuple t;
    struct srcplan p;
    uint64_t number, oldest = 0;
    uint64_t out[N], n_out = 0;

    (void)state;
    fill_srcplan(&p, NULL, "1-1000");
    srccursor_init(&c, &p, 0, N, &spare);
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        assert_int_equal(srccursor_next(&c, &t, &number), 0);
        assert_int_equal(number, turn % N); /* fresh ones first, then the longest unused */
        assert_int_equal(t.port, number + 1);
        out[n_out++ % N] = number;
        if (n_out - oldest > turn % 300) /* up to 300 are out at a time */
            while (oldest < n_out)
                srccursor_give_back(&c, out[oldest++ % N]);
    }
    assert_true(c.room < N * 2);
    srccursor_free(&c);
    srcplan_free(&p);
}

/* When a full ring has wrapped around, the entries at its start keep their order. */
static void a_ring_that_grows_keeps_the_order(void **state)
{
    enum { N = 200, N_FIRST = 64, N_TAKEN = 10 };
    _Atomic uint64_t spare = N;
    struct srccursor c;
    struct srcplan_tuple t;
    struct srcplan p;
    uint64_t number, next = 0;

    (void)state;
    fill_srcplan(&p, NULL, "1-200");
    srccursor_init(&c, &p, 0, N, &spare);
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(srccursor_next(&c, &t, &number), 0);
    for (uint64_t i = 0; i < N_FIRST; i++)
        srccursor_give_back(&c, i);
    assert_int_equal(c.room, N_FIRST); /* it is full */
    for (; next < N_TAKEN; next++) {
        assert_int_equal(srccursor_next(&c, &t, &number), 0);
        assert_int_equal(number, next);
    }
    for (uint64_t i = N_FIRST; i < N; i++)
        srccursor_give_back(&c, i);
    assert_true(c.room > N_FIRST);
    for (; next < N; next++) {
        assert_int_equal(srccursor_next(&c, &t, &number), 0);
        assert_int_equal(number, next);
    }
    assert_int_equal(srccursor_next(&c, &t, &number), -1);
    srccursor_free(&c);
    srcplan_free(&p);
}

static void a_returned_tuple_is_the_only_one_left(void **state)
{
    struct single s;

    (void)state;
    begin_single(&s);
    assert_takes_it(&s);
    assert_takes_none(&s);
    srccursor_give_back(&s.cursor, 0);
    assert_takes_it(&s);
    assert_takes_none(&s);
    assert_int_equal(s.spare, 1);
    srccursor_free(&s.cursor);
    srcplan_free(&s.plan);
}

/* 16 million addresses: a client that replaces connections for days takes only fresh tuples. */
static void a_plan_that_never_ends_keeps_no_used_tuples(void **state)
{
    struct srccursor c;
    struct srcplan_tuple t;
    struct srcplan p;
    _Atomic uint64_t spare = 1;
    uint64_t number;

    (void)state;
    fill_srcplan(&p, "10.0.0.0/8", "1-1000");
    srccursor_init(&c, &p, 0, 1, &spare);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(srccursor_next(&c, &t, &number), 0);
        assert_int_equal(number, i);
        srccursor_give_back(&c, number);
    }
    assert_int_equal(c.n_returned, 0);
    assert_int_equal(c.room, 0);
    spare = srcplan_capacity(&p) - SRCCURSOR_PLENTY; /* fewer than may be in use at a time */
    srccursor_give_back(&c, number);
    assert_int_equal(c.n_returned, 1);
    spare = srcplan_capacity(&p);
    assert_int_equal(srccursor_next(&c, &t, &number), 0);
    assert_int_equal(number, 999);
    srccursor_free(&c);
    srcplan_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursors_together_hand_out_each_tuple_once),
        cmocka_unit_test(a_cursor_without_tuples_left_stays_at_its_end),
        cmocka_unit_test(an_automatic_plan_never_runs_out),
        cmocka_unit_test(returned_tuples_are_reused_in_that_order),
        cmocka_unit_test(a_ring_that_grows_keeps_the_order),
        cmocka_unit_test(a_returned_tuple_is_the_only_one_left),
        cmocka_unit_test(a_plan_that_never_ends_keeps_no_used_tuples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
