/* SPDX-License-Identifier: MIT
 * test_id_set: the next free id, compared with a linear search. */
#include "workload/id_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N_IDS = 65536 };

static uint16_t search(const bool *used, uint16_t from)
{
    while (used[from])
        from++;
    return from;
}

static void an_empty_set_has_every_id_free(void **state)
{
    static struct id_set s;

    (void)state;
    for (uint32_t i = 0; i < N_IDS; i++)
        assert_int_equal(id_set_next_free(&s, (uint16_t)i), i);
}

static void the_only_free_id_is_found_from_everywhere(void **state)
{
    static const uint16_t only[] = {0, 1, 63, 64, 4095, 4096, 40000, 65535};
    struct id_set *s = calloc(1, sizeof *s);

    (void)state;
    for (uint32_t i = 0; i < N_IDS; i++)
        id_set_add(s, (uint16_t)i);
    for (size_t k = 0; k < sizeof only / sizeof *only; k++) {
        id_set_remove(s, only[k]);
        for (uint32_t from = 0; from < N_IDS; from++)
            assert_int_equal(id_set_next_free(s, (uint16_t)from), only[k]);
        id_set_add(s, only[k]);
    }
    free(s);
}

static void random_sets_agree_with_a_search(void **state)
{
    static bool used[N_IDS];
    static struct id_set s;
    uint64_t random = 2026;

    (void)state;
    for (uint32_t step = 0; step < 1000000; step++) {
        uint16_t id;

        random = random * 6364136223846793005u + 1442695040888963407u;
        id = (uint16_t)(random >> 40);
        if (random >> 58 < 60 && step % N_IDS < 60000) { /* includes runs of 64 and more */
            for (unsigned i = 0; i < (random >> 33 & 127) && id + i < N_IDS; i++) {
                used[id + i] = true;
                id_set_add(&s, (uint16_t)(id + i));
            }
        } else {
            used[id] = false;
            id_set_remove(&s, id);
        }
        used[0] = false; /* one is free */
        id_set_remove(&s, 0);
        if (step % 16 == 0)
            assert_int_equal(id_set_next_free(&s, id), search(used, id));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_has_every_id_free),
        cmocka_unit_test(the_only_free_id_is_found_from_everywhere),
        cmocka_unit_test(random_sets_agree_with_a_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
