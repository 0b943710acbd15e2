/* SPDX-License-Identifier: MIT
 * test_notify: datagrams to the socket of NOTIFY_SOCKET, a path or an abstract name. */
#include "base/notify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { NAME_BYTES = 64, TEXT_BYTES = 64 };

/* Binds to the name; '@' marks an abstract one. */
static int listen_at(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const size_t n = strlen(name);

    assert_true(fd >= 0);
    memcpy(a.sun_path, name, n);
    if (name[0] == '@')
        a.sun_path[0] = '\0';
    assert_int_equal(
        bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)),
        0);
    return fd;
}

static void assert_received(int fd, const char *text)
{
    char got[TEXT_BYTES];
    const ssize_t n = recv(fd, got, sizeof got, MSG_DONTWAIT);

    assert_int_equal(n, strlen(text));
    assert_memory_equal(got, text, strlen(text));
}

static void assert_told(const char *name)
{
    char more[TEXT_BYTES];
    const int fd = listen_at(name);

    assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
    assert_int_equal(notify(NOTIFY_READY), 0);
    assert_int_equal(notify(NOTIFY_STOPPING), 0);
    assert_received(fd, "READY=1");
    assert_received(fd, "STOPPING=1");
    assert_true(recv(fd, more, sizeof more, MSG_DONTWAIT) < 0);
    close(fd);
}

static void a_socket_with_a_path_is_notified(void **state)
{
    char directory[] = "/tmp/tcpscaler-test-XXXXXX", name[NAME_BYTES];

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(name, sizeof name, "%s/notify", directory);
    assert_told(name);
    unlink(name);
    rmdir(directory);
}

static void an_abstract_socket_is_notified(void **state)
{
    char name[NAME_BYTES];

    (void)state;
    snprintf(name, sizeof name, "@tcpscaler-test-%d", (int)getpid());
    assert_told(name);
}

static void nothing_is_sent_without_notify_socket(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(notify(NOTIFY_READY), 0);
    setenv("NOTIFY_SOCKET", "", 1);
    assert_int_equal(notify(NOTIFY_READY), 0);
}

static void a_socket_that_cannot_be_notified_is_an_error(void **state)
{
    static const char long_name[] =
        "/0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
        "890123456789012345678901234567890123456789";
    static const char *const names[] = {"/nonexistent/notify", "@", "relative", long_name};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setenv("NOTIFY_SOCKET", names[i], 1);
        assert_int_equal(notify(NOTIFY_READY), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_with_a_path_is_notified),
        cmocka_unit_test(an_abstract_socket_is_notified),
        cmocka_unit_test(nothing_is_sent_without_notify_socket),
        cmocka_unit_test(a_socket_that_cannot_be_notified_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
