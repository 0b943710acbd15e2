/* SPDX-License-Identifier: MIT
 * cgroup_find: the directories of control groups of version 1 and 2, see cgroups(7).  Any thread.
 *
 * `proc` is "/proc": PID/cgroup names the groups of a process, self/mountinfo tells where they are.
 * A hierarchy that is not mounted for this process, as under ip-netns(8), which mounts its own
 * /sys, is looked up in the mounts of its parent, grandparent and so on, as far as they are
 * readable. */
#ifndef TCPSCALER_HOST_WATCH_CGROUP_FIND_H
#define TCPSCALER_HOST_WATCH_CGROUP_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_PATH_BYTES 512

/* A group's directory; the first mount_length bytes are its hierarchy's mount point. */
struct cgroup_group {
    char path[CGROUP_PATH_BYTES];
    size_t mount_length;
    bool is_v2;
};

typedef void cgroup_on_group(void *context, const struct cgroup_group *group);

/* Visits every group that may limit this process with this controller: its own groups and their
 * ancestors up to the mount point. */
void cgroup_find_each(const char *proc, const char *controller, cgroup_on_group *on, void *context);

/* Finds the group that a process, "self" or an ID, is in, in a hierarchy that has the controller
 * and in which that group has the file of its version: files[0] of version 1, files[1] of
 * version 2. False: none. */
bool cgroup_find_own(struct cgroup_group *group, const char *proc, const char *process,
                     const char *controller, const char *const files[2]);

/* Finds the group of this name, "/a/b" or "/", in the hierarchy of version 1 that has the
 * controller or, if that is NULL, in that of version 2.  False: none, or without the file. */
bool cgroup_find_named(struct cgroup_group *group, const char *proc, const char *controller,
                       const char *name, const char *file);

/* Finds the value of a line "name value", as in memory.stat.  False, with *value untouched: none.
 */
bool cgroup_stat_find(const char *text, const char *name, uint64_t *value);

#endif
