/* SPDX-License-Identifier: MIT
 * pacer: see workload/pacer.h. */
#include "workload/pacer.h"

#include "base/units.h"

#include <math.h>

/* 285 years: fits a signed integer, to which the processor converts in one instruction. */
#define MOST_NS 9e18

uint32_t pacer_connections_of(uint32_t n_connections, uint32_t n_workers, uint32_t worker)
{
    return n_connections / n_workers + (worker < n_connections % n_workers);
}

/* Number of arrivals of the whole schedule, all workers, in a segment. */
static double area(const struct pacer_segment *s)
{
    if (s->duration_ns == PACER_NEVER)
        return s->rate_begin_qps > 0 ? INFINITY : 0;
    return (s->rate_begin_qps + s->rate_end_qps) / 2 * ((double)s->duration_ns / UNITS_NS_PER_S);
}

/* Seconds into the segment until it has had `arrivals`: the root of b/2 x^2 + a x = arrivals, in
 * the form that neither cancels nor divides by a slope of 0. */
static double seconds_until(const struct pacer_segment *s, double arrivals)
{
    const double a = s->rate_begin_qps;
    double slope, discriminant;

    if (arrivals <= 0)
        return 0;
    if (s->duration_ns == PACER_NEVER || s->rate_end_qps == a)
        return arrivals / a;
    slope = (s->rate_end_qps - a) / ((double)s->duration_ns / UNITS_NS_PER_S);
    discriminant = a * a + 2 * slope * arrivals;
    return 2 * arrivals / (a + sqrt(discriminant > 0 ? discriminant : 0));
}

/* Enters a segment; that behind the last one is the end. */
static void enter(struct pacer *p, size_t segment)
{
    p->segment = segment;
    p->segment_arrivals =
        segment < p->config.n_segments ? area(&p->config.segments[segment]) : INFINITY;
}

static void leave_segment(struct pacer *p)
{
    p->before_segment += p->segment_arrivals;
    p->segment_start_ns += p->config.segments[p->segment].duration_ns;
    enter(p, p->segment + 1);
}

/* Sets next_ns to where the integral of the rate reaches p->target. */
static void set_next(struct pacer *p)
{
    double ns;

    while (p->target - p->before_segment >= p->segment_arrivals)
        leave_segment(p);
    p->next_ns = PACER_NEVER;
    if (p->segment == p->config.n_segments)
        return;
    ns = seconds_until(&p->config.segments[p->segment], p->target - p->before_segment) *
             UNITS_NS_PER_S +
         0.5;
    if (ns < MOST_NS)
        p->next_ns = p->start_ns + p->segment_start_ns + (uint64_t)(int64_t)ns;
}

static double draw_gap(struct pacer *p)
{
    return rng_exponential(&p->rng) / p->share;
}

void pacer_start(struct pacer *p, const struct pacer_config *config, uint64_t start_ns)
{
    const double part = config->part > 0 ? config->part : 1;

    *p = (struct pacer){
        .config = *config, .start_ns = start_ns, .card = config->worker, .step = 1 / part};
    rng_seed(&p->rng, config->seed, config->worker);
    p->share =
        part *
        (double)pacer_connections_of(config->n_connections, config->n_workers, config->worker) /
        (double)config->n_connections;
    enter(p, 0);
    p->target = config->arrival == PACER_POISSON ? draw_gap(p) : (double)p->card * p->step;
    set_next(p);
    if (config->none_at_start && p->target == 0)
        pacer_advance(p);
}

static void step(struct pacer *p)
{
    const struct pacer_config *c = &p->config;

    if (c->arrival == PACER_POISSON) {
        p->target += draw_gap(p);
        return;
    }
    p->card += c->n_workers;
    if (p->card >= c->n_connections) {
        p->card = c->worker;
        p->round += c->n_connections;
    }
    p->target = (double)(int64_t)(p->round + p->card) * p->step; /* as MOST_NS */
}

void pacer_advance_by(struct pacer *p, uint64_t n)
{
    if (n == 0)
        return;
    while (n-- > 0)
        step(p);
    set_next(p);
}

void pacer_advance(struct pacer *p)
{
    pacer_advance_by(p, 1);
}

void pacer_replace(struct pacer *p, const struct pacer_segment *segments, size_t n_segments)
{
    p->config.segments = segments;
    p->config.n_segments = n_segments;
    enter(p, 0);
    p->before_segment = 0;
    p->segment_start_ns = 0;
    set_next(p);
}

void pacer_skip_to(struct pacer *p, uint64_t at_ns)
{
    if (p->next_ns >= at_ns)
        return;
    p->start_ns += at_ns - p->next_ns;
    p->next_ns = at_ns;
}
