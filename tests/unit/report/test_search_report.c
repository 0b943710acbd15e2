/* SPDX-License-Identifier: MIT
 * test_search_report: the trials of a capacity search on stdout. */
#include "report/search_report.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TIMEOUT_NS 300000000

#define INCONCLUSIVE(reason) "\"status\": \"inconclusive\", \"reason\": \"" reason "\""

static char shown[1000];

/* Fills in what is printed about a search with this answer. */
static void show(const char *answer, const char *trials)
{
    const int kept = dup(STDOUT_FILENO);
    FILE *file = tmpfile();
    struct json_object *search;
    char json[500];

    assert_true(kept >= 0 && file != NULL);
    snprintf(json, sizeof json,
             "{\"unit\": \"q/s\", \"slo\": [\"p99<10ms\"], %s, \"trials\": [%s]}", answer, trials);
    search = json_tokener_parse(json);
    assert_non_null(search);
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    search_report(search, TIMEOUT_NS);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO); /* before the first assert, which may print */
    close(kept);
    json_object_put(search);
    rewind(file);
    shown[fread(shown, 1, sizeof shown - 1, file)] = '\0';
    fclose(file);
}

static void percentile_among_the_unanswered_is_more_than_the_timeout(void **state)
{
    (void)state;
    show(INCONCLUSIVE("stopped"),
         "{\"step\": \"double\", \"load\": 400, \"duration_s\": 2.5, \"class\": \"void\", "
         "\"reason\": \"connections\", \"scheduled\": 988, \"lost\": 988, \"p50_ns\": null, "
         "\"p99_ns\": null, \"drained\": true}");
    assert_non_null(strstr(shown, "\n  trial                        load   length        p50"
                                  "        p99       lost\n"
                                  "  double                    400 q/s   2.50 s    >300 ms"
                                  "          -        988  void: connections\n"));
}

/* As if it was stopped during the first trial. */
static void a_search_without_trials_has_no_table(void **state)
{
    (void)state;
    show(INCONCLUSIVE("stopped"), "");
    assert_string_equal(shown, "\nCapacity     inconclusive (stopped)\n"
                               "             service level p99<10ms; not confirmed\n");
}

static void the_reason_is_in_words(void **state)
{
    (void)state;
    show(INCONCLUSIVE("time"), "");
    assert_non_null(
        strstr(shown, "Capacity     inconclusive (not enough time was left for another trial)\n"));
}

static void an_answer_that_ended_early_says_why(void **state)
{
    (void)state;
    show("\"status\": \"found\", \"cut_by\": \"time\", \"confirmed\": true", "");
    assert_string_equal(
        shown, "\nCapacity     found\n"
               "             service level p99<10ms; confirmed; ended early: time ran out\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentile_among_the_unanswered_is_more_than_the_timeout),
        cmocka_unit_test(a_search_without_trials_has_no_table),
        cmocka_unit_test(the_reason_is_in_words),
        cmocka_unit_test(an_answer_that_ended_early_says_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
