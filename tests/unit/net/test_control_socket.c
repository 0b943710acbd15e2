/* SPDX-License-Identifier: MIT
 * test_control_socket: who gets a control port. */
#include "net/control_socket.h"

#include "base/utf8.h"
#include "directory_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* "unix:" and a path of sockaddr_un. */
enum { ADDRESS_BYTES = 128 };

enum { N_PROGRAMS = 4, N_ROUNDS = 100 };

static void abandon(const struct sockaddr_un *un)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (const struct sockaddr *)un, sizeof *un), 0);
    close(fd);
}

/* Says whether it listens, and does until the end is closed. */
static void be_program(const char *address, int begin, int said, int end)
{
    char error[CONTROL_SOCKET_ERROR_BYTES], byte, what = 'y';
    struct control_socket s;

    (void)!read(begin, &byte, 1);
    if (control_socket_listen(&s, address, false, error) != 0)
        what = strstr(error, "Address already in use") != NULL ? 'n' : '?';
    (void)!write(said, &what, 1);
    (void)!read(end, &byte, 1);
    control_socket_close(&s);
    _exit(0);
}

static void begin_programs(const char *address, const int *begin, int said, const int *end)
{
    for (int i = 0; i < N_PROGRAMS; i++)
        if (fork() == 0) {
            close(begin[1]);
            close(end[1]);
            be_program(address, begin[0], said, end[0]);
        }
    close(begin[1]);
}

static void one_of_several_programs_listens(void **state)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    char address[ADDRESS_BYTES];

    (void)state;
    snprintf(un.sun_path, sizeof un.sun_path, "%s/shared", directory);
    snprintf(address, sizeof address, "unix:%s", un.sun_path);
    for (int k = 0; k < N_ROUNDS; k++) {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        int begin[2], said[2], end[2], n_listening = 0;
        char what;

        assert_int_equal(pipe(begin) | pipe(said) | pipe(end), 0);
        abandon(&un);
        begin_programs(address, begin, said[1], end);
        for (int i = 0; i < N_PROGRAMS; i++) {
            assert_int_equal(read(said[0], &what, 1), 1);
            assert_true(what == 'y' || what == 'n');
            n_listening += what == 'y';
        }
        assert_int_equal(n_listening, 1);
        assert_int_equal(connect(fd, (const struct sockaddr *)&un, sizeof un), 0);
        close(end[1]);
        while (wait(NULL) > 0)
            ;
        assert_int_equal(access(un.sun_path, F_OK), -1);
        close(fd);
        close(begin[0]);
        close(end[0]);
        close(said[0]);
        close(said[1]);
    }
}

/* Reads a file with a token of n characters between these.  Returns what control_token_read() does.
 */
static int read_token(const char *before, size_t n, const char *after)
{
    char path[sizeof directory + 8], text[CONTROL_TOKEN_MAX + 2], error[CONTROL_SOCKET_ERROR_BYTES];
    struct control_token token;
    FILE *file;
    int failed;

    snprintf(path, sizeof path, "%s/token", directory);
    memset(text, 'x', n);
    text[n] = '\0';
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fchmod(fileno(file), 0600), 0);
    fprintf(file, "%s%s%s", before, text, after);
    assert_int_equal(fclose(file), 0);
    failed = control_token_read(&token, path, error);
    unlink(path);
    if (failed)
        assert_non_null(strstr(error, "expected a line of"));
    else
        assert_string_equal(token.text, text);
    return failed;
}

static void token_may_be_from_an_editor_on_windows(void **state)
{
    static const char *const before[] = {"", UTF8_BYTE_ORDER_MARK}, *const after[] = {"\n", "\r\n"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        const char *mark = before[i % 2], *end = after[i / 2];

        assert_int_equal(read_token(mark, CONTROL_TOKEN_MIN, end), 0);
        assert_int_equal(read_token(mark, CONTROL_TOKEN_MAX, end), 0);
        /* the controls */
        assert_int_equal(read_token(mark, CONTROL_TOKEN_MIN - 1, end), -1);
        assert_int_equal(read_token(mark, CONTROL_TOKEN_MAX + 1, end), -1);
    }
    assert_int_equal(read_token(UTF8_BYTE_ORDER_MARK UTF8_BYTE_ORDER_MARK, 20, "\n"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_several_programs_listens),
        cmocka_unit_test(token_may_be_from_an_editor_on_windows),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
