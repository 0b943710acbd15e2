/* SPDX-License-Identifier: MIT
 * client_laws: checks the laws of conservation of a run's counts (measure/tally.h,
 * measure/class_tally.h, rows).  Pure. */
#ifndef TCPSCALER_CLIENT_LAWS_H
#define TCPSCALER_CLIENT_LAWS_H

#include "client/result.h"
#include "client/worker/config.h"

#include <stdint.h>

/* Returns the first law that the counts of a run that has ended break, or NULL.  The text is
 * static. */
const char *client_laws_broken(const struct client_result *r, const struct client_config *config);

/* The same for the laws of the classes alone. */
const char *client_laws_broken_by_classes(const struct client_result *r, uint32_t n_classes);

#endif
