/* SPDX-License-Identifier: MIT
 * client_class_figures: the counters and measurements of one class of clients in one worker: a part
 * of its figures (client/worker/figures.h), with the same rules for threads and sets. */
#ifndef TCPSCALER_CLIENT_WORKER_CLASS_FIGURES_H
#define TCPSCALER_CLIENT_WORKER_CLASS_FIGURES_H

#include "measure/class_tally.h"
#include "measure/hist.h"

#include <stdint.h>

/* Times of measured queries, as the metrics of the same names (client/worker/metric.h). */
struct client_class_times {
    struct hist response, service;
};

struct client_class_figures {
    tally_count n_live; /* gauge: usable connections */
    struct class_tally tally;
    struct client_class_times sets[2];
};

/* Returns the figures of n classes, or NULL if out of memory. */
struct client_class_figures *client_class_figures_new(uint32_t n);
void client_class_figures_free(struct client_class_figures *all, uint32_t n); /* also NULL */

/* Returns 0, or -1 if out of memory; free them also then. */
int client_class_times_init(struct client_class_times *times);
void client_class_times_free(struct client_class_times *times); /* also if all zero */

/* Adds the values of `from`. */
void client_class_times_merge(struct client_class_times *into,
                              const struct client_class_times *from);
void client_class_times_reset(struct client_class_times *times);

#endif
