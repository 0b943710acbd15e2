/* SPDX-License-Identifier: MIT
 * goal_line: see report/goal_line.h. */
#include "report/goal_line.h"

#include "base/units.h"
#include "report/plain.h"
#include "report/result.h"

#include <stdio.h>
#include <string.h>

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* "1,204 of 100,827 queries took longer or were lost" */
static void print_counts(FILE *out, const char *goal, uint64_t n, uint64_t of)
{
    const uint64_t n_verb = of == 1 ? 1 : n; /* "0 of 1 query was lost" */
    const bool of_connections = begins_with(goal, "connect.");
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    fprintf(out, "%s of %s %s %s", units_format_count(a, n), units_format_count(b, of),
            of_connections ? units_noun(of, "connection", "connections")
                           : units_noun(of, "query", "queries"),
            of_connections ? "took longer or failed"
            : begins_with(goal, "lost")
                ? units_noun(n_verb, "was lost", "were lost")
                : units_noun(n_verb, "took longer or was lost", "took longer or were lost"));
}

/* Why the goal is undecided; a reason of another version is printed as it is. */
static void print_why(FILE *out, const struct json_object *goal)
{
    const char *why = result_string(goal, "why");
    char text[UNITS_TEXT_BYTES], unknown[PLAIN_BYTES];
    uint64_t n_own = 0;

    (void)result_u64(goal, "own", &n_own);
    if (why == NULL || strcmp(why, "nothing-measured") == 0)
        return;
    fputs("; ", out);
    if (strcmp(why, "too-few") == 0)
        fputs("too few to tell", out);
    else if (strcmp(why, "own-delays") != 0)
        fputs(plain(unknown, why), out);
    else if (n_own > 0)
        fprintf(out, "this host itself may have delayed or lost %s of them",
                units_format_count(text, n_own));
    else
        fputs("this host's own delays may have caused losses", out);
}

const char *goal_line(char *text, const struct json_object *result, unsigned i)
{
    const struct json_object *goal = result_element(result, "goals", i);
    char name[PLAIN_BYTES], outcome[PLAIN_BYTES];
    uint64_t n = 0, of = 0;
    FILE *out;

    if (goal == NULL)
        return NULL;
    out = fmemopen(text, GOAL_LINE_BYTES, "w");
    text[0] = '\0';
    if (out == NULL)
        return text;
    (void)result_u64(goal, "exceeding", &n);
    (void)result_u64(goal, "of", &of);
    fprintf(out, "%s %s: ", plain(name, result_string(goal, "goal")),
            plain(outcome, result_string(goal, "result")));
    if (of == 0)
        fputs("nothing was measured", out);
    else
        print_counts(out, name, n, of);
    print_why(out, goal);
    fclose(out);
    return text;
}
