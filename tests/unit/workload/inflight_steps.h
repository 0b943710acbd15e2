/* SPDX-License-Identifier: MIT
 * inflight_steps: shared by the tests of workload/inflight.h. */
#ifndef TCPSCALER_TESTS_UNIT_WORKLOAD_INFLIGHT_STEPS_H
#define TCPSCALER_TESTS_UNIT_WORKLOAD_INFLIGHT_STEPS_H

#include "workload/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline void start(struct inflight *t, struct inflight_list *lists, size_t n_lists)
{
    assert_int_equal(inflight_init(t, 1, true), 0);
    for (size_t i = 0; i < n_lists; i++)
        inflight_list_init(&lists[i]);
}

/* Queues a query and sends and writes it at once.  Returns its slot. */
static inline uint32_t send_one(struct inflight *t, struct inflight_list *list, uint32_t connection,
                                uint64_t now_ns)
{
    bool recycled = false;
    uint32_t slot = inflight_queue(t, list, connection, now_ns, 0);

    assert_int_not_equal(slot, INFLIGHT_NONE);
    assert_int_equal(list->queued_head, slot);
    assert_int_equal(inflight_assign_id(t, list, &recycled), 0);
    assert_false(recycled);
    inflight_mark_sent(t, list, now_ns);
    assert_int_equal(list->waiting_head, slot);
    inflight_mark_written(t, list);
    return slot;
}

static inline void assert_counts(const struct inflight *t, uint32_t queued, uint32_t sent,
                                 uint64_t expired)
{
    assert_int_equal(t->n_queued, queued);
    assert_int_equal(t->n_sent, sent);
    assert_int_equal(t->n_expired, expired);
}

#endif
