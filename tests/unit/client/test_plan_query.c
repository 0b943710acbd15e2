/* SPDX-License-Identifier: MIT
 * test_plan_query: the queries of a run, from its options. */
#include "client/plan_query.h"

#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct planned {
    struct client_config config;
    struct query sizes[CLIENT_SWEEP_MOST];
};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct planned));
    return *state != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    struct planned *p = *state;

    client_plan_queries_free(&p->config, p->sizes);
    free(p);
    return 0;
}

static int plan(struct planned *p, const struct client_opts *o)
{
    return client_plan_queries(&p->config, p->sizes, o);
}

/* Length, header, "example.com", type and class; with EDNS, its record of 11 bytes. */
static void a_dns_query_has_the_name_and_the_edns_of_the_options(void **state)
{
    struct planned *p = *state;

    assert_int_equal(plan(p, &(struct client_opts){.protocol = QUERY_DNS}), 0);
    assert_int_equal(p->config.query.n_bytes, 2 + 12 + 13 + 4);
    client_plan_queries_free(&p->config, p->sizes);
    assert_int_equal(
        plan(p, &(struct client_opts){.protocol = QUERY_DNS, .qname = "a.b", .edns_bytes = 1232}),
        0);
    assert_int_equal(p->config.query.n_bytes, 2 + 12 + 5 + 4 + 11);
    assert_null(p->config.sizes);
}

static void a_listener_sends_none(void **state)
{
    struct planned *p = *state;

    assert_int_equal(plan(p, &(struct client_opts){.protocol = CLIENT_PROTOCOL_LISTEN}), 0);
    assert_true(p->config.listens);
    assert_null(p->config.query.bytes);
}

static void every_line_of_the_query_file_is_a_query(void **state)
{
    char path[] = "/tmp/test_plan_query_XXXXXX";
    const int fd = mkstemp(path);
    struct planned *p = *state;

    assert_true(fd >= 0);
    assert_int_equal(dprintf(fd, "a.example AAAA\nb.example\n"), 25);
    assert_int_equal(close(fd), 0);
    assert_int_equal(plan(p, &(struct client_opts){.protocol = QUERY_DNS, .query_file = path}), 0);
    assert_int_equal(p->config.query.n_queries, 2);
    assert_int_equal(unlink(path), 0);
}

static void bad_names_and_files_that_cannot_be_read_are_refused(void **state)
{
    struct planned *p = *state;

    assert_int_equal(plan(p, &(struct client_opts){.protocol = QUERY_DNS, .qname = "a..b"}), -1);
    assert_int_equal(
        plan(p, &(struct client_opts){.protocol = QUERY_DNS, .query_file = "/nonexistent"}), -1);
}

/* Returns the line on stderr about options of a class; the caller frees it. */
static char *refusal(const struct client_opts *o, const char *class)
{
    struct query query = {0};
    size_t n_bytes;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &n_bytes);

    assert_non_null(stream);
    log_set_stream(stream);
    assert_int_equal(client_plan_query(&query, o, class), -1);
    log_set_stream(NULL);
    assert_int_equal(fclose(stream), 0);
    query_free(&query);
    return text;
}

static void a_refusal_names_the_class_whose_option_it_is(void **state)
{
    static const struct client_opts name = {.protocol = QUERY_DNS, .qname = "a..b"},
                                    type = {.protocol = QUERY_DNS, .qtype = "B"},
                                    file = {.protocol = QUERY_DNS, .query_file = "/nonexistent"};
    const struct {
        const struct client_opts *opts;
        const char *class, *begin;
    } cases[] = {
        {&name, NULL, ": --qname: "},
        {&name, "stub", ": --class: stub: qname: "},
        {&type, "stub", ": --class: stub: qtype: "},
        {&file, NULL, ": --query-file: cannot read '/nonexistent'"},
        {&file, "stub", ": --class: stub: query-file: cannot read '/nonexistent'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = refusal(cases[i].opts, cases[i].class);

        if (strstr(text, cases[i].begin) == NULL)
            fail_msg("case %zu: %s", i, text);
        free(text);
    }
}

static void a_sweep_of_sizes_has_a_query_for_each(void **state)
{
    static const struct client_opts opts = {.protocol = QUERY_ECHO,
                                            .size_bytes = 10,
                                            .sweep_axis = CLIENT_SWEEP_SIZE,
                                            .n_sweep = 3,
                                            .sweep_values = {10, 200, 3000}};
    struct planned *p = *state;

    assert_int_equal(plan(p, &opts), 0);
    assert_int_equal(p->config.query.n_bytes, 10);
    assert_ptr_equal(p->config.sizes, p->sizes);
    assert_int_equal(p->config.n_sizes, opts.n_sweep);
    for (unsigned i = 0; i < opts.n_sweep; i++)
        assert_int_equal(p->sizes[i].n_bytes, opts.sweep_values[i]);
    assert_null(p->sizes[opts.n_sweep].bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_dns_query_has_the_name_and_the_edns_of_the_options),
        TEST(a_listener_sends_none),
        TEST(every_line_of_the_query_file_is_a_query),
        TEST(bad_names_and_files_that_cannot_be_read_are_refused),
        TEST(a_refusal_names_the_class_whose_option_it_is),
        TEST(a_sweep_of_sizes_has_a_query_for_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
