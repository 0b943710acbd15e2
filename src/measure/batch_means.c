/* SPDX-License-Identifier: MIT
 * batch_means: see measure/batch_means.h. */
#include "measure/batch_means.h"

#include <math.h>
#include <stddef.h>

/* Quantiles of Student's t for the two-sided intervals of 90 and 95 %. */
static const struct quantile {
    double of_90, of_95;
} quantiles[] = {
    /* from BATCH_MEANS_LEAST - 1 to BATCH_MEANS_MOST - 1 degrees of freedom */
    {1.833113, 2.262157}, {1.812461, 2.228139}, {1.795885, 2.200985}, {1.782288, 2.178813},
    {1.770933, 2.160369}, {1.761310, 2.144787}, {1.753050, 2.131450}, {1.745884, 2.119905},
    {1.739607, 2.109816}, {1.734064, 2.100922}, {1.729133, 2.093024}, {1.724718, 2.085963},
    {1.720743, 2.079614}, {1.717144, 2.073873}, {1.713872, 2.068658}, {1.710882, 2.063899},
    {1.708141, 2.059539}, {1.705618, 2.055529}, {1.703288, 2.051831}, {1.701131, 2.048407},
    {1.699127, 2.045230}, {1.697261, 2.042272}, {1.695519, 2.039513},
};

_Static_assert(sizeof quantiles / sizeof *quantiles == BATCH_MEANS_MOST - BATCH_MEANS_LEAST + 1,
               "one for each number of batches");

static void join_neighbours(struct batch_means *b)
{
    for (uint32_t i = 0; i < b->n / 2; i++) {
        const struct batch *first = &b->batches[(size_t)2 * i], *second = first + 1;

        b->batches[i] = (struct batch){first->count + second->count, first->sum + second->sum};
    }
    b->n /= 2;
    b->intervals_each *= 2;
    b->intervals_last = b->intervals_each;
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
    const struct quantile *t;

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
    t = &quantiles[b->n - BATCH_MEANS_LEAST];
    return (percent == 90 ? t->of_90 : t->of_95) * sqrt(b->n * squares / (b->n - 1)) / count;
}
