/* SPDX-License-Identifier: MIT
 * client_plan_classes: turns --class into the classes of the workers' configuration. */
#ifndef TCPSCALER_CLIENT_PLAN_CLASSES_H
#define TCPSCALER_CLIENT_PLAN_CLASSES_H

#include "client/opts_class.h"
#include "client/worker/config.h"

struct client_plan_classes {
    struct client_class all[CLIENT_CLASS_MOST];
    struct query queries[CLIENT_CLASS_MOST];
};

/* Fills in config->classes and what belongs to them; nothing without --class.  Call it when
 * config->target is known.  Returns 0, or -1 after one line on stderr. */
int client_plan_classes_make(struct client_plan_classes *classes, struct client_config *config,
                             const struct client_opts *opts);
void client_plan_classes_free(struct client_plan_classes *classes); /* also if all zero */

#endif
