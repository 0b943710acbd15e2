/* SPDX-License-Identifier: MIT
 * test_supervise: memory pressure of TCP that is over when the server is asked for it; results that
 * cannot be written; a server that cannot start.  Linked with --wrap=event_add. */
#include "server/supervise.h"

#include "base/log.h"
#include "print_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_TURNS = 100 }; /* of the event loop */

static struct server server = {.memory = {.meminfo_fd = -1}};
static char protocols[] = "TCP       2304      5       1   yes   320   yes\n";
static size_t n_bytes; /* of it; 0: the kernel's */

static bool is_at_limit; /* of what epoll(7) may watch */

int __real_event_add(struct event *event, const struct timeval *timeout);
int __wrap_event_add(struct event *event, const struct timeval *timeout);

int __wrap_event_add(struct event *event, const struct timeval *timeout)
{
    if (!is_at_limit)
        return __real_event_add(event, timeout);
    errno = ENOSPC;
    return -1;
}

/* Called to read /proc. */
FILE *fopen(const char *name, const char *mode)
{
    int fd;

    if (n_bytes > 0 && strcmp(name, "/proc/net/protocols") == 0)
        return fmemopen(protocols, n_bytes, "r");
    fd = open(name, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fdopen(fd, mode) : NULL;
}

static void pressure_is_noted_while_it_lasts(void **state)
{
    struct server_result *r = &server.result;

    (void)state;
    host_counters_read(&r->before);
    r->before.tcp_memory_is_short = 0;
    assert_int_equal(server_supervise_begin(&server), 0);
    n_bytes = strlen(protocols);
    event_base_loop(server.base, EVLOOP_ONCE);
    n_bytes = 0;
    assert_int_equal(r->before.tcp_memory_is_short, 1);
    server_supervise_end(&server);
    event_base_free(server.base);
}

static void loss_of_a_result_is_reported_while_the_server_runs(void **state)
{
    static const char loss[] = "--json: cannot write '/dev/full': No space left on device; results "
                               "are lost until SIGHUP\n";
    char *said = NULL;
    size_t n_said;
    FILE *stream = open_memstream(&said, &n_said);

    (void)state;
    log_set_stream(stream);
    server.result.version = server.result.libevent = server.result.backend = server.result.address =
        "";
    server.result.options = server_opts_table();
    server.result.settings = &server.opts;
    assert_int_equal(output_open_document(&server.json, "json", "/dev/full"), 0);
    assert_int_equal(server_supervise_begin(&server), 0);
    raise(SIGUSR1);
    for (int i = 0; i < MOST_TURNS && (said == NULL || strstr(said, loss) == NULL); i++) {
        event_base_loop(server.base, EVLOOP_ONCE);
        fflush(stream);
    }
    assert_non_null(strstr(said, loss));
    server_supervise_end(&server);
    event_base_free(server.base);
    output_abandon(&server.json);
    log_set_stream(NULL);
    fclose(stream);
    free(said);
}

static void a_server_that_cannot_start_names_the_limit(void **state)
{
    char *said;

    (void)state;
    log_set_stream(print_open());
    is_at_limit = true;
    assert_int_equal(server_supervise_begin(&server), -1);
    is_at_limit = false;
    log_set_stream(NULL);
    said = print_close();
    assert_has(said, "cannot watch signals and timers: No space left on device (see "
                     "fs.epoll.max_user_watches)\n");
    free(said);
    server_supervise_end(&server);
    event_base_free(server.base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pressure_is_noted_while_it_lasts),
        cmocka_unit_test(a_server_that_cannot_start_names_the_limit),
        cmocka_unit_test(loss_of_a_result_is_reported_while_the_server_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
