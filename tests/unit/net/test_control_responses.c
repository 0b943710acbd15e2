/* SPDX-License-Identifier: MIT
 * test_control_responses: the response to each request, and what of the request the program gets.
 */
#include "net/control_http.h"

#include "directory_steps.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
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

enum { RESPONSE_BYTES = 4096, HEADER_BYTES = 9000 };

static const struct control_token no_token, token = {"0123456789abcdef"};
static struct event_base *base;
static struct control_socket listening;
static struct control_http *http;
static struct sock_address address;
static char response[RESPONSE_BYTES];
static int context;

static enum control_status answer(void *arg, const struct control_request *q,
                                  struct control_reply *reply)
{
    assert_ptr_equal(arg, &context);
    if (q->command == CONTROL_METRICS) {
        reply->content_type = "text/plain";
        fprintf(reply->out, "accepts %s\n", reply->accept != NULL ? reply->accept : "none");
    } else if (q->command == CONTROL_RATE && q->qps > 1000) {
        snprintf(reply->error, sizeof reply->error, "a \"reason\"");
        return CONTROL_NOT_NOW;
    } else {
        fputs("{}", reply->out);
    }
    return CONTROL_OK;
}

/* Serves on `listening`. */
static int start(const struct control_token *t)
{
    const unsigned known =
        CONTROL_BIT(CONTROL_STATS) | CONTROL_BIT(CONTROL_METRICS) | CONTROL_BIT(CONTROL_RATE);

    address.length = sizeof address.ss;
    assert_int_equal(getsockname(listening.fd, (struct sockaddr *)&address.ss, &address.length), 0);
    base = event_base_new();
    http = control_http_start(base, &listening, t, known, answer, &context);
    assert_non_null(http);
    assert_int_equal(listening.fd, -1); /* taken over */
    return 0;
}

static void listen_on_unix(void)
{
    char where[CONTROL_SOCKET_ERROR_BYTES], error[CONTROL_SOCKET_ERROR_BYTES];

    snprintf(where, sizeof where, "unix:%s/c", directory);
    assert_int_equal(control_socket_listen(&listening, where, false, error), 0);
}

static int start_open(void **state)
{
    (void)state;
    listen_on_unix();
    return start(&no_token);
}

static int start_with_token(void **state)
{
    (void)state;
    listen_on_unix();
    return start(&token);
}

/* On a free port of 127.0.0.1. */
static int start_tcp(void **state)
{
    const struct sockaddr_in in = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    (void)state;
    listening = (struct control_socket){.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
    assert_int_equal(bind(listening.fd, (const struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(listen(listening.fd, 8), 0);
    return start(&no_token);
}

static int end(void **state)
{
    const char *path = ((const struct sockaddr_un *)&address.ss)->sun_path;
    const int late = socket(address.ss.ss_family, SOCK_STREAM, 0);
    char byte;

    (void)state;
    assert_int_equal(connect(late, (const struct sockaddr *)&address.ss, address.length), 0);
    control_http_end(http);
    assert_true(recv(late, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET); /* not waiting */
    close(late);
    event_base_free(base);
    if (address.ss.ss_family == AF_UNIX)
        assert_int_equal(access(path, F_OK), -1);
    return 0;
}

/* Leaves the whole response in `response`. */
static void ask(const char *request)
{
    const int peer = socket(address.ss.ss_family, SOCK_STREAM, 0);
    size_t n_bytes = 0;
    ssize_t n;

    assert_int_equal(connect(peer, (const struct sockaddr *)&address.ss, address.length), 0);
    assert_int_equal(send(peer, request, strlen(request), 0), strlen(request));
    while ((n = recv(peer, response + n_bytes, RESPONSE_BYTES - 1 - n_bytes, MSG_DONTWAIT)) != 0) {
        assert_true(n > 0 || errno == EAGAIN);
        n_bytes += n > 0 ? (size_t)n : 0;
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
    response[n_bytes] = '\0';
    close(peer);
}

static void assert_has(const char *part)
{
    if (strstr(response, part) == NULL)
        fail_msg("no '%s' in: %s", part, response);
}

static void each_request_has_its_response(void **state)
{
    static const struct {
        const char *request, *parts[4];
    } cases[] = {
        {"GET /stats HTTP/1.1\r\n\r\n",
         {"HTTP/1.1 200 ", "\r\nContent-Type: application/json\r\n", "\r\n\r\n{}"}},
        {"GET /metrics HTTP/1.1\r\nAccept: a/b\r\n\r\n",
         {"HTTP/1.1 200 ", "\r\nContent-Type: text/plain\r\n", "\r\n\r\naccepts a/b\n"}},
        {"GET /metrics HTTP/1.1\r\n\r\n", {"\r\n\r\naccepts none\n"}},
        {"GET / HTTP/1.1\r\n\r\n",
         {"HTTP/1.1 200 ", "\"GET /\"", "\"GET /stats\"", "\"POST /rate?qps=QPS\""}},
        {"POST /rate?qps=5 HTTP/1.1\r\n\r\n", {"HTTP/1.1 200 ", "\r\n\r\n{}"}},
        {"POST /rate?qps=5k HTTP/1.1\r\n\r\n",
         {"HTTP/1.1 409 ", "\r\nContent-Type: application/json\r\n",
          "{\n  \"error\": \"a \\\"reason\\\"\"\n}"}},
        {"POST /rate?qps=x HTTP/1.1\r\n\r\n", {"HTTP/1.1 400 ", "\"error\": "}},
        {"GET /rate?qps=5 HTTP/1.1\r\n\r\n", {"HTTP/1.1 405 ", "\r\nAllow: POST\r\n"}},
        {"PUT /stats HTTP/1.1\r\n\r\n", {"HTTP/1.1 405 ", "\r\nAllow: GET\r\n"}},
        {"DELETE /stats HTTP/1.1\r\n\r\n", {"HTTP/1.1 405 "}},
        {"OPTIONS /stats HTTP/1.1\r\n\r\n", {"HTTP/1.1 405 "}},
        {"TRACE /stats HTTP/1.1\r\n\r\n", {"HTTP/1.1 405 "}},
        {"PATCH /stats HTTP/1.1\r\n\r\n", {"HTTP/1.1 405 "}},
        {"POST /pause HTTP/1.1\r\n\r\n", {"HTTP/1.1 404 "}}, /* not of this program */
        {"GET /stats HTTP/1.1\r\nOrigin: http://a\r\n\r\n", {"HTTP/1.1 403 "}},
        {"GET /stats HTTP/1.1\r\nHost: name.example\r\n\r\n", {"HTTP/1.1 200 "}},
        {"GET http://localhost/stats HTTP/1.1\r\n\r\n", {"HTTP/1.1 200 "}},
        {"GET http://localhost/stats HTTP/1.1\r\nProxy-Connection: keep-alive\r\n\r\n",
         {"HTTP/1.1 200 "}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(cases[i].request);
        for (int k = 0; k < 4 && cases[i].parts[k] != NULL; k++)
            assert_has(cases[i].parts[k]);
        assert_has("\r\nCache-Control: no-store\r\n");
        assert_has("\r\nX-Content-Type-Options: nosniff\r\n");
        assert_has("\r\nConnection: close\r\n");
        assert_int_equal(strstr(response, "\r\nAllow: ") != NULL,
                         strstr(response, "HTTP/1.1 405 ") != NULL);
        assert_null(strstr(response, "\r\nWWW-Authenticate: "));
    }
}

static void a_token_is_required_if_there_is_one(void **state)
{
    (void)state;
    ask("GET /stats HTTP/1.1\r\n\r\n");
    assert_has("HTTP/1.1 401 ");
    assert_has("\r\nWWW-Authenticate: Bearer\r\n");
    ask("GET /stats HTTP/1.1\r\nAuthorization: Bearer 0123456789abcdeg\r\n\r\n");
    assert_has("HTTP/1.1 401 ");
    ask("GET /stats HTTP/1.1\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n");
    assert_has("HTTP/1.1 200 ");
}

static void large_requests_are_refused(void **state)
{
    static char request[HEADER_BYTES];

    (void)state;
    snprintf(request, sizeof request, "GET /stats HTTP/1.1\r\nA: %08192d\r\n\r\n", 0);
    ask(request);
    assert_null(strstr(response, " 200 "));
    for (int n = 1024; n <= 1025; n++) {
        snprintf(request, sizeof request,
                 "POST /rate?qps=5 HTTP/1.1\r\nContent-Length: %d\r\n\r\n%0*d", n, n, 0);
        ask(request);
        assert_int_equal(strstr(response, " 200 ") != NULL, n == 1024);
    }
}

/* More than libevent reads at once: with bytes left to read, the connection would be reset. */
static void what_follows_a_request_does_not_reset_the_connection(void **state)
{
    static char request[30000];

    (void)state;
    snprintf(request, sizeof request, "GET /stats HTTP/1.1\r\nHost: localhost\r\n\r\n%025000d", 0);
    ask(request);
    assert_has(" 200 ");
}

/* The host of an absolute target counts, not that of the header (RFC 9112). */
static void a_page_of_a_rebound_name_is_refused(void **state)
{
    static const struct {
        const char *request, *status;
    } cases[] = {
        {"GET /stats HTTP/1.1\r\nHost: localhost\r\n\r\n", " 200 "},
        {"GET /stats HTTP/1.1\r\nHost: name.example\r\n\r\n", " 403 "},
        {"GET http://name.example/stats HTTP/1.1\r\nHost: localhost\r\n\r\n", " 403 "},
        {"GET http://localhost/stats HTTP/1.1\r\nHost: name.example\r\n\r\n", " 200 "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(cases[i].request);
        assert_has(cases[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_request_has_its_response, start_open, end),
        cmocka_unit_test_setup_teardown(a_token_is_required_if_there_is_one, start_with_token, end),
        cmocka_unit_test_setup_teardown(a_page_of_a_rebound_name_is_refused, start_tcp, end),
        cmocka_unit_test_setup_teardown(large_requests_are_refused, start_open, end),
        cmocka_unit_test_setup_teardown(what_follows_a_request_does_not_reset_the_connection,
                                        start_open, end),
        cmocka_unit_test_setup_teardown(what_follows_a_request_does_not_reset_the_connection,
                                        start_tcp, end),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
