/* SPDX-License-Identifier: MIT
 * fuzz_schedule: arbitrary schedules in each of the three forms.  A schedule is rejected and left
 * empty, or it is consistent: as a whole and in parts, written out and read again, and paced. */
#include "base/units.h"
#include "text.h"
#include "workload/schedule.h"

#include <math.h>

enum { N_FORMS = 3, MOST_ARRIVALS = 256 };

#define MAX_TOTAL_NS (366ull * 24 * 3600 * UNITS_NS_PER_S)

static bool is_near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-9 * scale;
}

static int parse(struct schedule *s, int form, const char *text, char *error)
{
    switch (form) {
    case 0:
        return schedule_parse(s, text, error);
    case 1:
        return schedule_parse_steps(s, text, error);
    default:
        return schedule_parse_slopes(s, text, 1000, error);
    }
}

static void check_segments(const struct schedule *s)
{
    uint64_t sum_ns = 0;

    REQUIRE(s->n > 0 && s->n < SCHEDULE_MOST);
    for (size_t i = 0; i < s->n; i++) {
        const struct pacer_segment *g = &s->segments[i];

        REQUIRE(g->duration_ns > 0);
        REQUIRE(g->rate_begin_qps >= 0 && g->rate_begin_qps <= SCHEDULE_MAX_QPS);
        REQUIRE(g->rate_end_qps >= 0 && g->rate_end_qps <= SCHEDULE_MAX_QPS);
        sum_ns += g->duration_ns;
    }
    REQUIRE(sum_ns == schedule_duration_ns(s) && sum_ns <= MAX_TOTAL_NS);
}

/* Peak, mean, parts, a replaced rest and a flattened part have the same number of arrivals. */
static void check_sums(const struct schedule *s, uint64_t at_ns)
{
    const uint64_t whole_ns = schedule_duration_ns(s);
    const double peak = schedule_peak_qps(s), mean = schedule_mean_qps(s, 0);
    struct schedule same = *s, flat = *s, twice = *s;

    REQUIRE(mean >= 0 && mean <= peak * (1 + 1e-9));
    REQUIRE(is_near(schedule_mean_between_qps(s, 0, whole_ns), mean, peak));
    REQUIRE(schedule_rate_qps(s, at_ns) >= 0 && schedule_rate_qps(s, at_ns) <= peak * (1 + 1e-9));
    REQUIRE(!schedule_is_constant(s) || is_near(mean, peak, peak));
    if (schedule_replace_rest(&same, at_ns, s) == 0) {
        REQUIRE(schedule_duration_ns(&same) == whole_ns);
        REQUIRE(is_near(schedule_mean_qps(&same, 0), mean, peak));
    }
    if (at_ns > 0)
        schedule_flatten(&flat, 0, at_ns);
    REQUIRE(schedule_duration_ns(&flat) == whole_ns);
    REQUIRE(is_near(schedule_mean_qps(&flat, 0), mean, peak));
    schedule_scale(&twice, 2);
    REQUIRE(is_near(schedule_peak_qps(&twice), 2 * peak, peak));
}

/* If the rates are whole numbers, which a text represents exactly. */
static void require_again(const struct schedule *s)
{
    char error[SCHEDULE_ERROR_BYTES], *text;
    struct schedule again;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    REQUIRE(out != NULL);
    for (size_t i = 0; i < s->n && i < SCHEDULE_MOST_ITEMS; i++)
        fprintf(out, "%lluns:%.0f-%.0f\n", (unsigned long long)s->segments[i].duration_ns,
                trunc(s->segments[i].rate_begin_qps), trunc(s->segments[i].rate_end_qps));
    REQUIRE(fclose(out) == 0);
    REQUIRE(schedule_parse(&again, text, error) == 0);
    for (size_t i = 0; i < again.n; i++) {
        const struct pacer_segment *a = &s->segments[i], *b = &again.segments[i];

        REQUIRE(a->duration_ns == b->duration_ns);
        REQUIRE(is_near(trunc(a->rate_begin_qps), b->rate_begin_qps, 0));
        REQUIRE(is_near(trunc(a->rate_end_qps), b->rate_end_qps, 0));
    }
    free(text);
}

/* Arrivals never go back in time and lie within the schedule. */
static void check_pace(const struct schedule *s, enum pacer_arrival arrival)
{
    const struct pacer_config config = {.arrival = arrival,
                                        .segments = s->segments,
                                        .n_segments = s->n,
                                        .n_connections = 3,
                                        .n_workers = 2,
                                        .worker = 1,
                                        .seed = 42};
    const uint64_t start_ns = UNITS_NS_PER_S, end_ns = start_ns + schedule_duration_ns(s);
    uint64_t before_ns = start_ns;
    struct pacer p;

    pacer_start(&p, &config, start_ns);
    for (int i = 0; i < MOST_ARRIVALS && p.next_ns != PACER_NEVER; i++) {
        REQUIRE(p.next_ns >= before_ns && p.next_ns <= end_ns);
        before_ns = p.next_ns;
        pacer_advance(&p);
    }
}

static void check(const struct schedule *s, uint8_t where)
{
    check_segments(s);
    check_sums(s, schedule_duration_ns(s) / 256 * where);
    require_again(s);
    check_pace(s, PACER_CONSTANT);
    check_pace(s, PACER_POISSON);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char error[SCHEDULE_ERROR_BYTES] = "", *text;
    struct schedule s;

    if (n_bytes < 2)
        return 0;
    text = fuzz_text(data + 2, n_bytes - 2); /* the first bytes select the form and the cuts */
    if (text == NULL)
        return 0;
    if (parse(&s, data[0] % N_FORMS, text, error) == 0) {
        check(&s, data[1]);
    } else {
        fuzz_require_error(error, sizeof error);
        REQUIRE(s.n == 0);
    }
    free(text);
    return 0;
}
