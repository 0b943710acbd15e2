/* SPDX-License-Identifier: MIT
 * test_page: which tcpreport draws the page, and which request to stop ends it. */
#include "client/page.h"

#include "base/shutdown.h"
#include "report_steps.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/test_page.XXXXXX";

/* A tcpreport that runs these commands. */
static void write_tcpreport(struct client_page *p, const char *commands)
{
    FILE *script;

    snprintf(p->tcpreport, sizeof p->tcpreport, "%s/tcpreport", directory);
    script = fopen(p->tcpreport, "w");
    assert_non_null(script);
    fprintf(script, "#!/bin/sh\n%s\n", commands);
    assert_int_equal(fclose(script), 0);
    assert_int_equal(chmod(p->tcpreport, 0700), 0);
}

/* Returns what client_page_write() does. */
static int write_page(struct made_up *m, const char *commands, bool was_requested)
{
    struct client_page p = {.name = "page.html", .directory = ""};
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int failed;

    assert_true(fd >= 0);
    write_tcpreport(&p, commands);
    memcpy(p.directory, directory, sizeof directory);
    failed = client_page_write(&p, fd, &m->about, &m->result, was_requested);
    unlink(p.tcpreport);
    client_page_free(&p);
    assert_int_equal(mkdir(directory, 0700), 0);
    close(fd);
    return failed;
}

/* It may come before tcpreport has started. */
static void a_request_after_the_run_ends_tcpreport(void **state)
{
    assert_int_equal(write_page(*state, "exit 0", false), 0);
    shutdown_request(SIGTERM);
    assert_true(shutdown_was_requested());
    assert_int_not_equal(write_page(*state, "exec sleep 1000", false), 0);
}

static void the_request_that_ended_the_run_leaves_tcpreport_alone(void **state)
{
    assert_true(shutdown_was_requested());
    assert_int_equal(write_page(*state, "sleep 0.1", true), 0);
}

static void tcpreport_has_the_prefix_of_this_program(void **state)
{
    static const char *const names[][2] = {
        {"/usr/bin/tcpclient", "/usr/bin/tcpreport"},
        {"/usr/bin/tcpscaler-tcpclient", "/usr/bin/tcpscaler-tcpreport"},
        {"/opt/tcpclient/client", "/opt/tcpclient/tcpreport"},
        {"/opt/bin/tcpclient (deleted)", "/opt/bin/tcpreport"},
        {"/client", "/tcpreport"},
    };
    char path[PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        client_page_find_tcpreport(path, names[i][0]);
        assert_string_equal(path, names[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tcpreport_has_the_prefix_of_this_program),
        TEST(a_request_after_the_run_ends_tcpreport),
        TEST(the_request_that_ended_the_run_leaves_tcpreport_alone),
    };
    int failed;

    if (mkdtemp(directory) == NULL || shutdown_catch() != 0)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
