/* SPDX-License-Identifier: MIT
 * watch: samples what a server of this host uses: its processes, their control group, the sockets
 * of its port.  One thread.
 *
 * Cheap readings are taken for every sample: some files per process.  Others are paced, so that
 * each takes at most 1 % of a CPU, or 0.1 % under load (host/watch/pace.h): all processes of the
 * host (to find new children), PSS, and the list of the port's sockets.  Their figures are unknown
 * in between. */
#ifndef TCPSCALER_HOST_WATCH_WATCH_H
#define TCPSCALER_HOST_WATCH_WATCH_H

#include "host/watch/group.h"
#include "host/watch/pace.h"
#include "host/watch/process_list.h"
#include "measure/watch_series.h"

#define WATCH_TEXT_BYTES 160

struct watch {
    const char *proc;
    struct watch_target target;
    uint16_t port;
    uint64_t realtime_offset_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
    uint64_t last_epoch_ns;      /* of the last sample */
    struct process root;         /* WATCH_PROCESS */
    struct process_list processes;
    struct watch_group group; /* its directory only of a unit or group */
    bool is_alone;            /* the control group has no other processes */
    bool shares_network;      /* with this process: its sockets can be listed */
    bool is_under_load;       /* set by the caller */
    bool has_said_overfull;   /* that there are more than PROCESS_LIST_MOST processes */
    struct watch_pace scan, pss, sockets;
    char name[WATCH_TEXT_BYTES]; /* "nsd (process 12)"; may contain any byte */
    char end[WATCH_TEXT_BYTES];  /* why the last sample could not be taken; "": it could */
};

/* `proc` is "/proc", borrowed like the target's text.  Returns 0; or -1 with a reason that names
 * neither. */
int watch_open(struct watch *w, const char *proc, const struct watch_target *target, uint16_t port,
               char error[WATCH_TEXT_BYTES]);

/* Dates the samples from now on by CLOCK_REALTIME as it is set now; without this, as it was set
 * when watching began.  None is dated before the one before it, even if the clock is set back. */
void watch_follow_clock(struct watch *w);

/* Takes a sample of all but queries and connections.  False, with w->end set: the server has ended,
 * or all of its processes have been replaced. */
bool watch_take(struct watch *w, struct watch_sample *sample);

#endif
