/* SPDX-License-Identifier: MIT
 * watch_thread: see host/watch/watch_thread.h. */
#include "host/watch/watch_thread.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_start.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { UNDER_LOAD_MS = 1000, BEFORE_LOAD_MS = 100 };

/* Before the load: as often as 1 % of a CPU allows. */
static int pause_ms(const struct watch_load *load, uint64_t cost_ns)
{
    const uint64_t rest_ms = WATCH_PACE_REST * cost_ns / 1000000;

    if (load->has_begun || rest_ms > UNDER_LOAD_MS)
        return UNDER_LOAD_MS;
    return rest_ms > BEFORE_LOAD_MS ? (int)rest_ms : BEFORE_LOAD_MS;
}

/* Returns false when nothing is left to watch. */
static bool take(struct watch_thread *t, const struct watch_load *load)
{
    struct watch_sample sample;

    if (load->has_begun)
        watch_series_fix(&t->series); /* the ramp, from which memory per connection is computed */
    t->watch.is_under_load = load->has_begun;
    if (!watch_take(&t->watch, &sample)) {
        log_error("--watch: %s: %s", t->watch.name, t->watch.end);
        return false;
    }
    sample.at[WATCH_CONNECTIONS] = load->connections;
    sample.at[WATCH_QUERIES] = load->queries;
    if (watch_series_add(&t->series, &sample) == 0)
        return true;
    snprintf(t->watch.end, sizeof t->watch.end, "out of memory");
    log_error("--watch: %s: %s", t->watch.name, t->watch.end);
    return false;
}

static void *run(void *arg)
{
    struct watch_thread *t = arg;
    struct pollfd stop = {.fd = t->stop_fd, .events = POLLIN};
    struct watch_load load = {.has_begun = false};
    uint64_t before_ns, cost_ns = 0;
    bool goes_on = true;

    while (goes_on && poll(&stop, 1, pause_ms(&load, cost_ns)) == 0) {
        before_ns = clock_thread_cpu_ns();
        t->load(t->context, &load);
        goes_on = take(t, &load);
        cost_ns = clock_thread_cpu_ns() - before_ns;
    }
    if (goes_on) {
        t->load(t->context, &load);
        (void)take(t, &load);
    }
    return NULL;
}

int watch_thread_start(struct watch_thread *t)
{
    const struct watch_load none = {.has_begun = false};
    int error;

    if (!take(t, &none))
        return 0;
    t->stop_fd = eventfd(0, EFD_CLOEXEC);
    error = t->stop_fd < 0 ? errno : thread_start(&t->thread, run, t);
    t->is_running = error == 0;
    if (error == 0)
        return 0;
    if (t->stop_fd >= 0)
        close(t->stop_fd);
    snprintf(t->watch.end, sizeof t->watch.end, "cannot start a thread: %s", strerror(error));
    errno = error;
    return -1;
}

void watch_thread_stop(struct watch_thread *t)
{
    const uint64_t one = 1;

    if (!t->is_running)
        return;
    while (write(t->stop_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
    pthread_join(t->thread, NULL);
    close(t->stop_fd);
    t->is_running = false;
}

void watch_thread_free(struct watch_thread *t)
{
    watch_thread_stop(t);
    watch_series_free(&t->series);
}
