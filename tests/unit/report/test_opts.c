/* SPDX-License-Identifier: MIT
 * test_report_opts: the command lines of tcpreport, especially the start of the second group. */
#include "report/opts.h"

#include "words_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct report_opts opts;
static char error[OPTIONS_ERROR_BYTES];

static enum options_result parse(enum report_command command, const char *line)
{
    static struct words words; /* the files stay there */

    words_split(&words, NULL, line);
    error[0] = '\0';
    return report_opts_parse(&opts, command, words.argc, words.argv, stdout, error);
}

static void assert_group(char **files, int n, const char *wanted)
{
    char text[128] = "";

    for (int i = 0; i < n; i++) {
        strcat(text, files[i]);
        strcat(text, " ");
    }
    assert_string_equal(text, wanted);
}

static void files_are_the_operands(void **state)
{
    (void)state;
    assert_int_equal(parse(REPORT_MERGE, "merge a --json x b"), OPTIONS_RUN);
    assert_string_equal(opts.json, "x");
    assert_group(opts.files, opts.n_files, "a b ");
    assert_int_equal(parse(REPORT_MERGE, "merge -- --json"), OPTIONS_RUN);
    assert_group(opts.files, opts.n_files, "--json ");
}

static void two_groups_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(parse(REPORT_COMPARE, "compare a --min-runs 3 b -- c --force d"), OPTIONS_RUN);
    assert_group(opts.files, opts.n_files, "a b ");
    /* After --, all arguments are files. */
    assert_group(opts.others, opts.n_others, "c --force d ");
    assert_int_equal(opts.min_runs, 3);
    assert_false(opts.force);
    assert_int_equal(parse(REPORT_COMPARE, "compare a -- b"), OPTIONS_RUN);
    assert_int_equal(opts.min_runs, 10);
}

static void missing_arguments_are_named(void **state)
{
    static const char *const lines[] = {"compare", "compare a", "compare a --", "compare -- b"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(parse(REPORT_COMPARE, lines[i]), OPTIONS_USAGE);
        assert_non_null(strstr(error, "FILE... -- FILE..."));
    }
    assert_int_equal(parse(REPORT_COMPARE, "compare a b"), OPTIONS_USAGE);
    assert_non_null(strstr(error, "missing -- between"));
    assert_int_equal(parse(REPORT_SHOW, "show"), OPTIONS_USAGE);
    assert_non_null(strstr(error, "missing FILE"));
}

static void a_metric_requires_a_plot_that_has_one(void **state)
{
    static const char *const others[] = {"connect", "rate", "capacity", "recovery"};
    char line[96];

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(line, sizeof line, "plot --term --kind %s --metric response a", others[i]);
        assert_int_equal(parse(REPORT_PLOT, line), OPTIONS_USAGE);
        assert_string_equal(error, "--metric: requires --kind latency or time");
        snprintf(line, sizeof line, "plot --term --kind %s a", others[i]);
        assert_int_equal(parse(REPORT_PLOT, line), OPTIONS_RUN);
    }
    assert_int_equal(parse(REPORT_PLOT, "plot --term --metric net a"), OPTIONS_RUN);
    assert_int_equal(parse(REPORT_PLOT, "plot --term --kind time --metric net a"), OPTIONS_RUN);
}

static void every_command_has_a_table(void **state)
{
    (void)state;
    for (int i = 0; i < REPORT_N_COMMANDS; i++) {
        const struct options *table = report_opts_table((enum report_command)i);

        assert_string_equal(table->program, "tcpreport");
        assert_true(strlen(table->summary) > 10);
        assert_true(table->n_rows >= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_the_operands),
        cmocka_unit_test(two_groups_are_told_apart),
        cmocka_unit_test(missing_arguments_are_named),
        cmocka_unit_test(a_metric_requires_a_plot_that_has_one),
        cmocka_unit_test(every_command_has_a_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
