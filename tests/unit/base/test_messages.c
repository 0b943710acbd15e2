/* SPDX-License-Identifier: MIT
 * test_messages: what is written to stderr if its reader does not read, and that no thread waits
 * forever. */
#include "base/messages.h"

#include "base/log.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int reading, n_filled; /* the pipe that is stderr: full, up to n_filled bytes */
static int kept;              /* the real one */

/* Fills the pipe with pages, as long as they fit. */
static int set_up(void **state)
{
    static const char page[PIPE_BUF];
    int ends[2], writing;

    (void)state;
    kept = dup(STDERR_FILENO);
    if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) != STDERR_FILENO)
        return -1;
    close(ends[1]);
    reading = ends[0];
    messages_take_stderr();
    writing = dup(STDERR_FILENO);
    (void)fcntl(writing, F_SETFL, O_NONBLOCK);
    for (n_filled = 0; write(writing, page, sizeof page) > 0; n_filled += PIPE_BUF)
        ;
    close(writing);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fclose(log_stream());
    log_set_stream(NULL);
    (void)dup2(kept, STDERR_FILENO);
    close(kept);
    close(reading);
    messages_set_wait(MESSAGES_BRIEFLY);
    return 0;
}

/* Reads what the pipe was filled with. */
static void make_room(void)
{
    char page[PIPE_BUF];

    for (; n_filled > 0; n_filled -= PIPE_BUF)
        assert_int_equal(read(reading, page, sizeof page), sizeof page);
}

static void read_text(char text[256])
{
    memset(text, 0, 256);
    (void)fcntl(reading, F_SETFL, O_NONBLOCK);
    assert_true(read(reading, text, 255) >= 0);
}

static void assert_text(const char *expected)
{
    char text[256];

    read_text(text);
    assert_string_equal(text, expected);
}

static void lost_lines_are_counted_and_reported(void **state)
{
    (void)state;
    messages_set_wait(MESSAGES_NEVER);
    fputs("one\ntwo\n", log_stream());
    fputs("three\n", log_stream());
    make_room();
    fputs("four\n", log_stream());
    fputs("five\n", log_stream());
    assert_text("test_messages: lines lost because nobody read stderr: 3\nfour\nfive\n");
}

static void a_message_waits_only_briefly(void **state)
{
    (void)state;
    fputs("one\n", log_stream()); /* ends */
    for (int i = 0; i < 10000; i++)
        fputs("two\n", log_stream()); /* waits no more */
    make_room();
    fputs("three\n", log_stream());
    assert_text("test_messages: lines lost because nobody read stderr: 10001\nthree\n");
}

/* Before it, if there was room in time. */
static void lost_lines_are_reported_after_a_message_that_had_to_wait(void **state)
{
    static const char said[] = "test_messages: lines lost because nobody read stderr: 1\n";
    char text[256];
    pid_t reader;

    (void)state;
    messages_set_wait(MESSAGES_NEVER);
    fputs("one\n", log_stream());
    messages_set_wait(MESSAGES_UNTIL_SHUTDOWN);
    reader = fork(); /* makes room while this process waits */
    if (reader == 0) {
        make_room();
        _exit(0);
    }
    fputs("two\n", log_stream());
    assert_int_equal(waitpid(reader, NULL, 0), reader);
    n_filled = 0;
    read_text(text);
    assert_non_null(strstr(text, said));
    assert_non_null(strstr(text, "two\n"));
    assert_int_equal(strlen(text), strlen(said) + strlen("two\n"));
}

static void text_that_was_offered_in_vain_does_not_count_as_lost(void **state)
{
    (void)state;
    assert_int_equal(messages_offer("one\n", 4), 0);
    make_room();
    assert_int_equal(messages_offer("one\n", 4), 4);
    assert_text("one\n");
}

static void a_text_is_taken_whole_or_in_part(void **state)
{
    static char text[1 << 20];
    size_t n;

    (void)state;
    memset(text, 'x', sizeof text);
    make_room();
    messages_set_wait(MESSAGES_NEVER);
    n = messages_offer(text, sizeof text);
    assert_in_range(n, PIPE_BUF, sizeof text - 1);
    fputs("lost\n", log_stream());
    while (n > 0) {
        const ssize_t n_read = read(reading, text, n < PIPE_BUF ? n : PIPE_BUF);

        assert_true(n_read > 0);
        n -= (size_t)n_read;
    }
    fputs("next\n", log_stream());
    assert_text("\ntest_messages: lines lost because nobody read stderr: 1\nnext\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lost_lines_are_counted_and_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_message_waits_only_briefly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_lines_are_reported_after_a_message_that_had_to_wait,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_that_was_offered_in_vain_does_not_count_as_lost,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_text_is_taken_whole_or_in_part, set_up, tear_down),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
