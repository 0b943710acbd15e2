/* SPDX-License-Identifier: MIT
 * draw: see draw.h. */
#include "draw.h"

void draw_between(struct rng *r, uint32_t n, uint64_t *field, uint64_t least, uint64_t most)
{
    if (one_in(r, n))
        *field = between(r, least, most);
}

void draw_size(struct rng *r, uint32_t n, uint64_t *field, uint64_t least, uint64_t most)
{
    if (one_in(r, n))
        *field = of_any_size(r, least, most);
}

void draw_latency(struct scenario *s, struct rng *r)
{
    s->latency_us = one_in(r, 5) ? 0 : of_any_size(r, 1, 5000);
    draw_size(r, 2, &s->jitter_us, 1, 5000);
}

void draw_lost_syns(struct scenario *s, struct rng *r)
{
    draw_between(r, 6, &s->syn_lost_permille, 1, 500);
}

void draw_io_faults(struct scenario *s, struct rng *r)
{
    draw_between(r, 4, &s->send_permille, 1, 50);
    draw_between(r, 4, &s->receive_permille, 1, 50);
    draw_between(r, 2, &s->short_permille, 1, 500);
    draw_between(r, 3, &s->again_permille, 1, 300);
}

void draw_scheduling(struct scenario *s, struct rng *r)
{
    draw_between(r, 4, &s->preempt_permille, 1, 100);
    s->shuffle = between(r, 0, 1);
}

void draw_tls_version(struct scenario *s, struct rng *r)
{
    s->tls = one_in(r, 3) ? 2 : 1;
    s->tls_resume = between(r, 0, 1);
}

void draw_tls_faults(struct scenario *s, struct rng *r)
{
    draw_size(r, 3, &s->handshake_permille, 1, 700);
    draw_size(r, 6, &s->damaged_permille, 1, 100);
    draw_size(r, 4, &s->key_update_permille, 1, 500);
}
