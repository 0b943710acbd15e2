/* SPDX-License-Identifier: MIT
 * test_control_http: responses that are not read, read slowly, have no body, or are to HTTP/1.0 or
 * CONNECT; peers that are silent or slow; no descriptors left.  In virtual time. */
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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* More than fits the sockets. */
enum { BODY_BYTES = 8 << 20 };

enum { NOFILE = 128, MOST_PEERS = NOFILE / 8 }; /* net/control_connections.h */

static const struct control_token no_token;
static struct event_base *base;
static struct control_socket listening;
static struct control_http *http;
static struct sockaddr_un listens_at = {.sun_family = AF_UNIX};
static int peer, n_requests, n_waits, n_accepts;
static bool are_no_descriptors;
static uint64_t now_ms;

int clock_gettime(clockid_t id, struct timespec *now)
{
    (void)id;
    *now = (struct timespec){.tv_sec = (time_t)(now_ms / 1000),
                             .tv_nsec = (long)(now_ms % 1000) * 1000000};
    return 0;
}

/* Sleeps in virtual time. */
static int wait_for(int epoll_fd, struct epoll_event *events, int most, uint64_t timeout_ms)
{
    const int n = (int)syscall(SYS_epoll_pwait, epoll_fd, events, most, 0, NULL, 0);

    n_waits++;
    if (n == 0)
        now_ms += timeout_ms;
    return n;
}

/* Called by libevent. */
int epoll_wait(int epoll_fd, struct epoll_event *events, int most, int timeout_ms)
{
    assert_true(timeout_ms >= 0); /* nothing else would end the wait */
    return wait_for(epoll_fd, events, most, (uint64_t)timeout_ms);
}

#ifdef SYS_epoll_pwait2
int epoll_pwait2(int epoll_fd, struct epoll_event *events, int most, const struct timespec *timeout,
                 const sigset_t *mask)
{
    (void)mask;
    assert_non_null(timeout);
    return wait_for(epoll_fd, events, most,
                    (uint64_t)timeout->tv_sec * 1000 +
                        ((uint64_t)timeout->tv_nsec + 999999) / 1000000);
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

static void send_text(int to, const char *text)
{
    assert_int_equal(send(to, text, strlen(text), 0), strlen(text));
}

static void send_request(const char *request)
{
    send_text(peer, request);
}

static int connect_peer(void)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&listens_at, sizeof listens_at), 0);
    return fd;
}

/* Connects a peer. */
static int open_port(void **state)
{
    char where[CONTROL_SOCKET_ERROR_BYTES], error[CONTROL_SOCKET_ERROR_BYTES];

    (void)state;
    now_ms = 1000000;
    n_requests = n_accepts = 0;
    base = event_base_new();
    snprintf(where, sizeof where, "unix:%s/c", directory);
    snprintf(listens_at.sun_path, sizeof listens_at.sun_path, "%s/c", directory);
    assert_int_equal(control_socket_listen(&listening, where, false, error), 0);
    http = control_http_start(base, &listening, &no_token, ~0u, answer, NULL);
    assert_non_null(http);
    peer = connect_peer();
    return 0;
}

/* With room for MOST_PEERS connections. */
static int open_small_port(void **state)
{
    struct rlimit usual, small;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    small = usual;
    small.rlim_cur = NOFILE;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
    open_port(state);
    return setrlimit(RLIMIT_NOFILE, &usual);
}

/* Takes a request for a response that its sender does not read. */
static int take_request(void)
{
    send_request("GET /stats HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while (n_requests == 0)
        event_base_loop(base, EVLOOP_NONBLOCK);
    return 0;
}

static int setup(void **state)
{
    return open_port(state) + take_request();
}

static int setup_small(void **state)
{
    return open_small_port(state) + take_request();
}

static int teardown(void **state)
{
    (void)state;
    event_base_free(base);
    return 0;
}

static void end_waits_asleep_for_a_peer_that_does_not_read(void **state)
{
    const uint64_t begun_ms = now_ms;

    (void)state;
    n_waits = 0;
    control_http_end(http);
    assert_in_range(n_waits, 1, 20);
    assert_in_range(now_ms - begun_ms, 200, 201);
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
    for (int n_tries = 1; n_tries < 4; n_tries++) {
        for (int i = 0; i < 10; i++)
            event_base_loop(base, EVLOOP_NONBLOCK);
        assert_int_equal(n_accepts, n_tries);
        now_ms += 20;
    }
    assert_int_equal(recv(peer, text, sizeof text, MSG_DONTWAIT), -1);
    are_no_descriptors = false;
    receive_text(text, sizeof text);
    assert_non_null(strstr(text, " 200 "));
    control_http_end(http);
    close(peer);
}

/* --- too many peers --- */

static void run_for(uint64_t ms)
{
    for (const uint64_t end_ms = now_ms + ms; now_ms < end_ms; now_ms += 10)
        for (int i = 0; i < 3; i++)
            event_base_loop(base, EVLOOP_NONBLOCK);
}

static bool is_open(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

/* In addition to `peer`: up to the maximum number, and one that sends a request. */
static int connect_others(int others[MOST_PEERS - 1])
{
    int one_more;

    for (int i = 0; i < MOST_PEERS - 1; i++)
        others[i] = connect_peer();
    one_more = connect_peer();
    send_text(one_more, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return one_more;
}

static void close_others(const int others[MOST_PEERS - 1], int one_more)
{
    for (int i = 0; i < MOST_PEERS - 1; i++)
        close(others[i]);
    close(one_more);
    close(peer);
    control_http_end(http);
}

static void a_silent_peer_is_given_up_after_5_s(void **state)
{
    (void)state;
    run_for(4900);
    assert_true(is_open(peer));
    run_for(200);
    assert_false(is_open(peer));
    close(peer);
    control_http_end(http);
}

static void silent_peers_make_room_after_their_grace(void **state)
{
    int others[MOST_PEERS - 1], one_more = connect_others(others);

    (void)state;
    run_for(900);
    assert_int_equal(n_accepts, MOST_PEERS);
    assert_true(is_open(peer));
    assert_true(is_open(one_more)); /* no answer yet */
    run_for(200);
    assert_false(is_open(one_more));
    assert_false(is_open(peer));
    assert_false(is_open(others[0]));
    assert_true(is_open(others[1])); /* one in eight */
    close_others(others, one_more);
}

static void half_of_a_request_is_waited_for_when_there_is_no_room(void **state)
{
    static const char first[] = "GET / HTTP/1.1\r\nHost: local", rest[] = "host\r\n\r\n";
    enum { NEWEST = MOST_PEERS - 2 };
    int others[MOST_PEERS - 1], one_more = connect_others(others);
    char status[12];

    (void)state;
    send_request(first);
    for (int i = 0; i < NEWEST; i++)
        send_text(others[i], first);
    run_for(900);
    assert_true(is_open(others[NEWEST]));
    assert_true(is_open(one_more)); /* no answer yet */
    run_for(200);
    assert_false(is_open(others[NEWEST]));
    assert_false(is_open(one_more));
    for (int i = 0; i < NEWEST; i++) {
        assert_true(is_open(others[i]));
        send_text(others[i], rest);
    }
    run_for(100);
    for (int i = 0; i < NEWEST; i++) {
        assert_int_equal(recv(others[i], status, sizeof status, MSG_DONTWAIT), sizeof status);
        assert_memory_equal(status, "HTTP/1.1 200", sizeof status);
    }
    assert_true(is_open(peer));
    close_others(others, one_more);
}

/* libevent would wait for 5 s after each byte. */
static void slow_requests_make_room_after_5_s(void **state)
{
    int others[MOST_PEERS - 1], one_more = connect_others(others);

    (void)state;
    for (int second = 0; second < 5; second++) {
        send_text(peer, "G");
        for (int i = 0; i < MOST_PEERS - 1; i++)
            send_text(others[i], "G");
        run_for(970);
        assert_true(is_open(peer));
        assert_true(is_open(one_more));
    }
    run_for(200);
    assert_false(is_open(one_more));
    assert_false(is_open(peer));
    close_others(others, one_more);
}

static void a_peer_that_reads_its_response_makes_no_room(void **state)
{
    char end[5] = "", some[1 << 16];
    int others[MOST_PEERS - 1], one_more;
    ssize_t n, n_before = 0;

    (void)state;
    run_for(4000);
    while ((n = recv(peer, some, sizeof some, MSG_DONTWAIT)) > 0)
        n_before += n;
    run_for(3000);
    one_more = connect_others(others);
    run_for(1100);
    assert_false(is_open(one_more));
    assert_false(is_open(others[1]));
    assert_true((size_t)n_before + receive(end) > BODY_BYTES);
    close_others(others, one_more);
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
        cmocka_unit_test_setup_teardown(a_silent_peer_is_given_up_after_5_s, open_port, teardown),
        cmocka_unit_test_setup_teardown(silent_peers_make_room_after_their_grace, open_small_port,
                                        teardown),
        cmocka_unit_test_setup_teardown(half_of_a_request_is_waited_for_when_there_is_no_room,
                                        open_small_port, teardown),
        cmocka_unit_test_setup_teardown(slow_requests_make_room_after_5_s, open_small_port,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_peer_that_reads_its_response_makes_no_room, setup_small,
                                        teardown),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
