/* SPDX-License-Identifier: MIT
 * schedule_text: schedules from their texts; see workload/schedule.h. */
#include "workload/schedule.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum { WORD_BYTES = 64, MOST_QUOTED = 60 };

#define MAX_TOTAL_NS (366ull * 24 * 3600 * UNITS_NS_PER_S)

#define REFUSE(...) (snprintf(error, SCHEDULE_ERROR_BYTES, __VA_ARGS__), -1)

/* Copies the text up to one of the ends into word and advances *text to that end.  Returns -1 if it
 * does not fit. */
static int take_word(const char **text, const char *ends, char word[WORD_BYTES])
{
    const size_t n = strcspn(*text, ends);

    if (n >= WORD_BYTES)
        return -1;
    memcpy(word, *text, n);
    word[n] = '\0';
    *text += n;
    return 0;
}

/* How much of a text to quote in an error: up to one of the ends, or its first characters. */
static int n_quoted(const char *text, const char *ends)
{
    const size_t n = strcspn(text, ends);

    return n < MOST_QUOTED ? (int)n : MOST_QUOTED;
}

static int parse_rate(const char *word, double *qps)
{
    return units_parse_rate(word, qps) == 0 && *qps <= SCHEDULE_MAX_QPS ? 0 : -1;
}

static bool fits(const struct schedule *s, uint64_t duration_ns)
{
    return duration_ns > 0 && duration_ns <= MAX_TOTAL_NS - schedule_duration_ns(s);
}

/* --- "10s:0-5000" --- */

#define ITEM_ENDS " \t\r\n,#"

static int parse_item(struct schedule *s, const char *item)
{
    char word[WORD_BYTES];
    uint64_t duration_ns;
    double begin_qps, end_qps;

    if (take_word(&item, ":", word) != 0 || *item++ != ':' ||
        units_parse_duration(word, &duration_ns) != 0 || !fits(s, duration_ns))
        return -1;
    if (take_word(&item, "-", word) != 0 || parse_rate(word, &begin_qps) != 0)
        return -1;
    end_qps = begin_qps;
    if (*item == '-' && parse_rate(item + 1, &end_qps) != 0)
        return -1;
    schedule_append(s, duration_ns, begin_qps, end_qps);
    return 0;
}

/* Skips blanks, commas, newlines and comments. */
static const char *skip_between(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n,");
        if (*text != '#')
            return text;
        text += strcspn(text, "\n");
    }
}

/* Writes "line N: " for messages about a text of several lines, otherwise "".  Returns where. */
static const char *name_line(char where[WORD_BYTES], const char *all, const char *at)
{
    unsigned line = 1;

    where[0] = '\0';
    for (const char *c = all; c < at; c++)
        line += *c == '\n';
    if (strchr(all, '\n') != NULL)
        snprintf(where, WORD_BYTES, "line %u: ", line);
    return where;
}

int schedule_parse(struct schedule *s, const char *text, char *error)
{
    const char *const all = text;
    char item[WORD_BYTES], where[WORD_BYTES];

    s->n = 0;
    for (text = skip_between(text); *text != '\0'; text = skip_between(text)) {
        const char *begin = text;

        if (s->n == SCHEDULE_MOST_ITEMS) {
            s->n = 0;
            return REFUSE("too many steps: expected at most %u", SCHEDULE_MOST_ITEMS);
        }
        if (take_word(&text, ITEM_ENDS, item) != 0 || parse_item(s, item) != 0) {
            s->n = 0;
            return REFUSE("%sinvalid step '%.*s': expected TIME:N or TIME:N-N, such as "
                          "10s:0-5000, N at most 1G, at most a year in total",
                          name_line(where, all, begin), n_quoted(begin, ITEM_ENDS), begin);
        }
    }
    return s->n > 0 ? 0 : REFUSE("no steps: expected TIME:N or TIME:N-N, such as 10s:0-5000");
}

/* --- lines of two numbers --- */

/* Parses a line "<milliseconds> <number>"; the number may have a sign if `is_signed`. */
static int parse_line(const char *line, bool is_signed, uint64_t *duration_ns, double *number)
{
    char word[WORD_BYTES];
    uint64_t ms;
    double sign = 1;

    line += strspn(line, " \t");
    if (take_word(&line, " \t", word) != 0 || units_parse_count(word, &ms) != 0 ||
        ms > MAX_TOTAL_NS / UNITS_NS_PER_MS)
        return -1;
    line += strspn(line, " \t");
    if (is_signed && (*line == '-' || *line == '+'))
        sign = *line++ == '-' ? -1 : 1;
    if (take_word(&line, " \t\r", word) != 0 || parse_rate(word, number) != 0 ||
        line[strspn(line, " \t\r")] != '\0')
        return -1;
    *duration_ns = ms * UNITS_NS_PER_MS;
    *number *= sign;
    return 0;
}

/* The rate continues from its current value and stops at 0. */
static int add_slope(struct schedule *s, uint64_t duration_ns, double slope, double *rate_qps)
{
    const double begin_qps = *rate_qps;
    const double end_qps = begin_qps + slope * ((double)duration_ns / 1e9);
    uint64_t until_zero_ns;

    if (end_qps > SCHEDULE_MAX_QPS)
        return -1;
    *rate_qps = end_qps > 0 ? end_qps : 0;
    if (end_qps >= 0) {
        schedule_append(s, duration_ns, begin_qps, end_qps);
        return 0;
    }
    until_zero_ns = (uint64_t)(begin_qps / -slope * 1e9);
    if (until_zero_ns > 0)
        schedule_append(s, until_zero_ns, begin_qps, 0);
    if (until_zero_ns < duration_ns)
        schedule_append(s, duration_ns - until_zero_ns, 0, 0);
    return 0;
}

/* Also one that ends in CR LF. */
static int take_line(const char **text, char line[WORD_BYTES])
{
    size_t n;

    if (take_word(text, "\n", line) != 0)
        return -1;
    *text += **text == '\n';
    n = strlen(line);
    if (n > 0 && line[n - 1] == '\r')
        line[n - 1] = '\0';
    return 0;
}

static int add_line(struct schedule *s, const char *line, bool are_slopes, double *rate_qps)
{
    uint64_t duration_ns;
    double number;

    if (parse_line(line, are_slopes, &duration_ns, &number) != 0 || !fits(s, duration_ns))
        return -1;
    if (are_slopes)
        return add_slope(s, duration_ns, number, rate_qps);
    schedule_append(s, duration_ns, number, number);
    return 0;
}

static int parse_lines(struct schedule *s, const char *text, bool are_slopes, double rate_qps,
                       char *error)
{
    const char *begin = text;
    char line[WORD_BYTES];
    uint64_t n_lines;
    size_t n = 0;

    s->n = 0;
    if (take_line(&text, line) != 0 || units_parse_count(line, &n_lines) != 0 || n_lines == 0 ||
        n_lines > SCHEDULE_MOST_ITEMS)
        return REFUSE("line 1: invalid line count '%.*s': expected 1 to %u", n_quoted(begin, "\n"),
                      begin, SCHEDULE_MOST_ITEMS);
    while (n < n_lines && *text != '\0') {
        n++;
        begin = text;
        if (take_line(&text, line) != 0 || add_line(s, line, are_slopes, &rate_qps) != 0) {
            s->n = 0;
            return REFUSE("line %zu: invalid step '%.*s': expected '<milliseconds> <%s>', at most "
                          "a year and 1G per second",
                          n + 1, n_quoted(begin, "\n"), begin,
                          are_slopes ? "slope per second" : "rate");
        }
    }
    if (n == n_lines && text[strspn(text, " \t\r\n")] == '\0')
        return 0;
    s->n = 0;
    return REFUSE("line 1: the count is %u, but there are %s lines", (unsigned)n_lines,
                  n < n_lines ? "fewer" : "more");
}

int schedule_parse_steps(struct schedule *s, const char *text, char *error)
{
    return parse_lines(s, text, false, 0, error);
}

int schedule_parse_slopes(struct schedule *s, const char *text, double rate_qps, char *error)
{
    return parse_lines(s, text, true, rate_qps, error);
}
