/* SPDX-License-Identifier: MIT
 * control_socket: see net/control_socket.h. */
#include "net/control_socket.h"

#include "base/clock.h"
#include "base/inputs.h"
#include "base/outputs.h"
#include "base/shutdown.h"
#include "base/units.h"
#include "base/utf8.h"
#include "net/deadline.h"
#include "net/sock.h"
#include "net/sock_resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 128, ONLY_OWNER = 0177 };

/* Longer than another program, which may wait for a full queue, holds the lock. */
#define LOCK_NS ((CONTROL_SOCKET_WAIT_MS + 1000) * UNITS_NS_PER_MS)
#define LOOK_NS UNITS_NS_PER_MS

#define UNIX "unix:"

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
    char line[sizeof UTF8_BYTE_ORDER_MARK + CONTROL_TOKEN_MAX + 1] = "";
    const char *text;
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
    text = line + utf8_mark_bytes(line, strlen(line));
    if (!read || !is_token(text))
        return REFUSE("no token in '%.200s': expected a line of %d to %d visible characters", file,
                      CONTROL_TOKEN_MIN, CONTROL_TOKEN_MAX);
    memcpy(token->text, text, strlen(text) + 1);
    return 0;
}

/* --- addresses --- */

static bool is_unix(const char *address)
{
    return strncmp(address, UNIX, strlen(UNIX)) == 0;
}

static int parse_unix(struct sock_address *a, const char *address, char *error)
{
    const char *path = address + strlen(UNIX);
    struct sockaddr_un *un = (struct sockaddr_un *)&a->ss;

    *a = (struct sock_address){.ss.ss_family = AF_UNIX, .length = sizeof *un};
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

int control_socket_resolve(struct sock_address *a, const char *address, bool listens, char *error)
{
    return is_unix(address) ? parse_unix(a, address, error) : parse_tcp(a, address, listens, error);
}

int control_socket_check(struct sock_address *a, const char *address, bool has_token, char *error)
{
    if (control_socket_resolve(a, address, true, error) != 0)
        return -1;
    if (!is_unix(address) && !sock_is_loopback(a) && !has_token)
        return REFUSE("'%.100s' is not a loopback address: this requires --control-token", address);
    return 0;
}

/* --- listening --- */

/* Between looking at a socket and replacing it, and between bind(2) and listen(2), another program
 * that begins with the same path would take the socket for an abandoned one: locks the directory.
 * If the lock is held for long, or cannot be had, goes on without it.  Returns a descriptor, or -1.
 */
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
           clock_now_ns() < until_ns && !shutdown_was_requested())
        nanosleep(&wait, NULL);
    return fd;
}

/* Removes the socket of a program that was killed. */
static void remove_abandoned(const struct sockaddr_un *un)
{
    struct deadline d = deadline_in(CONTROL_SOCKET_WAIT_MS);
    const int fd = deadline_connect(&d, (const struct sockaddr *)un, sizeof *un);
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
    const struct output *o = is_unix(address) ? outputs_find(address + strlen(UNIX)) : NULL;
    struct sock_address a;
    int failed;

    *s = (struct control_socket){.fd = -1};
    if (control_socket_check(&a, address, has_token, error) != 0)
        return -1;
    if (o != NULL)
        return REFUSE("'%.150s' is also used by --%s: expected a different file for each", address,
                      o->option);
    failed =
        is_unix(address) ? replace_unix(s, (const struct sockaddr_un *)&a.ss) : listen_tcp(s, &a);
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
