/* SPDX-License-Identifier: MIT
 * test_watch_thread: a server that cannot be watched to the end.
 * Linked with --wrap=thread_start and
 * --wrap=watch_series_add. */
#include "host/watch/watch_thread.h"

#include "base/log.h"
#include "print_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_out_of_memory;

int __real_watch_series_add(struct watch_series *s, const struct watch_sample *sample);
int __wrap_watch_series_add(struct watch_series *s, const struct watch_sample *sample);
int __wrap_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

int __wrap_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    (void)thread;
    (void)run;
    (void)arg;
    return EAGAIN;
}

int __wrap_watch_series_add(struct watch_series *s, const struct watch_sample *sample)
{
    return is_out_of_memory ? -1 : __real_watch_series_add(s, sample);
}

/* Watches this process. */
static struct watch_thread *open_watch(void)
{
    static struct watch_thread t;
    const struct watch_target target = {.kind = WATCH_PROCESS, .pid = getpid()};
    char why[WATCH_TEXT_BYTES];

    t = (struct watch_thread){.stop_fd = -1};
    assert_int_equal(watch_open(&t.watch, "/proc", &target, 4242, why), 0);
    return &t;
}

static void a_thread_that_cannot_be_started_is_why_samples_end(void **state)
{
    struct watch_thread *t = open_watch();

    (void)state;
    errno = 0;
    assert_int_equal(watch_thread_start(t), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(t->series.n, 1);
    assert_string_equal(t->watch.end, "cannot start a thread: Resource temporarily unavailable");
    watch_thread_free(t);
}

static void lack_of_memory_is_reported(void **state)
{
    struct watch_thread *t = open_watch();
    char *said;

    (void)state;
    log_set_stream(print_open());
    is_out_of_memory = true;
    assert_int_equal(watch_thread_start(t), 0);
    is_out_of_memory = false;
    log_set_stream(NULL);
    said = print_close();
    assert_string_equal(t->watch.end, "out of memory");
    assert_has(said, "): out of memory\n");
    assert_false(t->is_running);
    free(said);
    watch_thread_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_cannot_be_started_is_why_samples_end),
        cmocka_unit_test(lack_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
