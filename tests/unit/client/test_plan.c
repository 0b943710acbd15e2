/* SPDX-License-Identifier: MIT
 * test_plan: what a command line plans for: room for connections, memory of rows, kernel
 * timestamps, and the settings that the workers get. */
#include "client/plan.h"

#include "base/log.h"
#include "base/units.h"
#include "opts_steps.h"

#include <stdlib.h>

enum { ROW_BYTES = 32 };

static const uint64_t all_rows_bytes = 64 << 20;

static struct client_plan plan;

/* Returns client_plan_make()'s result; said: what it logs, to be freed by the caller. */
static int make(const char *line, char **said)
{
    char text[WORDS_BYTES];
    size_t n_bytes;
    FILE *stream = open_memstream(said, &n_bytes);
    int failed;

    assert_non_null(stream);
    snprintf(text, sizeof text, "%s 127.0.0.1:4242", line);
    if (parse(text) != OPTIONS_RUN)
        fail_msg("%s: %s", text, error);
    log_set_stream(stream);
    failed = client_plan_make(&plan, &opts);
    log_set_stream(NULL);
    assert_int_equal(fclose(stream), 0);
    return failed;
}

/* To be freed with client_plan_free(). */
static const struct client_config *plan_of(const char *line)
{
    char *said;

    if (make(line, &said) != 0)
        fail_msg("%s: %s", line, said);
    free(said);
    return &plan.config;
}

static void assert_rows_bytes(const char *line, uint64_t n_bytes)
{
    const uint64_t planned = plan_of(line)->memory_ends.client_touched_rows_bytes;

    if (planned != n_bytes)
        fail_msg("%s: %llu bytes", line, (unsigned long long)planned);
    client_plan_free(&plan);
}

/* Each query has a row when it is sent, and one for its answer. */
static void memory_of_rows_is_that_of_two_for_each_query(void **state)
{
    (void)state;
    assert_rows_bytes("-r 1000 -t 10", 0);
    assert_rows_bytes("-R -r 1000 -t 10", 2 * 10000 * ROW_BYTES);
    assert_rows_bytes("-R -r 1000 -t 10 --sample 1/8", 2 * 10000 / 8 * ROW_BYTES);
    assert_rows_bytes("-R -r 15000 -t 3600", all_rows_bytes);
    assert_rows_bytes("-R -r 1000", all_rows_bytes);
}

static void rows_of_an_unknown_number_of_queries_fill_their_rings(void **state)
{
    (void)state;
    assert_rows_bytes("-R -c 10 -i 1 --loop closed -t 1", all_rows_bytes);
    assert_rows_bytes("-R -r 10 -t 1 --control unix:/x", all_rows_bytes);
    assert_rows_bytes("-R --find rate --find-range 1-2", all_rows_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_rows_is_that_of_two_for_each_query),
        cmocka_unit_test(rows_of_an_unknown_number_of_queries_fill_their_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
