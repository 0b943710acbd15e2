/* SPDX-License-Identifier: MIT
 * client_schedule: reads the text of a schedule from --schedule, a file, or standard input. */
#ifndef TCPSCALER_CLIENT_SCHEDULE_H
#define TCPSCALER_CLIENT_SCHEDULE_H

#include "client/opts.h"
#include "workload/schedule.h"

/* Reads the schedule that the options name, standard input to its end.  client_opts_has_schedule()
 * must be true.  Returns 0, or -1 after one line on stderr. */
int client_schedule_read(struct schedule *s, const struct client_opts *o);

/* Likewise for the connection schedule, which must have been given. */
int client_schedule_read_connections(struct schedule *s, const struct client_opts *o);

#endif
