/* SPDX-License-Identifier: MIT
 * watch_target: the argument of --watch: which server.  Pure. */
#ifndef TCPSCALER_HOST_WATCH_TARGET_H
#define TCPSCALER_HOST_WATCH_TARGET_H

enum watch_kind { WATCH_PROCESS, WATCH_UNIT, WATCH_CGROUP };

struct watch_target {
    enum watch_kind kind;
    int pid;          /* WATCH_PROCESS: it and its descendants */
    const char *name; /* WATCH_UNIT: of systemd; WATCH_CGROUP: path, from the mount point of its
                       * hierarchy or "/"; borrowed from the text */
};

#define WATCH_TARGET_ACCEPTED "a process ID, unit:NAME or cgroup:PATH"

/* Returns 0, or -1 if it is none of these. */
int watch_target_parse(struct watch_target *t, const char *text);

#endif
