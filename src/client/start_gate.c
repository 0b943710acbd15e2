/* SPDX-License-Identifier: MIT
 * start_gate: see client/start_gate.h. */
#include "client/start_gate.h"

#include "base/clock.h"
#include "base/inputs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/outputs.h"
#include "base/units.h"
#include "client/result.h"
#include "client/start_time.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_NS (20 * UNITS_NS_PER_MS) /* interval at which the file and the clock are read */

/* More than NTP's slewing makes of a wait of minutes, and less than tells runs apart. */
#define CLOCK_WAS_SET_NS (100 * UNITS_NS_PER_MS)

enum { PATH_BYTES = 4096 };

static uint64_t now_epoch_ns(void)
{
    return clock_now_ns() + clock_realtime_offset_ns();
}

void start_gate_init(struct client_start *start)
{
    *start = (struct client_start){
        .requested = true, .offset_ns = clock_realtime_offset_ns(), .late_ns = UINT64_MAX};
    clock_read_bound(&start->clock);
}

bool start_gate_is_missed(const struct start_gate_settings *settings)
{
    return settings->at_epoch_ns > 0 &&
           start_time_judge(settings->at_epoch_ns, now_epoch_ns(), 0, settings->late_max_ns) ==
               START_TIME_MISSED;
}

bool start_gate_is_before_boot(uint64_t at_epoch_ns)
{
    return at_epoch_ns < clock_realtime_offset_ns() + UNITS_NS_PER_MS;
}

/* --- FILE.ready --- */

static int path_of(char path[PATH_BYTES], const char *file, const char *end)
{
    if (snprintf(path, PATH_BYTES, "%s%s", file, end) < PATH_BYTES)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

static int paths_of(char ready[PATH_BYTES], char new[PATH_BYTES], const char *file)
{
    return path_of(ready, file, ".ready") != 0 ? -1 : path_of(new, file, ".ready.new");
}

static int log_unwritable(const char *file)
{
    return log_error("--start-file: cannot write '%s.ready': %s", file, strerror(errno));
}

/* Creates the file, in place of one that an earlier run left.  In a directory that others write to,
 * a link may lead anywhere, and opening a FIFO would wait for its reader. */
static FILE *create(const char *new)
{
    struct stat status;
    FILE *out;
    int fd;

    if (lstat(new, &status) == 0 && (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)))
        unlink(new);
    fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && out == NULL)
        close(fd);
    return out;
}

/* Tests whether the file can be written, and removes one that an earlier run left, but not a
 * socket: it may be that of --control. */
static int try_to_write(const char *ready, const char *new)
{
    struct stat status;
    FILE *out;

    if (stat(ready, &status) == 0 && !S_ISREG(status.st_mode)) {
        errno = EEXIST;
        return -1;
    }
    out = create(new);
    if (out == NULL)
        return -1;
    fclose(out);
    unlink(new);
    return unlink(ready) == 0 || errno == ENOENT ? 0 : -1;
}

static int refuse_output(const char *path)
{
    const struct output *o = outputs_find(path);

    return o == NULL ? 0
                     : log_error("--start-file: '%s' is also used by --%s: expected a different "
                                 "file for each",
                                 path, o->option);
}

static int refuse_input(const char *path)
{
    return inputs_have_file(path) ? log_error("--start-file: '%s' is one of the input files", path)
                                  : 0;
}

/* mv(1) would put the file with the time into a directory, and would replace a socket, such as that
 * of --control. */
static int refuse_directory_or_socket(const char *file)
{
    struct stat status;

    if (stat(file, &status) != 0 || !(S_ISDIR(status.st_mode) || S_ISSOCK(status.st_mode)))
        return 0;
    return log_error("--start-file: '%s' is a %s: expected a file", file,
                     S_ISDIR(status.st_mode) ? "directory" : "socket");
}

int start_gate_prepare(const struct start_gate_settings *settings)
{
    char ready[PATH_BYTES], new[PATH_BYTES];
    const char *file = settings->file;

    if (file == NULL)
        return 0;
    if (paths_of(ready, new, file) != 0)
        return log_unwritable(file);
    if (refuse_directory_or_socket(file) != 0 || refuse_output(file) != 0 ||
        refuse_output(ready) != 0 || refuse_output(new) != 0 || refuse_input(ready) != 0 ||
        refuse_input(new) != 0)
        return -1;
    return try_to_write(ready, new) == 0 ? 0 : log_unwritable(file);
}

/* Writes it atomically. */
static int write_ready(const char *file, const struct client_result *r)
{
    char ready[PATH_BYTES], new[PATH_BYTES];
    FILE *out;
    struct json j;

    if (paths_of(ready, new, file) != 0 || (out = create(new)) == NULL)
        return -1;
    json_init(&j, out);
    json_object_begin(&j, NULL);
    json_u64(&j, "asked", r->connections_requested);
    json_u64(&j, "connected", tally_get(&r->tally.connections.connected));
    json_u64(&j, "proven", tally_get(&r->tally.connections.proven));
    json_u64(&j, "half_open", r->connections_half_open);
    json_u64(&j, "live", r->connections_live);
    json_object_end(&j);
    if (fclose(out) != 0 || rename(new, ready) != 0) {
        const int error = errno;

        (void)unlink(new);
        errno = error;
        return -1;
    }
    return 0;
}

/* --- waiting --- */

static void miss(struct start_gate *gate)
{
    gate->start->missed = true;
    gate->waiting = false;
    gate->missed(gate->arg);
}

static void again_in(struct start_gate *gate, uint64_t ns)
{
    const struct timeval wait = clock_timeval(ns);

    if (event_add(&gate->event, &wait) != 0) {
        log_error("cannot wait for the start: out of memory");
        miss(gate);
    }
}

/* Reports, once, why an existing file does not start the run. */
static void log_unreadable(struct start_gate *gate, int error)
{
    if (error == ENOENT || error == EAGAIN || gate->is_unreadable)
        return;
    gate->is_unreadable = true;
    log_error("--start-file: cannot read '%s': %s; trying again", gate->settings->file,
              strerror(error));
}

/* Reads the time from the file, if one is used.  Returns whether the time is known. */
static bool read_start(struct start_gate *gate)
{
    char text[64];
    const int fd = open(gate->settings->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const ssize_t n_bytes = fd >= 0 ? read(fd, text, sizeof text) : -1;
    uint64_t at_epoch_ns;

    if (n_bytes < 0)
        log_unreadable(gate, errno);
    if (fd >= 0)
        close(fd);
    if (n_bytes <= 0)
        return false;
    switch (start_time_read(text, (size_t)n_bytes, &at_epoch_ns)) {
    case START_TIME_COMPLETE:
        gate->start->at_epoch_ns = at_epoch_ns;
        gate->start->margin_ns = (int64_t)(at_epoch_ns - now_epoch_ns());
        return true;
    case START_TIME_WRONG:
        log_error("--start-file: invalid start time in '%s': expected " START_TIME_ACCEPTED,
                  gate->settings->file);
        miss(gate);
        return false;
    case START_TIME_UNFINISHED:
        break;
    }
    return false;
}

static void log_missed(const struct start_gate *gate, uint64_t late_ns)
{
    char late[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];

    units_format_duration(late, late_ns);
    if (late_ns <= gate->settings->late_max_ns)
        log_error("the start was %s ago, before this machine was booted: nothing is sent", late);
    else
        log_error("the start was missed by %s (--late-max %s): nothing is sent; allow more time",
                  late, units_format_duration(most, gate->settings->late_max_ns));
}

/* Logs, rows and the result go by the clock as it was when the run began. */
static void log_set_clock(const struct client_start *start)
{
    const int64_t set_ns = (int64_t)(clock_realtime_offset_ns() - start->offset_ns);
    const uint64_t by_ns = set_ns < 0 ? -(uint64_t)set_ns : (uint64_t)set_ns;
    char by[UNITS_TEXT_BYTES];

    if (by_ns >= CLOCK_WAS_SET_NS)
        log_error("the clock was set %s by %s before the start: other times of day of this run are "
                  "those of the clock as it was",
                  set_ns < 0 ? "back" : "forward", units_format_duration(by, by_ns));
}

static enum start_time_is judge(const struct start_gate *gate, uint64_t at_ns, uint64_t now_ns)
{
    const struct start_gate_settings *s = gate->settings;

    return start_gate_is_before_boot(at_ns)
               ? START_TIME_MISSED
               : start_time_judge(at_ns, now_ns, s->ahead_ns, s->late_max_ns);
}

/* Reads CLOCK_REALTIME again and again: if the clock is set, the start moves with it. */
static void await_start(struct start_gate *gate)
{
    const struct start_gate_settings *s = gate->settings;
    const uint64_t at_ns = gate->start->at_epoch_ns, now_ns = now_epoch_ns();

    switch (judge(gate, at_ns, now_ns)) {
    case START_TIME_AHEAD:
        again_in(gate, at_ns - s->ahead_ns - now_ns < LOOK_NS ? at_ns - s->ahead_ns - now_ns + 999
                                                              : LOOK_NS);
        break;
    case START_TIME_NOW:
        gate->waiting = false;
        log_set_clock(gate->start);
        clock_read_bound(&gate->start->clock);
        gate->opened(gate->arg, clock_monotonic_of_ns(at_ns));
        break;
    case START_TIME_MISSED:
        log_missed(gate, now_ns - at_ns);
        miss(gate);
        break;
    }
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct start_gate *gate = arg;

    (void)fd;
    (void)what;
    if (gate->start->at_epoch_ns > 0 || read_start(gate))
        await_start(gate);
    else if (gate->waiting)
        again_in(gate, LOOK_NS);
}

void start_gate_wait(struct start_gate *gate, struct event_base *base,
                     const struct client_result *connections)
{
    const struct start_gate_settings *s = gate->settings;

    gate->waiting = true;
    clock_read_bound(&gate->start->clock); /* also if the gate never opens */
    evtimer_assign(&gate->event, base, on_look, gate);
    if (s->at_epoch_ns > 0) {
        gate->start->at_epoch_ns = s->at_epoch_ns;
        gate->start->margin_ns = (int64_t)(s->at_epoch_ns - now_epoch_ns());
    }
    if (s->file != NULL && write_ready(s->file, connections) != 0) {
        log_unwritable(s->file);
        miss(gate);
        return;
    }
    if (!s->quiet)
        log_error("%" PRIu64 " %s live, waiting for %s", connections->connections_live,
                  units_noun(connections->connections_live, "connection", "connections"),
                  s->file != NULL ? s->file : "the start");
    on_look(-1, 0, gate);
}

void start_gate_close(struct start_gate *gate)
{
    if (gate->waiting)
        event_del(&gate->event);
    gate->waiting = false;
}
