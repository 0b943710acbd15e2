/* SPDX-License-Identifier: MIT
 * test_intervals: values that workers hand over, interval by interval.
 * Linked with --wrap=realloc. */
#include "client/intervals.h"

#include "file_steps.h"
#include "memory_steps.h"
#include "print_steps.h"
#include "workers_steps.h"

#include "base/log.h"
#include "measure/hlog.h"

#include <stdio.h>
#include <stdlib.h>

#define S      1000000000ull
#define ORIGIN (1000 * S)

static struct client_intervals intervals;
static struct hist total[CLIENT_N_QUERY_METRICS];
static struct batch_means batches[CLIENT_N_QUERY_METRICS];
static struct output file;
static char text[1 << 16];

static int setup(void **state)
{
    (void)state;
    memset(batches, 0, sizeof batches);
    if (output_open_log(&file, "hlog", path) != 0 || output_begin(&file) != 0 ||
        start_workers() != 0)
        return -1;
    return client_intervals_init(&intervals, &workers, hlog_is_available() ? &file : NULL, total,
                                 batches, ORIGIN);
}

static int teardown(void **state)
{
    (void)state;
    client_intervals_free(&intervals);
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_free(&total[m]);
    stop_workers();
    return output_close(&file);
}

static void read_log(void)
{
    FILE *in = fopen(path, "r");

    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
}

static void record(int worker, uint64_t response_ns)
{
    hist_record(&all[worker].figures.metrics[CLIENT_RESPONSE], response_ns);
}

/* What workers do when they get CLIENT_HAND_OVER. */
static void hand_over(void)
{
    assert_true(take_posted(CLIENT_HAND_OVER));
    for (int i = 0; i < N_WORKERS; i++)
        client_figures_hand_over(&all[i].figures);
}

static void a_tick_asks_for_this_interval_and_collects_the_previous_one(void **state)
{
    (void)state;
    record(0, 10);
    record(1, 20);
    client_intervals_tick(&intervals, ORIGIN + S);
    assert_int_equal(total[CLIENT_RESPONSE].count, 0);
    hand_over();
    record(0, 30); /* belongs to the next interval */
    client_intervals_tick(&intervals, ORIGIN + 2 * S);
    assert_int_equal(total[CLIENT_RESPONSE].count, 2);
    assert_int_equal(intervals.recent.count, 2);
    assert_int_equal(intervals.recent.max_ns, 20);
    hand_over();
    client_intervals_tick(&intervals, ORIGIN + 3 * S);
    assert_int_equal(total[CLIENT_RESPONSE].count, 3);
    assert_int_equal(intervals.recent.count, 1);
    assert_int_equal(intervals.recent.max_ns, 30);
}

static void each_interval_is_a_batch_and_a_line_of_the_log(void **state)
{
    char *line;

    (void)state;
    if (!hlog_is_available())
        skip();
    for (uint64_t i = 0; i < 3; i++) {
        if (i != 1)
            record(0, 1000 * (i + 1));
        client_intervals_tick(&intervals, ORIGIN + (i + 1) * S + i * S / 2);
        hand_over();
    }
    client_intervals_finish(&intervals, ORIGIN + 5 * S);
    assert_int_equal(batches[CLIENT_RESPONSE].n, 2); /* an interval without values is none */
    read_log();
    assert_memory_equal(text, "0.000,1.000,", 12);
    line = strchr(text, '\n') + 1;
    assert_memory_equal(line, "2.500,1.500,", 12);
    assert_int_equal(strchr(line, '\n')[1], '\0'); /* no further line */
}

/* Without one, values would count as response times. */
static void each_metric_but_the_response_time_has_a_tag_of_its_own(void **state)
{
    const char *tags[CLIENT_N_QUERY_METRICS] = {NULL};
    unsigned n_tags = 0, n_without = 0;

    (void)state;
    if (!hlog_is_available())
        skip();
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_record(&all[0].figures.metrics[m], 1000);
    client_intervals_tick(&intervals, ORIGIN + S);
    hand_over();
    client_intervals_finish(&intervals, ORIGIN + 2 * S);
    read_log();
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        if (strncmp(line, "Tag=", 4) != 0) {
            n_without++;
            continue;
        }
        line[strcspn(line, ",")] = '\0';
        for (unsigned i = 0; i < n_tags; i++)
            assert_string_not_equal(line, tags[i]);
        assert_true(n_tags < CLIENT_N_QUERY_METRICS);
        tags[n_tags++] = line;
    }
    assert_int_equal(n_without, 1);
    assert_int_equal(n_tags, CLIENT_N_QUERY_METRICS - 1);
}

static void an_interval_lost_for_lack_of_memory_is_reported_and_leaves_no_partial_line(void **state)
{
    char *said;

    (void)state;
    if (!hlog_is_available())
        return;
    record(0, 10);
    client_intervals_tick(&intervals, ORIGIN + S);
    hand_over();
    log_set_stream(print_open());
    memory_largest_bytes = 0;
    client_intervals_tick(&intervals, ORIGIN + 2 * S);
    memory_largest_bytes = SIZE_MAX;
    log_set_stream(NULL);
    said = print_close();
    assert_has(said, "--hlog: cannot write '");
    assert_has(said, "Cannot allocate memory; values of an interval are lost\n");
    free(said);
    assert_true(intervals.failed);
    record(0, 20);
    hand_over();
    client_intervals_tick(&intervals, ORIGIN + 3 * S);
    read_log();
    assert_memory_equal(text, "1.000,1.000,", 12);
}

static void nothing_is_lost_at_the_end(void **state)
{
    (void)state;
    record(0, 10);
    client_intervals_tick(&intervals, ORIGIN + S);
    hand_over();
    record(1, 20);
    client_intervals_tick(&intervals, ORIGIN + 2 * S);
    record(1, 30); /* never handed over */
    client_intervals_finish(&intervals, ORIGIN + 3 * S);
    assert_int_equal(total[CLIENT_RESPONSE].count, 3);
    assert_false(intervals.failed);
}

static void unanswered_queries_are_collected_too(void **state)
{
    (void)state;
    hist_record_beyond(&all[0].figures.metrics[CLIENT_RESPONSE], 1);
    client_intervals_tick(&intervals, ORIGIN + S);
    hand_over();
    client_intervals_tick(&intervals, ORIGIN + 2 * S);
    assert_int_equal(total[CLIENT_RESPONSE].beyond, 1);
    assert_int_equal(total[CLIENT_RESPONSE].count, 0);
    hist_record_beyond(&all[0].figures.metrics[CLIENT_RESPONSE], 1);
    record(0, 10); /* as many answered */
    client_intervals_finish(&intervals, ORIGIN + 3 * S);
    assert_int_equal(total[CLIENT_RESPONSE].beyond, 2);
    if (hlog_is_available()) {
        read_log();
        assert_memory_equal(text, "0.000,1.000,", 12);
        assert_memory_equal(strchr(text, '\n') + 1, "2.000,1.000,", 12);
    }
}

/* Two classes, the second of which has no values in the first interval. */
static void times_of_classes_are_collected_and_logged_by_their_names(void **state)
{
    static const struct client_class classes[] = {{.name = "a"}, {.name = "b"}};
    struct client_class_times totals[CLIENT_CLASS_MOST] = {0};

    (void)state;
    for (int i = 0; i < N_WORKERS; i++) {
        all[i].figures.classes = client_class_figures_new(2);
        all[i].figures.n_classes = 2;
        assert_non_null(all[i].figures.classes);
    }
    assert_int_equal(client_intervals_add_classes(&intervals, classes, 2, totals), 0);
    for (int i = 0; i < N_WORKERS; i++)
        hist_record(&client_figures_class_times(&all[i].figures, 0)->response, 10);
    client_intervals_tick(&intervals, ORIGIN + S);
    hand_over();
    hist_record(&client_figures_class_times(&all[1].figures, 1)->response, 20);
    hist_record_beyond(&client_figures_class_times(&all[1].figures, 1)->service, 1);
    client_intervals_tick(&intervals, ORIGIN + 2 * S);
    assert_int_equal(totals[0].response.count, 2);
    assert_int_equal(totals[1].response.count, 0);
    client_intervals_finish(&intervals, ORIGIN + 3 * S);
    assert_int_equal(totals[0].response.count, 2);
    assert_int_equal(totals[1].response.max_ns, 20);
    assert_int_equal(totals[1].service.beyond, 1);
    if (hlog_is_available()) {
        read_log();
        assert_memory_equal(text, "Tag=response:a,0.000,1.000,", 27);
        assert_non_null(strstr(text, "\nTag=response:b,2.000,"));
        assert_non_null(strstr(text, "\nTag=service:b,2.000,"));
        assert_null(strstr(text, "Tag=service:a"));
    }
    for (int k = 0; k < 2; k++)
        client_class_times_free(&totals[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tick_asks_for_this_interval_and_collects_the_previous_one,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(each_interval_is_a_batch_and_a_line_of_the_log, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(each_metric_but_the_response_time_has_a_tag_of_its_own,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_interval_lost_for_lack_of_memory_is_reported_and_leaves_no_partial_line, setup,
            teardown),
        cmocka_unit_test_setup_teardown(nothing_is_lost_at_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(unanswered_queries_are_collected_too, setup, teardown),
        cmocka_unit_test_setup_teardown(times_of_classes_are_collected_and_logged_by_their_names,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
