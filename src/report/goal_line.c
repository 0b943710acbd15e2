/* SPDX-License-Identifier: MIT
 * goal_line: see report/goal_line.h. */
#include "report/goal_line.h"

#include "base/units.h"
#include "report/plain.h"
#include "report/result.h"

#include <stdio.h>

const char *goal_line(char *text, const struct json_object *result, unsigned i)
{
    const struct json_object *goal = result_element(result, "goals", i);
    char name[PLAIN_BYTES], outcome[PLAIN_BYTES], why[PLAIN_BYTES] = "", a[UNITS_TEXT_BYTES],
                                                  b[UNITS_TEXT_BYTES];
    uint64_t n = 0, of = 0;

    if (goal == NULL)
        return NULL;
    (void)result_u64(goal, "exceeding", &n);
    (void)result_u64(goal, "of", &of);
    if (result_string(goal, "why") != NULL)
        plain(why, result_string(goal, "why"));
    snprintf(text, GOAL_LINE_BYTES, "%s %s: %s of %s %s it%s%s",
             plain(name, result_string(goal, "goal")),
             plain(outcome, result_string(goal, "result")), units_format_count(a, n),
             units_format_count(b, of), units_noun(of == 1 ? 1 : n, "exceeds", "exceed"),
             why[0] != '\0' ? "; " : "", why);
    return text;
}
