/* SPDX-License-Identifier: MIT
 * test_worker: the mailbox and the loop of a thread.  No test depends on elapsed time. */
#include "net/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { HOLD, TICK, SUM, END }; /* kinds of messages */
enum { MOST_TAKEN = 16 };

static bool epoll_fails;

/* Called by libevent. */
int epoll_wait(int epoll_fd, struct epoll_event *events, int n, int timeout_ms)
{
    if (!epoll_fails)
        return (int)syscall(SYS_epoll_pwait, epoll_fd, events, n, timeout_ms, NULL, 0);
    errno = EPERM;
    return -1;
}

struct subject {
    struct worker worker; /* must be first: pointers to the two are cast into each other */
    sem_t holds, go;
    struct {
        int kind;
        uint64_t value;
    } taken[MOST_TAKEN];
    unsigned n_taken;
};

static int setup(struct worker *w)
{
    (void)w;
    return 0;
}

/* HOLD blocks the thread, as a full ring of rows does. */
static void on_message(struct worker *w, int kind, uint64_t value)
{
    struct subject *s = (struct subject *)w;

    if (kind == HOLD) {
        sem_post(&s->holds);
        sem_wait(&s->go);
        return;
    }
    s->taken[s->n_taken].kind = kind;
    s->taken[s->n_taken++].value = value;
    if (kind == END)
        worker_finish(w);
}

static void teardown(struct worker *w)
{
    (void)w;
}

/* The thread is blocked when this returns. */
static int start_and_block(void **state)
{
    static struct subject subject;
    struct subject *s = &subject;
    static const struct worker_ops ops = {
        .name = "test", .setup = setup, .on_message = on_message, .teardown = teardown};
    const struct worker_params params = {.cpu = -1};

    subject = (struct subject){.n_taken = 0};
    sem_init(&s->holds, 0, 0);
    sem_init(&s->go, 0, 0);
    if (worker_start(&s->worker, &ops, &params) != 0)
        return -1;
    worker_post(&s->worker, HOLD, 0);
    sem_wait(&s->holds);
    *state = s;
    return 0;
}

static void release_and_join(struct subject *s)
{
    sem_post(&s->go);
    worker_join(&s->worker);
    sem_destroy(&s->holds);
    sem_destroy(&s->go);
}

static void assert_taken(const struct subject *s, unsigned i, int kind, uint64_t value)
{
    assert_int_equal(s->taken[i].kind, kind);
    assert_int_equal(s->taken[i].value, value);
}

static void a_message_reaches_a_thread_that_took_none_of_a_thousand_others(void **state)
{
    struct subject *s = *state;

    for (uint64_t i = 1; i <= 1000; i++)
        worker_post(&s->worker, TICK, i);
    worker_post(&s->worker, END, 7);
    release_and_join(s);
    assert_int_equal(s->n_taken, 2);
    assert_taken(s, 0, TICK, 1000);
    assert_taken(s, 1, END, 7);
}

static void values_of_messages_that_wait_add_up_where_that_is_wanted(void **state)
{
    struct subject *s = *state;

    for (uint64_t i = 1; i <= 100; i++)
        worker_post_more(&s->worker, SUM, i);
    worker_post(&s->worker, END, 0);
    release_and_join(s);
    assert_int_equal(s->n_taken, 2);
    assert_taken(s, 0, SUM, 5050);
}

static void messages_that_wait_are_taken_in_the_order_of_their_kinds(void **state)
{
    struct subject *s = *state;

    worker_post(&s->worker, END, 3);
    worker_post(&s->worker, SUM, 2);
    worker_post(&s->worker, TICK, 1);
    release_and_join(s);
    assert_int_equal(s->n_taken, 3);
    assert_taken(s, 0, TICK, 1);
    assert_taken(s, 1, SUM, 2);
    assert_taken(s, 2, END, 3);
}

/* Assertions are enabled in every build; this triggers one. */
static void an_unknown_kind_of_message_aborts(void **state)
{
    const pid_t pid = fork();
    int status = 0;

    (void)state;
    if (pid == 0) {
        static struct worker w;

        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        worker_post(&w, (int)WORKER_KINDS, 0);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* With a descriptor for the mailbox alone.  Returns errno. */
static int start_without_epoll(const struct worker_ops *ops, uint32_t index)
{
    const struct worker_params params = {.index = index, .cpu = -1};
    struct worker w;
    struct rlimit limit, before;
    const int lowest_free = dup(STDERR_FILENO);
    int status, error;

    close(lowest_free);
    getrlimit(RLIMIT_NOFILE, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)lowest_free + 1;
    setrlimit(RLIMIT_NOFILE, &limit);
    status = worker_start(&w, ops, &params);
    error = errno;
    setrlimit(RLIMIT_NOFILE, &before); /* also for the tests after one that fails */
    assert_int_equal(status, -1);
    return error;
}

/* libevent would do with poll(2), or end the process. */
static void a_loop_that_cannot_wait_for_events_aborts(void **state)
{
    const pid_t pid = fork();
    int status = 0;

    (void)state;
    if (pid == 0) {
        static const struct worker_ops ops = {
            .name = "test", .setup = setup, .on_message = on_message, .teardown = teardown};
        static struct worker w;

        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        epoll_fails = true;
        if (worker_start(&w, &ops, &(struct worker_params){.cpu = -1}) == 0)
            worker_join(&w);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void a_thread_without_epoll_does_not_start(void **state)
{
    static const struct worker_ops ops = {
        .name = "test", .setup = setup, .on_message = on_message, .teardown = teardown};

    (void)state;
    assert_int_equal(start_without_epoll(&ops, 0), EMFILE);
}

static char last_name[16];

static void keep_name(struct worker *w)
{
    (void)w;
    pthread_getname_np(pthread_self(), last_name, sizeof last_name);
}

static void a_thread_is_named_without_a_descriptor(void **state)
{
    static const struct worker_ops ops = {.name = "test", .setup = setup, .teardown = keep_name};

    (void)state;
    start_without_epoll(&ops, 1007);
    assert_string_equal(last_name, "test7");
}

enum { N_TIMES = 100 };

struct busy {
    struct worker worker; /* must be first, too */
    struct event timer;
    int n_times, n_turns;
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once;
    struct busy *b = arg;

    (void)fd;
    (void)what;
    if (++b->n_times < N_TIMES)
        worker_add_timer(&b->timer, &at_once);
    else
        worker_finish(&b->worker);
}

static int start_timer(struct worker *w)
{
    struct busy *b = (struct busy *)w;

    evtimer_assign(&b->timer, w->base, on_timer, b);
    on_timer(-1, 0, b);
    return 0;
}

static bool never_sleep(struct worker *w)
{
    ((struct busy *)w)->n_turns++;
    return false;
}

/* Queries are sent there, even if the loop has other work. */
static void each_turn_begins_with_what_is_due(void **state)
{
    static const struct worker_ops ops = {
        .name = "test", .setup = start_timer, .before_turn = never_sleep, .teardown = teardown};
    const struct worker_params params = {.cpu = -1};
    static struct busy b;

    (void)state;
    assert_int_equal(worker_start(&b.worker, &ops, &params), 0);
    worker_join(&b.worker);
    assert_int_equal(b.n_times, N_TIMES);
    assert_in_range(b.n_turns, N_TIMES - 1, 10 * N_TIMES);
}

/* Copies what a child that calls act() writes to stderr. */
static void text_of(void (*act)(struct event_base *base), char *text, size_t n_bytes)
{
    struct event_base *base = event_base_new();
    FILE *file = tmpfile();
    pid_t pid;

    assert_non_null(base);
    assert_non_null(file);
    pid = fork();
    if (pid == 0) {
        dup2(fileno(file), STDERR_FILENO);
        worker_take_messages();
        act(base);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    rewind(file);
    text[fread(text, 1, n_bytes - 1, file)] = '\0';
    fclose(file);
    event_base_free(base);
}

/* epoll refuses a regular file again and again. */
static void warn_thrice(struct event_base *base)
{
    struct event *event = event_new(base, open("/proc/self/exe", O_RDONLY), EV_READ, NULL, NULL);

    for (int i = 0; i < 3; i++)
        (void)event_add(event, NULL);
}

/* libevent ends the process if this is not its first call. */
static void warn_thrice_and_fail(struct event_base *base)
{
    warn_thrice(base);
    event_enable_debug_mode();
}

static void a_warning_of_libevent_is_written_once(void **state)
{
    char text[1000];

    (void)state;
    text_of(warn_thrice, text, sizeof text);
    assert_non_null(strstr(text, "libevent: "));
    assert_non_null(strstr(text, "; further warnings from it are not shown\n"));
    assert_string_equal(strchr(text, '\n'), "\n");
}

static void an_error_of_libevent_is_always_written(void **state)
{
    char text[1000];
    const char *second;

    (void)state;
    text_of(warn_thrice_and_fail, text, sizeof text);
    second = strchr(text, '\n');
    assert_non_null(second);
    assert_non_null(strstr(second, "libevent: event_enable_debug_mode must be called *before*"));
    assert_null(strstr(second, "not shown"));
}

static void ignore(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

/* Seconds from a time of day until a timer of an absolute time expires. */
static double wait_s(struct event *timer, uint64_t at_ns, uint64_t now_ns,
                     const struct timeval *begin)
{
    struct timeval end, wait;

    worker_add_timer_at(timer, at_ns, now_ns);
    assert_true(event_pending(timer, EV_TIMEOUT, &end));
    evutil_timersub(&end, begin, &wait);
    return (double)wait.tv_sec + (double)wait.tv_usec / 1e6;
}

static void a_timer_expires_at_its_time_or_at_once_if_that_has_passed(void **state)
{
    static const uint64_t hour_ns = 3600 * UINT64_C(1000000000);
    struct event_base *base = event_base_new();
    struct timeval begin;
    struct event timer;

    (void)state;
    assert_non_null(base);
    evutil_gettimeofday(&begin, NULL);
    evtimer_assign(&timer, base, ignore, NULL);
    assert_in_range(wait_s(&timer, 5 * hour_ns, 2 * hour_ns, &begin) / 60, 3 * 60 - 1, 3 * 60 + 30);
    assert_in_range(wait_s(&timer, 2 * hour_ns, 5 * hour_ns, &begin) / 60 + 1, 0, 1 + 30);
    event_del(&timer);
    event_base_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_message_reaches_a_thread_that_took_none_of_a_thousand_others,
                               start_and_block),
        cmocka_unit_test_setup(values_of_messages_that_wait_add_up_where_that_is_wanted,
                               start_and_block),
        cmocka_unit_test_setup(messages_that_wait_are_taken_in_the_order_of_their_kinds,
                               start_and_block),
        cmocka_unit_test(an_unknown_kind_of_message_aborts),
        cmocka_unit_test(a_loop_that_cannot_wait_for_events_aborts),
        cmocka_unit_test(a_thread_without_epoll_does_not_start),
        cmocka_unit_test(a_thread_is_named_without_a_descriptor),
        cmocka_unit_test(each_turn_begins_with_what_is_due),
        cmocka_unit_test(a_timer_expires_at_its_time_or_at_once_if_that_has_passed),
        cmocka_unit_test(a_warning_of_libevent_is_written_once),
        cmocka_unit_test(an_error_of_libevent_is_always_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
