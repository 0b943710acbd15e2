/* SPDX-License-Identifier: MIT
 * control_socket: see net/control_socket.h. */
#include "net/control_socket.h"

#include "base/clock.h"
#include "base/inputs.h"
#include "base/shutdown.h"
#include "base/units.h"
#include "net/sock.h"
#include "net/sock_resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { BACKLOG = 128, ONLY_OWNER = 0177, WHY_BYTES = 64 };

/* Longer than another program, which may wait for a full queue, holds the lock. */
#define LOCK_NS ((CONTROL_SOCKET_WAIT_MS + 1000) * UNITS_NS_PER_MS)
#define LOOK_NS UNITS_NS_PER_MS

#define HURRY_NS (CONTROL_SOCKET_HURRY_MS * UNITS_NS_PER_MS)
#define CALL_NS  (50 * UNITS_NS_PER_MS)

#define UNIX    "unix:"
#define SUCCESS "HTTP/1.1 200 "
#define LENGTH  "\r\nContent-Length:"

#define REFUSE(...) (snprintf(error, CONTROL_SOCKET_ERROR_BYTES, __VA_ARGS__), -1)

/* --- token --- */

static bool is_token(const char *text)
{
    const size_t n = strlen(text);

    for (size_t i = 0; i < n; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return n >= CONTROL_TOKEN_MIN && n <= CONTROL_TOKEN_MAX;
}

int control_token_read(struct control_token *token, const char *file, char *error)
{
    char line[CONTROL_TOKEN_MAX + 2] = "";
    struct stat about;
    FILE *in = fopen(file, "re");
    bool read, is_private;

    if (in == NULL)
        return REFUSE("cannot read '%.200s': %s", file, strerror(errno));
    inputs_add(file);
    is_private = fstat(fileno(in), &about) == 0 && (about.st_mode & 077) == 0;
    read = fgets(line, sizeof line, in) != NULL;
    fclose(in);
    if (!is_private)
        return REFUSE("'%.200s' is accessible by other users: expected mode 600 (chmod 600)", file);
    line[strcspn(line, "\r\n")] = '\0';
    if (!read || !is_token(line))
        return REFUSE("no token in '%.200s': expected a line of %d to %d printable characters",
                      file, CONTROL_TOKEN_MIN, CONTROL_TOKEN_MAX);
    memcpy(token->text, line, strlen(line) + 1);
    return 0;
}

/* --- addresses --- */

static bool is_unix(const char *address)
{
    return strncmp(address, UNIX, strlen(UNIX)) == 0;
}

static int parse_unix(struct sockaddr_un *un, const char *address, char *error)
{
    const char *path = address + strlen(UNIX);

    *un = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (*path == '\0' || strlen(path) >= sizeof un->sun_path)
        return REFUSE("invalid value '%.150s': expected a path of 1 to %zu bytes", address,
                      sizeof un->sun_path - 1);
    memcpy(un->sun_path, path, strlen(path) + 1);
    return 0;
}

static int parse_tcp(struct sock_address *a, const char *address, bool listens, char *error)
{
    static const struct sock_greeting none = {.n_bytes = 0};
    struct endpoint e;
    char reason[SOCK_ERROR_BYTES];
    int failed;

    if (endpoint_parse(address, &e) != 0 || e.port == 0)
        return REFUSE("invalid value '%.150s': expected ADDR:PORT with a port from 1 to 65535, "
                      "or unix:PATH",
                      address);
    failed = listens ? sock_resolve(&e, AF_UNSPEC, a, reason)
                     : sock_resolve_server(&e, AF_UNSPEC, &none, a, reason);
    return failed ? REFUSE("%s", reason) : 0;
}

/* --- waiting, connecting --- */

/* How long a request may take in all: less once a signal has asked the program to end. */
struct patience {
    uint64_t begin_ns, until_ns;
    bool is_short;
};

static struct patience patience_of(int wait_ms)
{
    const uint64_t now_ns = clock_now_ns();

    return (struct patience){.begin_ns = now_ns,
                             .until_ns = now_ns + (unsigned)wait_ms * UNITS_NS_PER_MS};
}

/* Sets how long the next call on fd may wait: not to the end, since it would not notice a signal
 * that came before it.  Returns whether there is time left; if not, sets errno. */
static bool may_wait(struct patience *p, int fd)
{
    const uint64_t now_ns = clock_now_ns();
    struct timeval wait;

    if (!p->is_short && shutdown_was_requested()) {
        p->is_short = true;
        if (p->until_ns > now_ns + HURRY_NS)
            p->until_ns = now_ns + HURRY_NS;
    }
    if (now_ns >= p->until_ns) {
        errno = ETIMEDOUT;
        return false;
    }
    wait = clock_timeval(p->until_ns - now_ns < CALL_NS ? p->until_ns - now_ns + 999 : CALL_NS);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    return true;
}

/* After a call that failed: it waited for as long as it might, or a signal interrupted it (with a
 * timeout it is not restarted: signal(7)). */
static bool is_unfinished(void)
{
    return errno == EAGAIN || errno == EINTR || errno == EINPROGRESS || errno == EALREADY;
}

/* Called again, connect(2) begins anew on a unix socket, and waits on for a TCP connection under
 * way. */
static int connect_patiently(int fd, const struct sockaddr *to, socklen_t length,
                             struct patience *p)
{
    while (may_wait(p, fd)) {
        if (connect(fd, to, length) == 0)
            return 0;
        if (!is_unfinished())
            return -1;
    }
    return -1;
}

static int connect_to(const struct sockaddr *to, socklen_t length, struct patience *p)
{
    const int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int reason;

    if (fd >= 0 && connect_patiently(fd, to, length, p) == 0)
        return fd;
    reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return -1;
}

/* --- listening --- */

/* Between looking at a socket and replacing it, and between bind(2) and listen(2), another program
 * that begins with the same path would take the socket for an abandoned one: locks the directory.
 * A lock that somebody holds for long, or cannot be had, is gone without.  Returns a descriptor, or
 * -1. */
static int lock_directory(const struct sockaddr_un *un)
{
    const uint64_t until_ns = clock_now_ns() + LOCK_NS;
    const struct timespec wait = clock_timespec(LOOK_NS);
    char directory[sizeof un->sun_path];
    char *end;
    int fd;

    memcpy(directory, un->sun_path, sizeof directory);
    end = strrchr(directory, '/');
    if (end != NULL)
        end[end == directory] = '\0';
    fd = open(end != NULL ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
           clock_now_ns() < until_ns)
        nanosleep(&wait, NULL);
    return fd;
}

/* Removes the socket of a program that was killed. */
static void remove_abandoned(const struct sockaddr_un *un)
{
    struct patience p = patience_of(CONTROL_SOCKET_WAIT_MS);
    const int fd = connect_to((const struct sockaddr *)un, sizeof *un, &p);
    struct stat about;

    if (fd >= 0)
        close(fd);
    else if (errno == ECONNREFUSED && lstat(un->sun_path, &about) == 0 && S_ISSOCK(about.st_mode))
        unlink(un->sun_path);
}

static int listen_unix(struct control_socket *s, const struct sockaddr_un *un)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const mode_t mask = umask(ONLY_OWNER);
    const int failed = fd < 0 || bind(fd, (const struct sockaddr *)un, sizeof *un) != 0;
    int error;

    umask(mask);
    if (!failed && listen(fd, BACKLOG) == 0) {
        s->fd = fd;
        memcpy(s->path, un->sun_path, sizeof s->path);
        return 0;
    }
    error = errno;
    if (!failed)
        (void)unlink(un->sun_path);
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

static int replace_unix(struct control_socket *s, const struct sockaddr_un *un)
{
    const int lock = lock_directory(un);
    int failed, error;

    remove_abandoned(un);
    failed = listen_unix(s, un);
    error = errno;
    if (lock >= 0)
        close(lock);
    errno = error;
    return failed;
}

static int listen_tcp(struct control_socket *s, const struct sock_address *a)
{
    const struct sock_listen_options options = {.backlog = BACKLOG};

    s->fd = sock_listen(a, &options);
    return s->fd < 0 ? -1 : 0;
}

int control_socket_listen(struct control_socket *s, const char *address, bool has_token,
                          char *error)
{
    struct sockaddr_un un;
    struct sock_address a;
    int failed;

    *s = (struct control_socket){.fd = -1};
    if (is_unix(address)) {
        if (parse_unix(&un, address, error) != 0)
            return -1;
        failed = replace_unix(s, &un);
    } else {
        if (parse_tcp(&a, address, true, error) != 0)
            return -1;
        if (!sock_is_loopback(&a) && !has_token)
            return REFUSE("'%.100s' is not a loopback address: this requires --control-token",
                          address);
        failed = listen_tcp(s, &a);
    }
    return failed ? REFUSE("cannot listen on '%.150s': %s", address, strerror(errno)) : 0;
}

void control_socket_close(struct control_socket *s)
{
    if (s->path[0] != '\0')
        unlink(s->path); /* while it listens: afterwards it may be that of another program */
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct control_socket){.fd = -1};
}

/* --- client side --- */

/* What went wrong, from errno. */
static const char *why_failed(char text[WHY_BYTES], const struct patience *p)
{
    char wait[UNITS_TEXT_BYTES];

    if (errno != ETIMEDOUT)
        return strerror(errno);
    units_format_duration(wait, p->until_ns - p->begin_ns);
    snprintf(text, WHY_BYTES, "timed out after %s", wait);
    return text;
}

/* Begins to wait after the name is resolved. */
static int connect_address(const char *address, int wait_ms, struct patience *p, char *error)
{
    struct sockaddr_un un;
    struct sock_address a;
    char why[WHY_BYTES];
    int fd;

    if (is_unix(address)) {
        if (parse_unix(&un, address, error) != 0)
            return -1;
        *p = patience_of(wait_ms);
        fd = connect_to((const struct sockaddr *)&un, sizeof un, p);
    } else {
        if (parse_tcp(&a, address, false, error) != 0)
            return -1;
        *p = patience_of(wait_ms);
        fd = connect_to((const struct sockaddr *)&a.ss, a.length, p);
    }
    return fd >= 0 ? fd : REFUSE("cannot connect to '%.150s': %s", address, why_failed(why, p));
}

static int send_all(int fd, struct patience *p, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t n_sent;

        if (!may_wait(p, fd))
            return -1;
        n_sent = send(fd, text, n, MSG_NOSIGNAL);
        if (n_sent < 0 && !is_unfinished())
            return -1;
        text += n_sent > 0 ? n_sent : 0;
        n -= n_sent > 0 ? (size_t)n_sent : 0;
    }
    return 0;
}

/* Reads to the end of the stream; a response that is too long or too slow is an error. */
static int receive_all(int fd, struct patience *p, char *text, size_t n_bytes)
{
    size_t n = 0;
    ssize_t n_got;

    do {
        if (!may_wait(p, fd))
            return -1;
        n_got = recv(fd, text + n, n_bytes - 1 - n, 0);
        if (n_got < 0 && !is_unfinished())
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

/* Whether the stream ended before the response did: the program was killed, say. */
static bool is_cut_off(const char *response)
{
    const char *blank = strstr(response, "\r\n\r\n"), *length = strcasestr(response, LENGTH);

    if (blank == NULL)
        return true;
    return length != NULL && length < blank &&
           strtoull(length + strlen(LENGTH), NULL, 10) > strlen(blank + 4);
}

int control_socket_ask(const char *address, const struct control_token *token, int wait_ms,
                       const char *target, char *body, size_t n_bytes, char *error)
{
    char request[CONTROL_TOKEN_MAX + 200], why[WHY_BYTES], *blank;
    const bool has_token = token->text[0] != '\0';
    struct patience p;
    const int fd = connect_address(address, wait_ms, &p, error),
              n = snprintf(request, sizeof request,
                           "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s%s\r\n",
                           target, has_token ? "Authorization: Bearer " : "", token->text,
                           has_token ? "\r\n" : "");
    int failed;

    if (fd < 0)
        return -1;
    failed = send_all(fd, &p, request, (size_t)n) != 0 || receive_all(fd, &p, body, n_bytes) != 0;
    if (failed)
        (void)REFUSE("'%.150s' does not answer: %s", address, why_failed(why, &p));
    close(fd);
    if (failed)
        return -1;
    if (is_cut_off(body))
        return REFUSE("'%.150s' does not answer: the response ends early", address);
    if (strncmp(body, SUCCESS, strlen(SUCCESS)) != 0)
        return REFUSE("'%.150s' answers '%.*s'", address, (int)strcspn(body, "\r\n"), body);
    blank = strstr(body, "\r\n\r\n");
    memmove(body, blank + 4, strlen(blank + 4) + 1);
    return 0;
}
