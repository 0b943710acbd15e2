/* SPDX-License-Identifier: MIT
 * test_control_client: the request, the response, and what is said of a control port that does not
 * answer.  Linked with --wrap=send and
 * --wrap=recv. */
#include "net/control_client.h"

#include "base/shutdown.h"
#include "directory_steps.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

enum { WAIT_MS = 20, LONG_MS = 60000, FILLERS = 4, BODY_BYTES = 256 };

/* "unix:" and a path of sockaddr_un, or "127.0.0.1:PORT". */
enum { ADDRESS_BYTES = 128 };

static const struct control_token no_token;

/* --- a client that sends and receives a few bytes at a time --- */

enum { PART_BYTES = 7 };

static _Thread_local bool asks; /* set in the thread of the client */

ssize_t __real_send(int fd, const void *bytes, size_t n_bytes, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t n_bytes, int flags);
ssize_t __real_recv(int fd, void *bytes, size_t n_bytes, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t n_bytes, int flags);

ssize_t __wrap_send(int fd, const void *bytes, size_t n_bytes, int flags)
{
    return __real_send(fd, bytes, asks && n_bytes > PART_BYTES ? PART_BYTES : n_bytes, flags);
}

ssize_t __wrap_recv(int fd, void *bytes, size_t n_bytes, int flags)
{
    return __real_recv(fd, bytes, asks && n_bytes > PART_BYTES ? PART_BYTES : n_bytes, flags);
}

enum { N_ALARMS = 3 };

static atomic_bool has_alarms;
static atomic_int n_alarms;

static void on_alarm(int number)
{
    (void)number;
    atomic_fetch_add(&n_alarms, 1);
}

/* A signal each millisecond, until stop_alarms(). */
static void start_alarms(void)
{
    const struct sigaction act = {.sa_handler = on_alarm};
    const struct itimerval each_ms = {{0, 1000}, {0, 1000}};

    atomic_store(&n_alarms, 0);
    atomic_store(&has_alarms, true);
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &each_ms, NULL);
}

static void stop_alarms(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct itimerval never = {0};

    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &ignore, NULL);
    atomic_store(&has_alarms, false);
}

static void assert_unanswered(const char *address, const char *expected)
{
    char body[256], error[CONTROL_SOCKET_ERROR_BYTES], line[CONTROL_SOCKET_ERROR_BYTES];

    snprintf(line, sizeof line, expected, address);
    assert_int_equal(
        control_client_ask(address, &no_token, WAIT_MS, "/metrics", body, sizeof body, error), -1);
    assert_string_equal(error, line);
}

/* Whether signals interrupt the wait or not. */
static void assert_times_out(const char *address)
{
    assert_unanswered(address, "cannot connect to '%s': timed out after 20.0 ms");
    start_alarms();
    assert_unanswered(address, "cannot connect to '%s': timed out after 20.0 ms");
    stop_alarms();
}

/* Returns a socket that listens under this name in the directory, and its address. */
static int listen_as(const char *name, int backlog, struct sockaddr_un *un, char *address)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    *un = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(un->sun_path, sizeof un->sun_path, "%s/%s", directory, name);
    snprintf(address, ADDRESS_BYTES, "unix:%s", un->sun_path);
    assert_int_equal(bind(fd, (const struct sockaddr *)un, sizeof *un), 0);
    assert_int_equal(listen(fd, backlog), 0);
    return fd;
}

/* Connects until the queue of a listener with a backlog of 0 is full. */
static void fill(int *fillers, const struct sockaddr *to, socklen_t length)
{
    for (int i = 0; i < FILLERS; i++) {
        fillers[i] = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_true(fillers[i] >= 0);
        (void)connect(fillers[i], to, length);
    }
}

static void close_all(const int *fillers)
{
    for (int i = 0; i < FILLERS; i++)
        close(fillers[i]);
}

static void port_that_accepts_and_is_silent(void **state)
{
    struct control_socket s;
    char address[ADDRESS_BYTES], error[CONTROL_SOCKET_ERROR_BYTES];

    (void)state;
    snprintf(address, sizeof address, "unix:%s/c", directory);
    assert_int_equal(control_socket_listen(&s, address, false, error), 0);
    assert_unanswered(address, "'%s' does not answer: timed out after 20.0 ms");
    control_socket_close(&s);
}

static void unix_socket_with_a_full_queue(void **state)
{
    struct sockaddr_un un;
    char address[ADDRESS_BYTES];
    const int fd = listen_as("full", 0, &un, address);
    int fillers[FILLERS];

    (void)state;
    fill(fillers, (const struct sockaddr *)&un, sizeof un);
    assert_times_out(address);
    close_all(fillers);
    close(fd);
    unlink(un.sun_path);
}

/* Returns a socket that listens on a port of loopback, and its address. */
static int listen_on_loopback(int backlog, struct sockaddr_in *in)
{
    socklen_t length = sizeof *in;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    *in = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (const struct sockaddr *)in, sizeof *in), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)in, &length), 0);
    assert_int_equal(listen(fd, backlog), 0);
    return fd;
}

static void tcp_port_with_a_full_queue(void **state)
{
    struct sockaddr_in in;
    const int fd = listen_on_loopback(0, &in);
    int fillers[FILLERS];
    char address[ADDRESS_BYTES];

    (void)state;
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(in.sin_port));
    fill(fillers, (const struct sockaddr *)&in, sizeof in);
    assert_times_out(address);
    close_all(fillers);
    close(fd);
}

static void other_errors_have_their_text(void **state)
{
    char address[ADDRESS_BYTES];

    (void)state;
    snprintf(address, sizeof address, "unix:%s/none", directory);
    assert_unanswered(address, "cannot connect to '%s': No such file or directory");
}

/* --- responses --- */

struct peer {
    int listener;
    const char *response;
};

static char request[CONTROL_TOKEN_MAX + 200]; /* the last one */

static void read_request(int fd)
{
    size_t n = 0;
    ssize_t n_got;

    do {
        n_got = read(fd, request + n, sizeof request - 1 - n);
        n += n_got > 0 ? (size_t)n_got : 0;
        request[n] = '\0';
    } while (n_got > 0 && strstr(request, "\r\n\r\n") == NULL);
}

static void *answer_once(void *arg)
{
    const struct peer *p = arg;
    const int fd = accept(p->listener, NULL, NULL);

    read_request(fd);
    (void)!send(fd, p->response, strlen(p->response), MSG_NOSIGNAL);
    close(fd);
    return NULL;
}

/* Asks a program that sends this and closes the connection.  Returns the body, or the error after
 * the address. */
static const char *body_at(const char *address, int listener, const struct control_token *token,
                           const char *response)
{
    static char body[BODY_BYTES], error[CONTROL_SOCKET_ERROR_BYTES];
    const struct peer p = {.listener = listener, .response = response};
    pthread_t thread;
    int failed;

    assert_int_equal(pthread_create(&thread, NULL, answer_once, (void *)&p), 0);
    failed = control_client_ask(address, token, LONG_MS, "/", body, sizeof body, error);
    shutdown(listener, SHUT_RDWR); /* ends accept(2) if there was no connection */
    pthread_join(thread, NULL);
    close(listener);
    return failed ? error + strlen(address) + 2 : body;
}

static const char *body_for(const struct control_token *token, const char *response)
{
    struct sockaddr_un un;
    char address[ADDRESS_BYTES];
    const int listener = listen_as("peer", 1, &un, address);
    const char *body = body_at(address, listener, token, response);

    unlink(un.sun_path);
    return body;
}

static const char *body_of(const char *response)
{
    return body_for(&no_token, response);
}

static void a_request_has_the_token_if_there_is_one(void **state)
{
    static const struct control_token token = {"0123456789abcdef"};

    (void)state;
    assert_string_equal(body_of("HTTP/1.1 200 OK\r\n\r\n{}"), "{}");
    assert_string_equal(request, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_string_equal(body_for(&token, "HTTP/1.1 401 Unauthorized\r\n\r\n"),
                        " requires another token: see --control-token");
    assert_string_equal(request, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                                 "Authorization: Bearer 0123456789abcdef\r\n\r\n");
}

/* Asks a port of loopback under this name. */
static void assert_host(const char *name, const char *expected)
{
    struct sockaddr_in in;
    const int listener = listen_on_loopback(1, &in);
    char address[ADDRESS_BYTES], line[ADDRESS_BYTES + 16];

    snprintf(address, sizeof address, "%s:%u", name, ntohs(in.sin_port));
    snprintf(line, sizeof line, "\r\nHost: %s\r\n", expected != NULL ? expected : address);
    assert_string_equal(body_at(address, listener, &no_token, "HTTP/1.1 200 OK\r\n\r\n{}"), "{}");
    assert_non_null(strstr(request, line));
}

/* A proxy may route by it; a control port without a token refuses other names than those of
 * loopback.  The kernel takes 0.0.0.0 for this host (connect(2)). */
static void host_header_is_the_address_unless_it_is_loopback(void **state)
{
    (void)state;
    assert_host("127.0.0.1", "localhost");
    assert_host("0.0.0.0", NULL);
}

static void a_name_of_loopback_is_kept_in_the_host_header(void **state)
{
    struct addrinfo *found;

    (void)state;
    if (getaddrinfo("localhost", NULL, NULL, &found) != 0) {
        print_message("SKIP: this host cannot resolve localhost\n");
        skip();
    }
    freeaddrinfo(found);
    assert_host("localhost", "localhost");
}

static int count_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 64; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void a_response_that_does_not_fit_is_none(void **state)
{
    const int n_before = count_descriptors();
    char response[BODY_BYTES + 1];

    (void)state;
    memset(response, 'x', sizeof response);
    memcpy(response, "HTTP/1.1 200 OK\r\n\r\n", 19);
    response[BODY_BYTES - 2] = '\0';
    assert_int_equal(strlen(body_of(response)), BODY_BYTES - 2 - 19);
    response[BODY_BYTES - 2] = 'x';
    response[BODY_BYTES - 1] = '\0';
    assert_string_equal(body_of(response), " does not answer: Message too long");
    assert_int_equal(count_descriptors(), n_before);
}

static void a_response_that_ends_early_is_none(void **state)
{
    static const char ends_early[] = " does not answer: the response ends early";

    (void)state;
    assert_string_equal(body_of("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na 1\n"), "a 1\n");
    assert_string_equal(body_of("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\na 1\n"), ends_early);
    assert_string_equal(body_of("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"), ends_early);
    assert_string_equal(body_of(""), ends_early);
    assert_string_equal(body_of("HTTP/1.1 200 OK\r\n\r\nContent-Length: 9"), "Content-Length: 9");
    assert_string_equal(body_of("HTTP/1.1 401 Unauthorized\r\n\r\n"),
                        " requires a token: see --control-token");
    assert_string_equal(body_of("HTTP/1.1 2"), ends_early);
}

#define CHUNKED "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n"

/* As from a proxy before the control port: a number is cut in two. */
static void chunks_are_joined(void **state)
{
    static const char *const early[] = {CHUNKED,
                                        CHUNKED "4",
                                        CHUNKED "4\r\na 1\n",
                                        CHUNKED "4\r\na 1\n\r\n",
                                        CHUNKED "5\r\na 1\n\r\n0\r\n",
                                        CHUNKED "ffffffffffffffff\r\na 1\n\r\n0\r\n",
                                        CHUNKED "a 1"};

    (void)state;
    assert_string_equal(body_of(CHUNKED "3\r\na 1\r\nA;x=y\r\n2\nb 345678\r\n0\r\n\r\n"),
                        "a 12\nb 345678");
    assert_string_equal(body_of(CHUNKED "0\r\nX: y\r\n\r\n"), "");
    assert_string_equal(body_of("HTTP/1.1 200 OK\r\n\r\nTransfer-Encoding: chunked\r\n"),
                        "Transfer-Encoding: chunked\r\n");
    for (size_t i = 0; i < sizeof early / sizeof *early; i++)
        assert_string_equal(body_of(early[i]), " does not answer: the response ends early");
}

static void what_another_protocol_says_is_shown(void **state)
{
    (void)state;
    assert_string_equal(body_of("SSH-2.0-OpenSSH_9.2\r\n"), " answers 'SSH-2.0-OpenSSH_9.2'");
    assert_string_equal(body_of("220 host ESMTP\r\n421 timeout\r\n"), " answers '220 host ESMTP'");
    assert_string_equal(body_of("HTTP/1.0 503 Unavailable\r\n"),
                        " answers 'HTTP/1.0 503 Unavailable'");
}

/* --- signals --- */

static void wait_for_alarms(void)
{
    const int n = atomic_load(&n_alarms) + N_ALARMS;

    while (atomic_load(&has_alarms) && atomic_load(&n_alarms) < n)
        sched_yield();
}

/* Makes room in the queue after N_ALARMS interruptions of the client, and answers after as many
 * more. */
static void *answer_late(void *listener)
{
    static const char response[] = "HTTP/1.1 200 OK\r\n\r\n{}";
    int fd;

    wait_for_alarms();
    close(accept(*(const int *)listener, NULL, NULL));
    fd = accept(*(const int *)listener, NULL, NULL);
    read_request(fd);
    wait_for_alarms();
    (void)!send(fd, response, sizeof response - 1, MSG_NOSIGNAL);
    close(fd);
    return NULL;
}

static void signals_do_not_end_the_wait(void **state)
{
    struct sockaddr_un un;
    char address[ADDRESS_BYTES], body[64], error[CONTROL_SOCKET_ERROR_BYTES];
    const int listener = listen_as("late", 0, &un, address);
    const int filler = socket(AF_UNIX, SOCK_STREAM, 0);
    pthread_t thread;
    sigset_t alarms;
    int status;

    (void)state;
    assert_int_equal(connect(filler, (const struct sockaddr *)&un, sizeof un), 0);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    start_alarms();
    assert_int_equal(pthread_create(&thread, NULL, answer_late, (void *)&listener), 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    status = control_client_ask(address, &no_token, 60000, "/", body, sizeof body, error);
    stop_alarms();
    shutdown(listener, SHUT_RDWR); /* if it did not wait */
    pthread_join(thread, NULL);
    assert_int_equal(status, 0);
    assert_string_equal(body, "{}");
    close(filler);
    close(listener);
    unlink(un.sun_path);
}

/* --- the end of the program --- */

/* Does not answer: once it has the request, it requests the end of the program. */
static void *end_program(void *listener)
{
    const int fd = accept(*(const int *)listener, NULL, NULL);

    read_request(fd);
    shutdown_request(SIGTERM);
    return (void *)(intptr_t)fd;
}

static void assert_does_not_wait(const char *address, const char *what)
{
    char body[64], error[CONTROL_SOCKET_ERROR_BYTES];

    assert_int_equal(control_client_ask(address, &no_token, LONG_MS, "/", body, sizeof body, error),
                     -1);
    assert_non_null(strstr(error, what));
    assert_non_null(strstr(error, ": timed out after "));
    assert_null(strstr(error, "60.0 s"));
}

/* The last test: the request cannot be taken back. */
static void end_of_the_program_shortens_the_wait(void **state)
{
    struct sockaddr_un un;
    char address[ADDRESS_BYTES];
    const int listener = listen_as("end", 0, &un, address);
    int fillers[FILLERS];
    pthread_t thread;
    void *fd;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, end_program, (void *)&listener), 0);
    assert_does_not_wait(address, "does not answer");
    pthread_join(thread, &fd);
    close((int)(intptr_t)fd);
    fill(fillers, (const struct sockaddr *)&un, sizeof un);
    assert_does_not_wait(address, "cannot connect");
    assert_unanswered(address, "cannot connect to '%s': timed out after 20.0 ms"); /* nor longer */
    close_all(fillers);
    close(listener);
    unlink(un.sun_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_that_accepts_and_is_silent),
        cmocka_unit_test(unix_socket_with_a_full_queue),
        cmocka_unit_test(tcp_port_with_a_full_queue),
        cmocka_unit_test(other_errors_have_their_text),
        cmocka_unit_test(a_request_has_the_token_if_there_is_one),
        cmocka_unit_test(host_header_is_the_address_unless_it_is_loopback),
        cmocka_unit_test(a_name_of_loopback_is_kept_in_the_host_header),
        cmocka_unit_test(a_response_that_does_not_fit_is_none),
        cmocka_unit_test(a_response_that_ends_early_is_none),
        cmocka_unit_test(chunks_are_joined),
        cmocka_unit_test(what_another_protocol_says_is_shown),
        cmocka_unit_test(signals_do_not_end_the_wait),
        cmocka_unit_test(end_of_the_program_shortens_the_wait),
    };

    asks = true;
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
