/* SPDX-License-Identifier: MIT
 * control_client: see net/control_client.h. */
#include "net/control_client.h"

#include "base/endpoint.h"
#include "net/deadline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define SUCCESS      "HTTP/1.1 200 "
#define UNAUTHORIZED "HTTP/1.1 401 "
#define LINE_END     "\r\n"
#define LENGTH       "\r\nContent-Length:"
#define CODING       "\r\nTransfer-Encoding:"
#define CHUNKED      "chunked"

#define REFUSE(...) (snprintf(error, CONTROL_SOCKET_ERROR_BYTES, __VA_ARGS__), -1)

/* Begins to wait after the name is resolved. */
static int connect_address(const char *address, int wait_ms, struct deadline *d,
                           struct sock_address *a, char *error)
{
    char why[DEADLINE_WHY_BYTES];
    int fd;

    if (control_socket_resolve(a, address, false, error) != 0)
        return -1;
    *d = deadline_in(wait_ms);
    fd = deadline_connect(d, (const struct sockaddr *)&a->ss, a->length);
    return fd >= 0 ? fd : REFUSE("cannot connect to '%.150s': %s", address, deadline_why(d, why));
}

static int send_all(int fd, struct deadline *d, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t n_sent;

        if (!deadline_arm(d, fd))
            return -1;
        n_sent = send(fd, text, n, MSG_NOSIGNAL);
        if (n_sent < 0 && !deadline_may_retry())
            return -1;
        text += n_sent > 0 ? n_sent : 0;
        n -= n_sent > 0 ? (size_t)n_sent : 0;
    }
    return 0;
}

/* Reads to the end of the stream; a response that is too long or too slow is an error. */
static int receive_all(int fd, struct deadline *d, char *text, size_t n_bytes)
{
    size_t n = 0;
    ssize_t n_got;

    do {
        if (!deadline_arm(d, fd))
            return -1;
        n_got = recv(fd, text + n, n_bytes - 1 - n, 0);
        if (n_got < 0 && !deadline_may_retry())
            return -1;
        n += n_got > 0 ? (size_t)n_got : 0;
        if (n == n_bytes - 1) {
            errno = EMSGSIZE;
            return -1;
        }
    } while (n_got != 0);
    text[n] = '\0';
    return 0;
}

/* Whether this part of a response, as far as it was received, reports success. */
static bool reports_success(const char *response)
{
    return strncmp(response, SUCCESS, strnlen(response, strlen(SUCCESS))) == 0;
}

/* Returns the value of the header that is given as "\r\nNAME:"; NULL: none begins before `end`. */
static const char *value_of(const char *response, const char *end, const char *header)
{
    const char *found = strcasestr(response, header);

    if (found == NULL || found >= end)
        return NULL;
    found += strlen(header);
    return found + strspn(found, " \t");
}

/* Joins the chunks of a body (RFC 9112, 7.1): proxies send them.  Returns whether all are there. */
static bool join_chunks(char *body)
{
    const char *at = body, *end = body + strlen(body);
    char *to = body;

    for (;;) {
        char *extension;
        const unsigned long long n = strtoull(at, &extension, 16);
        const char *data = strstr(extension, LINE_END);

        if (extension == at || data == NULL)
            return false;
        data += strlen(LINE_END);
        if (n == 0)
            break;
        if (n > (size_t)(end - data) || (size_t)(end - data) - n < strlen(LINE_END))
            return false;
        memmove(to, data, n);
        to += n;
        at = data + n + strlen(LINE_END);
    }
    *to = '\0';
    return true;
}

/* Returns the body of a response, NULL: the stream ended before the response did, for example
 * because the program was killed. */
static char *complete_body(char *response)
{
    char *blank = strstr(response, LINE_END LINE_END), *body;
    const char *length, *coding;

    if (blank == NULL)
        return NULL;
    body = blank + strlen(LINE_END LINE_END);
    coding = value_of(response, blank, CODING);
    if (coding != NULL && strncasecmp(coding, CHUNKED, strlen(CHUNKED)) == 0)
        return join_chunks(body) ? body : NULL;
    length = value_of(response, blank, LENGTH);
    return length == NULL || strtoull(length, NULL, 10) <= strlen(body) ? body : NULL;
}

/* The value of the Host header (RFC 9110, 7.2).  A name of this host is "localhost": a control port
 * without a token accepts only names and addresses of loopback. */
static const char *host_of(const char *address, const struct sock_address *resolved)
{
    return resolved->ss.ss_family == AF_UNIX || sock_is_loopback(resolved) ? "localhost" : address;
}

int control_client_ask(const char *address, const struct control_token *token, int wait_ms,
                       const char *target, char *body, size_t n_bytes, char *error)
{
    char request[CONTROL_TOKEN_MAX + ENDPOINT_HOST_BYTES + 200], why[DEADLINE_WHY_BYTES], *complete;
    const bool has_token = token->text[0] != '\0';
    struct sock_address resolved;
    struct deadline d;
    const int fd = connect_address(address, wait_ms, &d, &resolved, error);
    int failed, n;

    if (fd < 0)
        return -1;
    n = snprintf(request, sizeof request,
                 "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s%s%s\r\n", target,
                 host_of(address, &resolved), has_token ? "Authorization: Bearer " : "",
                 token->text, has_token ? "\r\n" : "");
    failed = send_all(fd, &d, request, (size_t)n) != 0 || receive_all(fd, &d, body, n_bytes) != 0;
    if (failed)
        (void)REFUSE("'%.150s' does not answer: %s", address, deadline_why(&d, why));
    close(fd);
    if (failed)
        return -1;
    if (strncmp(body, UNAUTHORIZED, strlen(UNAUTHORIZED)) == 0)
        return REFUSE("'%.150s' requires %s: see --control-token", address,
                      has_token ? "another token" : "a token");
    if (!reports_success(body))
        return REFUSE("'%.150s' answers '%.*s'", address, (int)strcspn(body, "\r\n"), body);
    complete = complete_body(body);
    if (complete == NULL)
        return REFUSE("'%.150s' does not answer: the response ends early", address);
    memmove(body, complete, strlen(complete) + 1);
    return 0;
}
