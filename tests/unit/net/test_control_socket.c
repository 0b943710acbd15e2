/* SPDX-License-Identifier: MIT
 * test_control_socket: who gets a control port, at which addresses, and which tokens are valid. */
#include "net/control_socket.h"

#include "base/utf8.h"
#include "directory_steps.h"

#include <arpa/inet.h>
#include <netinet/in.h>
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

static void assert_listens_not(const char *address, bool has_token, const char *why)
{
    char error[CONTROL_SOCKET_ERROR_BYTES];
    struct control_socket s;

    assert_int_equal(control_socket_listen(&s, address, has_token, error), -1);
    assert_int_equal(s.fd, -1);
    if (strstr(error, why) == NULL)
        fail_msg("%s: no '%s' in: %s", address, why, error);
}

static void invalid_and_unavailable_addresses_are_refused(void **state)
{
    static const char port[] = "expected ADDR:PORT with a port from 1 to 65535, or unix:PATH",
                      path[] = "expected a path of 1 to 107 bytes";
    char longest[ADDRESS_BYTES];

    (void)state;
    assert_listens_not("127.0.0.1:0", false, port);
    assert_listens_not("127.0.0.1", false, port);
    assert_listens_not("/path", false, port);
    assert_listens_not("unix:", false, path);
    snprintf(longest, sizeof longest, "unix:/nonexistent/%094d", 0);
    assert_int_equal(strlen(longest), strlen("unix:") + 107);
    assert_listens_not(longest, false, "No such file or directory");
    strcat(longest, "x");
    assert_listens_not(longest, false, path);
    assert_listens_not("192.0.2.1:9000", false, "is not a loopback address");
    assert_listens_not("192.0.2.1:9000", true, "Cannot assign requested address");
}

static void a_port_in_use_is_refused(void **state)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof in;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    char address[ADDRESS_BYTES];

    (void)state;
    assert_int_equal(bind(fd, (const struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &length), 0);
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(in.sin_port));
    assert_listens_not(address, false, "Address already in use");
    close(fd);
}

static mode_t mode_of(const char *path)
{
    struct stat about;

    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 0777;
}

/* In the working directory: its path has no '/'. */
static void a_unix_socket_is_private_and_files_created_later_are_not(void **state)
{
    const mode_t mask = umask(022);
    char error[CONTROL_SOCKET_ERROR_BYTES];
    struct control_socket s;

    (void)state;
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(control_socket_listen(&s, "unix:private", false, error), 0);
    assert_string_equal(s.path, "private");
    assert_int_equal(mode_of("private"), 0600);
    assert_int_equal(umask(mask), 022);
    control_socket_close(&s);
    assert_int_equal(s.fd, -1);
    assert_int_equal(access("private", F_OK), -1);
    assert_int_equal(chdir("/"), 0);
}

static void only_abandoned_sockets_are_replaced(void **state)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    char address[ADDRESS_BYTES], error[CONTROL_SOCKET_ERROR_BYTES];
    struct control_socket s;
    FILE *file;

    (void)state;
    snprintf(un.sun_path, sizeof un.sun_path, "%s/taken", directory);
    snprintf(address, sizeof address, "unix:%s", un.sun_path);
    file = fopen(un.sun_path, "w");
    assert_non_null(file);
    fclose(file);
    assert_listens_not(address, false, "Address already in use");
    assert_int_equal(unlink(un.sun_path), 0);
    abandon(&un);
    assert_int_equal(control_socket_listen(&s, address, false, error), 0);
    assert_listens_not(address, false, "Address already in use"); /* it has one that listens */
    assert_int_equal(access(un.sun_path, F_OK), 0);
    control_socket_close(&s);
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

static void a_token_has_visible_characters_only(void **state)
{
    static const struct {
        const char *before;
        bool good;
    } cases[] = {
        {"!", true}, {"~", true}, {" ", false}, {"\t", false}, {"\x7f", false}, {"\xc3\xa9", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[sizeof directory + 8], error[CONTROL_SOCKET_ERROR_BYTES];
        struct control_token token;
        FILE *file;

        snprintf(path, sizeof path, "%s/token", directory);
        file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fchmod(fileno(file), 0600), 0);
        fprintf(file, "%s%s\n", cases[i].before, "0123456789abcdef");
        assert_int_equal(fclose(file), 0);
        if ((control_token_read(&token, path, error) == 0) != cases[i].good)
            fail_msg("case %zu", i);
        unlink(path);
    }
}

static void a_token_of_which_others_may_know_is_refused(void **state)
{
    static const mode_t modes[] = {0640, 0604, 0620, 0602, 0610, 0601};
    char path[sizeof directory + 8], error[CONTROL_SOCKET_ERROR_BYTES];
    struct control_token token;
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s/token", directory);
    assert_int_equal(control_token_read(&token, path, error), -1);
    assert_non_null(strstr(error, "No such file or directory"));
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("0123456789abcdef\n", file);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(control_token_read(&token, path, error), -1);
        assert_non_null(strstr(error, "is accessible by other users"));
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_several_programs_listens),
        cmocka_unit_test(invalid_and_unavailable_addresses_are_refused),
        cmocka_unit_test(a_port_in_use_is_refused),
        cmocka_unit_test(a_unix_socket_is_private_and_files_created_later_are_not),
        cmocka_unit_test(only_abandoned_sockets_are_replaced),
        cmocka_unit_test(token_may_be_from_an_editor_on_windows),
        cmocka_unit_test(a_token_has_visible_characters_only),
        cmocka_unit_test(a_token_of_which_others_may_know_is_refused),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
