/* SPDX-License-Identifier: MIT
 * test_inflight_model: random steps, compared with a model with one entry per slot and linear
 * search. */
#include "inflight_steps.h"

#include "workload/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define NONE INFLIGHT_NONE

enum { N_CONNECTIONS = 8, N_STEPS = 100000, N_MODEL = 4096 };

struct model_query {
    enum inflight_state state;
    uint32_t connection;
    uint32_t id;
    uint64_t order; /* of queueing; once sent, of sending */
};

struct model {
    struct inflight t;
    struct inflight_list lists[N_CONNECTIONS];
    struct model_query queries[N_MODEL];
    bool is_owed[N_CONNECTIONS][N_STEPS]; /* an expired query with this id is owed an answer */
    uint64_t n_owed;
    uint32_t n_ids[N_CONNECTIONS];
    uint64_t step, random;
};

static uint32_t random_below(struct model *m, uint32_t n)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((m->random >> 33) % n);
}

/* Returns the slot with the lowest order in that state; connection NONE: of any connection. */
static uint32_t model_first(const struct model *m, enum inflight_state wanted, uint32_t connection)
{
    uint32_t first = NONE;

    for (uint32_t i = 0; i < m->t.n_touched; i++) {
        const struct model_query *q = &m->queries[i];

        if (q->state == wanted && (connection == NONE || q->connection == connection) &&
            (first == NONE || q->order < m->queries[first].order))
            first = i;
    }
    return first;
}

static uint32_t model_find(const struct model *m, uint32_t connection, uint32_t id)
{
    for (uint32_t i = 0; i < m->t.n_touched; i++) {
        const struct model_query *q = &m->queries[i];

        if (q->state == INFLIGHT_SENT && q->connection == connection && q->id == id)
            return i;
    }
    return NONE;
}

static void model_queue(struct model *m, uint32_t c)
{
    const uint32_t slot = inflight_queue(&m->t, &m->lists[c], c, m->step, 0);

    assert_in_range(slot, 0, N_MODEL - 1);
    assert_int_equal(m->queries[slot].state, INFLIGHT_FREE);
    m->queries[slot] = (struct model_query){INFLIGHT_QUEUED, c, 0, m->step};
}

static void model_send(struct model *m, uint32_t c)
{
    const uint32_t slot = m->lists[c].queued_head;
    bool recycled = false;

    assert_int_equal(slot, model_first(m, INFLIGHT_QUEUED, c));
    if (slot == NONE)
        return;
    assert_int_equal(inflight_assign_id(&m->t, &m->lists[c], &recycled), 0);
    inflight_mark_sent(&m->t, &m->lists[c], m->step);
    inflight_mark_written(&m->t, &m->lists[c]);
    assert_false(recycled);
    m->queries[slot] = (struct model_query){INFLIGHT_SENT, c, m->n_ids[c]++, m->step};
}

static void model_expire(struct model *m)
{
    const uint32_t slot = inflight_oldest(&m->t);

    if (slot == NONE)
        return;
    inflight_expire(&m->t, &m->lists[m->queries[slot].connection], slot);
    m->queries[slot].state = inflight_at(&m->t, slot)->state; /* free, or expired ids */
    m->is_owed[m->queries[slot].connection][m->queries[slot].id] = true;
    m->n_owed++;
}

static void model_answer(struct model *m, uint32_t c)
{
    const uint32_t back = random_below(m, 60);
    const uint32_t id = m->n_ids[c] > back ? m->n_ids[c] - back : 0;
    const uint32_t slot = inflight_find(&m->t, &m->lists[c], c, (uint16_t)id);

    assert_int_equal(slot, model_find(m, c, id));
    assert_int_equal(inflight_id_was_used(&m->lists[c], (uint16_t)id), id < m->n_ids[c]);
    if (slot != NONE) {
        inflight_answered(&m->t, &m->lists[c], slot);
        m->queries[slot].state = INFLIGHT_FREE;
        return;
    }
    assert_int_equal(inflight_take_late(&m->t, &m->lists[c], c, (uint16_t)id), m->is_owed[c][id]);
    m->n_owed -= m->is_owed[c][id];
    m->is_owed[c][id] = false;
    for (uint32_t i = 0; i < m->t.n_touched; i++) /* the last one of its slot */
        if (m->queries[i].state == INFLIGHT_EXPIRED)
            m->queries[i].state = inflight_at(&m->t, i)->state;
}

static void model_remove(struct model *m)
{
    const uint32_t slot = random_below(m, m->t.n_touched + 1);
    struct model_query *q = &m->queries[slot];

    if (q->state == INFLIGHT_FREE || q->state == INFLIGHT_EXPIRED)
        return;
    inflight_remove(&m->t, &m->lists[q->connection], slot);
    q->state = INFLIGHT_FREE;
}

static void assert_like_model(struct model *m)
{
    uint32_t counts[INFLIGHT_EXPIRED + 1] = {0};

    for (uint32_t i = 0; i < m->t.n_touched; i++) {
        assert_int_equal(inflight_at(&m->t, i)->state, m->queries[i].state);
        counts[m->queries[i].state]++;
    }
    assert_counts(&m->t, counts[INFLIGHT_QUEUED], counts[INFLIGHT_SENT], m->n_owed);
    assert_int_equal(inflight_oldest(&m->t), model_first(m, INFLIGHT_SENT, NONE));
}

static void random_steps_agree_with_a_simple_model(void **state)
{
    struct model *m = calloc(1, sizeof *m);

    (void)state;
    assert_non_null(m);
    m->random = 2026;
    start(&m->t, m->lists, N_CONNECTIONS);
    for (m->step = 1; m->step <= N_STEPS; m->step++) {
        const uint32_t c = random_below(m, N_CONNECTIONS), what = random_below(m, 100);

        if (what < 25)
            model_queue(m, c);
        else if (what < 50)
            model_send(m, c);
        else if (what < 60)
            model_expire(m);
        else if (what < 90)
            model_answer(m, c);
        else
            model_remove(m);
        assert_like_model(m);
    }
    assert_true(m->t.n_slots > 64);
    inflight_free(&m->t);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_agree_with_a_simple_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
