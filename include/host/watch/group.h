/* SPDX-License-Identifier: MIT
 * watch_group: the control group to watch: that of a systemd unit, or of a path.  `proc` is
 * "/proc".  Any thread. */
#ifndef TCPSCALER_HOST_WATCH_GROUP_H
#define TCPSCALER_HOST_WATCH_GROUP_H

#include "host/watch/cgroup_find.h"
#include "host/watch/target.h"

struct watch_group {
    char directory[CGROUP_PATH_BYTES]; /* with the processes */
    bool has_memory;
    struct cgroup_group memory; /* with the memory figures, maybe in another hierarchy */
};

/* For WATCH_CGROUP and WATCH_UNIT.  A unit is the first directory of its name, or its name and
 * ".service", within 8 levels below the mount points.  Returns 0, or -1 if there is no such group.
 */
int watch_group_find(struct watch_group *group, const char *proc,
                     const struct watch_target *target);

#endif
