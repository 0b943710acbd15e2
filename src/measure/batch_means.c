/* SPDX-License-Identifier: MIT
 * batch_means: see measure/batch_means.h. */
#include "measure/batch_means.h"

#include "measure/student.h"

#include <math.h>
#include <stddef.h>

static void join_neighbours(struct batch_means *b)
{
    for (uint32_t i = 0; i < b->n / 2; i++) {
        const struct batch *first = &b->batches[(size_t)2 * i], *second = first + 1;

        b->batches[i] = (struct batch){first->count + second->count, first->sum + second->sum};
    }
    b->n /= 2;
    b->intervals_each *= 2;
}

static void begin_batch(struct batch_means *b)
{
    if (b->n == 0)
        b->intervals_each = 1;
    if (b->n == BATCH_MEANS_MOST)
        join_neighbours(b);
    b->batches[b->n++] = (struct batch){0};
    b->intervals_last = 0;
}

void batch_means_add(struct batch_means *b, uint64_t count, double mean)
{
    struct batch *last;

    if (count == 0)
        return;
    if (b->n == 0 || b->intervals_last == b->intervals_each)
        begin_batch(b);
    last = &b->batches[b->n - 1];
    last->count += count;
    last->sum += (double)count * mean;
    b->intervals_last++;
}

double batch_means_error(const struct batch_means *b, unsigned percent)
{
    double count = 0, sum = 0, squares = 0;

    if (b->n < BATCH_MEANS_LEAST)
        return NAN;
    for (uint32_t i = 0; i < b->n; i++) {
        count += (double)b->batches[i].count;
        sum += b->batches[i].sum;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        const double expected = sum / count * (double)b->batches[i].count;
        const double off = b->batches[i].sum - expected;

        squares += off * off;
    }
    return student_t(1 - percent / 100.0, b->n - 1) * sqrt(b->n * squares / (b->n - 1)) / count;
}
