/* SPDX-License-Identifier: MIT
 * watch: see host/watch/watch.h. */
#include "host/watch/watch.h"

#include "base/clock.h"
#include "base/log.h"
#include "host/watch/cgroup_usage.h"
#include "host/watch/netstat.h"
#include "host/watch/port_sockets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 128 };

/* --- processes --- */

static void add_process(void *context, int pid)
{
    struct watch *w = context;
    struct process p;

    if (!process_list_has(&w->processes, pid) && process_read(&p, w->proc, pid) == 0 &&
        !p.has_ended)
        process_list_add(&w->processes, &p);
}

struct others {
    const struct process_list *list;
    bool found;
};

static void look_for_others(void *context, int pid)
{
    struct others *others = context;

    others->found |= !process_list_has(others->list, pid);
}

/* Reports, once, that some processes are missing from the figures. */
static void say_overfull(struct watch *w)
{
    if (w->processes.is_overfull && !w->has_said_overfull)
        log_error("%s: has more than %d processes: the others are not counted", w->name,
                  PROCESS_LIST_MOST);
    w->has_said_overfull = w->processes.is_overfull;
}

/* Finds new processes, and whether the control group has others, too. */
static void scan(struct watch *w)
{
    struct others others = {&w->processes, false};

    if (w->target.kind == WATCH_PROCESS)
        (void)process_list_add_children(&w->processes, w->proc);
    else
        (void)cgroup_processes(w->group.directory, add_process, w);
    w->is_alone = w->group.has_memory &&
                  cgroup_processes(w->group.memory.path, look_for_others, &others) == 0 &&
                  !others.found;
    say_overfull(w);
}

/* Returns whether the server has ended, and says so in w->end. */
static bool note_end(struct watch *w)
{
    struct process now;

    if (w->target.kind != WATCH_PROCESS) {
        if (w->processes.n > 0)
            return false;
        (void)cgroup_processes(w->group.directory, add_process, w);
        snprintf(w->end, sizeof w->end,
                 w->processes.n > 0 ? "all processes have been replaced" : "no process is left");
        return true;
    }
    for (size_t i = 0; i < w->processes.n; i++)
        if (process_is(&w->processes.items[i], &w->root))
            return false;
    if (process_read(&now, w->proc, w->root.pid) == 0 && !process_is(&now, &w->root))
        snprintf(w->end, sizeof w->end, "process %d has ended; its ID is now that of %s",
                 w->root.pid, now.name);
    else
        snprintf(w->end, sizeof w->end, "process %d has ended", w->root.pid);
    return true;
}

/* --- figures --- */

/* Sums up over the processes; unknown if it is for one. */
static uint64_t sum_of(const struct watch *w, uint64_t (*read)(const char *proc, int pid))
{
    uint64_t sum = 0;

    for (size_t i = 0; i < w->processes.n; i++) {
        const uint64_t value = read(w->proc, w->processes.items[i].pid);

        if (value == PROCESS_UNKNOWN)
            return WATCH_UNKNOWN;
        sum += value;
    }
    return sum;
}

static void take_processes(struct watch *w, struct watch_sample *s)
{
    s->at[WATCH_USER_US] = w->processes.user_us;
    s->at[WATCH_SYSTEM_US] = w->processes.system_us;
    s->at[WATCH_PROCESSES] = w->processes.n;
    s->at[WATCH_RSS_BYTES] = sum_of(w, process_rss_bytes);
    s->at[WATCH_FDS] = sum_of(w, process_fds);
}

static void take_pss(struct watch *w, struct watch_sample *s)
{
    s->at[WATCH_PSS_BYTES] = sum_of(w, process_pss_bytes);
}

static void take_cgroup(const struct watch *w, struct watch_sample *s)
{
    struct cgroup_usage u;

    if (!w->is_alone)
        return;
    cgroup_usage_read(&u, &w->group.memory);
    s->at[WATCH_CGROUP_BYTES] = u.bytes;
    s->at[WATCH_CGROUP_USER_BYTES] = u.user_bytes;
    s->at[WATCH_CGROUP_KERNEL_BYTES] = u.kernel_bytes;
    s->at[WATCH_CGROUP_SOCKET_BYTES] = u.socket_bytes;
}

static void take_listeners(const struct watch *w, struct watch_sample *s)
{
    struct port_listeners l;
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%d/net/netstat", w->proc, w->processes.items[0].pid);
    s->at[WATCH_LISTEN_OVERFLOWS] = netstat_read(path, "TcpExt:", "ListenOverflows");
    s->at[WATCH_LISTEN_DROPS] = netstat_read(path, "TcpExt:", "ListenDrops");
    if (!w->shares_network || port_listeners_read(&l, w->port) != 0 || l.n == 0)
        return;
    s->at[WATCH_LISTEN_QUEUE] = l.queue;
    s->at[WATCH_LISTEN_BACKLOG] = l.backlog;
}

static void take_sockets(struct watch *w, struct watch_sample *s)
{
    struct port_sockets p;

    if (!w->shares_network || port_sockets_read(&p, w->port) != 0)
        return;
    s->at[WATCH_ESTABLISHED] = p.established;
    s->at[WATCH_SYN_RECEIVED] = p.syn_received;
    s->at[WATCH_FIN_WAIT] = p.fin_wait;
    s->at[WATCH_TIME_WAIT] = p.time_wait;
    s->at[WATCH_CLOSE_WAIT] = p.close_wait;
    s->at[WATCH_OTHER_STATES] = p.other;
    s->at[WATCH_BUFFER_BYTES] = p.buffer_bytes;
}

static void take_paced(struct watch *w, struct watch_pace *pace, struct watch_sample *s,
                       void (*take)(struct watch *w, struct watch_sample *s))
{
    const uint64_t before_ns = clock_thread_cpu_ns();

    if (!watch_pace_is_due(pace, clock_now_ns()))
        return;
    take(w, s);
    watch_pace_took(pace, clock_now_ns(), clock_thread_cpu_ns() - before_ns,
                    w->is_under_load ? WATCH_PACE_LONG_REST : WATCH_PACE_REST);
}

static void take_scan(struct watch *w, struct watch_sample *s)
{
    (void)s;
    scan(w);
}

void watch_follow_clock(struct watch *w)
{
    w->realtime_offset_ns = clock_realtime_offset_ns();
}

static uint64_t epoch_ns_of_sample(struct watch *w)
{
    const uint64_t epoch_ns = clock_now_ns() + w->realtime_offset_ns;

    if (epoch_ns > w->last_epoch_ns)
        w->last_epoch_ns = epoch_ns;
    return w->last_epoch_ns;
}

bool watch_take(struct watch *w, struct watch_sample *s)
{
    watch_sample_init(s);
    process_list_read(&w->processes, w->proc);
    if (note_end(w))
        return false;
    s->at[WATCH_EPOCH_NS] = epoch_ns_of_sample(w);
    take_processes(w, s);
    take_cgroup(w, s);
    take_listeners(w, s);
    /* the figures above belong to the same moment; these may take longer */
    take_paced(w, &w->pss, s, take_pss);
    take_paced(w, &w->sockets, s, take_sockets);
    take_paced(w, &w->scan, s, take_scan);
    return true;
}

/* --- open --- */

static int open_process(struct watch *w, char *error)
{
    char pid[16];

    if (process_read(&w->root, w->proc, w->target.pid) != 0) {
        snprintf(error, WATCH_TEXT_BYTES, "%s",
                 errno == ENOENT || errno == ESRCH ? "no such process" : strerror(errno));
        return -1;
    }
    if (w->root.has_ended) {
        snprintf(error, WATCH_TEXT_BYTES, "the process has ended");
        return -1;
    }
    process_list_add(&w->processes, &w->root);
    snprintf(pid, sizeof pid, "%d", w->target.pid);
    w->group.has_memory =
        cgroup_find_own(&w->group.memory, w->proc, pid, "memory", cgroup_usage_files);
    snprintf(w->name, sizeof w->name, "%s (process %d)", w->root.name, w->root.pid);
    return 0;
}

static int open_group(struct watch *w, char *error)
{
    const bool is_unit = w->target.kind == WATCH_UNIT;

    if (watch_group_find(&w->group, w->proc, &w->target) != 0) {
        snprintf(error, WATCH_TEXT_BYTES,
                 is_unit ? "no such unit with a control group: is it running?"
                         : "no such control group");
        return -1;
    }
    snprintf(w->name, sizeof w->name, "%s %.140s", is_unit ? "unit" : "control group",
             w->target.name);
    (void)cgroup_processes(w->group.directory, add_process, w);
    if (w->processes.n > 0)
        return 0;
    snprintf(error, WATCH_TEXT_BYTES, "no process in the control group");
    return -1;
}

int watch_open(struct watch *w, const char *proc, const struct watch_target *target, uint16_t port,
               char error[WATCH_TEXT_BYTES])
{
    *w = (struct watch){.proc = proc, .target = *target, .port = port};
    w->realtime_offset_ns = clock_realtime_offset_ns();
    if (target->kind == WATCH_PROCESS ? open_process(w, error) : open_group(w, error))
        return -1;
    w->shares_network = process_shares_network(proc, w->processes.items[0].pid);
    scan(w);
    return 0;
}
