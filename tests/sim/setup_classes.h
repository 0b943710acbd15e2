/* SPDX-License-Identifier: MIT
 * setup_classes: the classes of clients of a scenario. */
#ifndef TCPSCALER_SIM_SETUP_CLASSES_H
#define TCPSCALER_SIM_SETUP_CLASSES_H

#include "client/worker/config.h"
#include "scenario.h"

/* The rest of the configuration is made. */
void setup_classes_make(struct client_config *c, const struct scenario *s);
void setup_classes_free(struct client_config *c);

#endif
