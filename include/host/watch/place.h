/* SPDX-License-Identifier: MIT
 * watch_place: finds the control group of a unit of systemd or of a path.  `proc` is "/proc".  Any
 * thread. */
#ifndef TCPSCALER_HOST_WATCH_PLACE_H
#define TCPSCALER_HOST_WATCH_PLACE_H

#include "host/watch/cgroup_find.h"
#include "host/watch/target.h"

struct watch_place {
    char directory[CGROUP_PATH_BYTES]; /* with the processes */
    bool has_memory;
    struct cgroup_group memory; /* with the memory figures, maybe in another hierarchy */
};

/* For WATCH_CGROUP and WATCH_UNIT.  A unit is the first directory of its name, or its name and
 * ".service", below the mount points.  Returns 0, or -1 if there is no such group. */
int watch_place_find(struct watch_place *place, const char *proc,
                     const struct watch_target *target);

#endif
