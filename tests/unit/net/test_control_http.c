/* SPDX-License-Identifier: MIT
 * test_control_http: responses that are not read, read slowly, have no body, or are to HTTP/1.0 or
 * CONNECT; no descriptors left. */
#undef _GNU_SOURCE /* with it, glibc declares accept4(2) with a transparent union */
#define _DEFAULT_SOURCE

#include "net/control_http.h"

#include "directory_steps.h"

#include <errno.h>
#include <event2/event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* More than fits the sockets. */
enum { BODY_BYTES = 8 << 20 };

static const struct control_token no_token;
static struct event_base *base;
static struct control_socket listening;
static struct control_http *http;
static int peer, n_requests, n_waits, n_accepts;
static bool are_no_descriptors;

/* Called by libevent: counts its system calls. */
int epoll_wait(int epoll_fd, struct epoll_event *events, int most, int timeout_ms)
{
    n_waits++;
    return (int)syscall(SYS_epoll_pwait, epoll_fd, events, most, timeout_ms, NULL, 0);
}

#ifdef SYS_epoll_pwait2
int epoll_pwait2(int epoll_fd, struct epoll_event *events, int most, const struct timespec *timeout,
                 const sigset_t *mask)
{
    n_waits++;
    return (int)syscall(SYS_epoll_pwait2, epoll_fd, events, most, timeout, mask, _NSIG / 8);
}
#endif

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);

/* Likewise. */
int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    n_accepts++;
    if (!are_no_descriptors)
        return (int)syscall(SYS_accept4, fd, address, length, flags);
    errno = EMFILE;
    return -1;
}

static enum control_status answer(void *context, const struct control_request *q,
                                  struct control_reply *reply)
{
    (void)context;
    (void)q;
    n_requests++;
    fprintf(reply->out, "\"%0*d\"", BODY_BYTES, 0);
    return CONTROL_OK;
}

static void send_request(const char *request)
{
    assert_int_equal(send(peer, request, strlen(request), 0), strlen(request));
}

/* Connects a peer. */
static int open_port(void **state)
{
    char address[CONTROL_SOCKET_ERROR_BYTES], error[CONTROL_SOCKET_ERROR_BYTES];
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    (void)state;
    n_requests = 0;
    base = event_base_new();
    snprintf(address, sizeof address, "unix:%s/c", directory);
    snprintf(un.sun_path, sizeof un.sun_path, "%s/c", directory);
    assert_int_equal(control_socket_listen(&listening, address, false, error), 0);
    http = control_http_start(base, &listening, &no_token, ~0u, answer, NULL);
    assert_non_null(http);
    peer = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(peer, (const struct sockaddr *)&un, sizeof un), 0);
    return 0;
}

/* Takes a request for a response that its sender does not read. */
static int setup(void **state)
{
    open_port(state);
    send_request("GET /stats HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while (n_requests == 0)
        event_base_loop(base, EVLOOP_ONCE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    event_base_free(base);
    return 0;
}

static void end_waits_asleep_for_a_peer_that_does_not_read(void **state)
{
    (void)state;
    n_waits = 0;
    control_http_end(http);
    assert_in_range(n_waits, 1, 20);
    close(peer);
}

static void end_waits_for_no_peer_that_is_gone(void **state)
{
    (void)state;
    close(peer);
    for (int i = 0; i < 10; i++)
        event_base_loop(base, EVLOOP_NONBLOCK);
    n_waits = 0;
    control_http_end(http);
    assert_int_equal(n_waits, 0);
}

/* Reads to the end of the response.  Returns its length; `end`: its last four bytes. */
static size_t receive(char end[5])
{
    static char bytes[1 << 16];
    size_t n_bytes = 0;
    ssize_t n;

    while ((n = recv(peer, bytes, sizeof bytes, MSG_DONTWAIT)) != 0) {
        assert_true(n > 0 || errno == EAGAIN);
        for (ssize_t i = n > 4 ? n - 4 : 0; i < n; i++) {
            memmove(end, end + 1, 3);
            end[3] = bytes[i];
        }
        n_bytes += n > 0 ? (size_t)n : 0;
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
    return n_bytes;
}

static void a_peer_that_sends_more_and_closes_its_half_gets_the_whole_response(void **state)
{
    char end[5] = "";

    (void)state;
    send_request("GET / HTTP/1.1\r\n");
    shutdown(peer, SHUT_WR);
    assert_true(receive(end) > BODY_BYTES);
    control_http_end(http);
    close(peer);
}

static void a_response_to_head_has_no_body(void **state)
{
    char end[5] = "";

    (void)state;
    send_request("HEAD /stats HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_true(receive(end) > 0);
    assert_string_equal(end, "\r\n\r\n");
    control_http_end(http);
    close(peer);
}

/* Reads a short response to its end. */
static void receive_text(char *text, size_t room)
{
    size_t n_bytes = 0;
    ssize_t n;

    while ((n = recv(peer, text + n_bytes, room - 1 - n_bytes, MSG_DONTWAIT)) != 0) {
        assert_true(n > 0 || errno == EAGAIN);
        n_bytes += n > 0 ? (size_t)n : 0;
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
    text[n_bytes] = '\0';
}

static void a_client_of_http_1_0_is_not_promised_to_keep_the_connection(void **state)
{
    char text[2048];

    (void)state;
    send_request("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    receive_text(text, sizeof text);
    assert_non_null(strstr(text, " 200 "));
    assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
    assert_null(strstr(text, "keep-alive"));
    control_http_end(http);
    close(peer);
}

static void a_response_to_connect_ends_the_connection(void **state)
{
    char text[2048];

    (void)state;
    send_request("CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
                 "POST /pause HTTP/1.1\r\nHost: localhost\r\n\r\n");
    receive_text(text, sizeof text);
    assert_non_null(strstr(text, " 404 "));
    assert_non_null(strstr(text, "\r\nContent-Length: "));
    assert_int_equal(n_requests, 0);
    n_waits = 0;
    control_http_end(http);
    assert_int_equal(n_waits, 0);
    close(peer);
}

static void a_peer_waits_while_there_are_no_descriptors(void **state)
{
    char text[2048];

    (void)state;
    send_request("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    are_no_descriptors = true;
    n_accepts = n_waits = 0;
    while (n_accepts < 3) /* it fails, rests, tries again */
        event_base_loop(base, EVLOOP_ONCE);
    assert_in_range(n_waits, 3, 20);
    assert_int_equal(recv(peer, text, sizeof text, MSG_DONTWAIT), -1);
    are_no_descriptors = false;
    receive_text(text, sizeof text);
    assert_non_null(strstr(text, " 200 "));
    control_http_end(http);
    close(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(end_waits_asleep_for_a_peer_that_does_not_read, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(end_waits_for_no_peer_that_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_peer_that_sends_more_and_closes_its_half_gets_the_whole_response, setup, teardown),
        cmocka_unit_test_setup_teardown(a_response_to_head_has_no_body, open_port, teardown),
        cmocka_unit_test_setup_teardown(a_client_of_http_1_0_is_not_promised_to_keep_the_connection,
                                        open_port, teardown),
        cmocka_unit_test_setup_teardown(a_response_to_connect_ends_the_connection, open_port,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_peer_waits_while_there_are_no_descriptors, open_port,
                                        teardown),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
