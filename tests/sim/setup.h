/* SPDX-License-Identifier: MIT
 * setup: the configuration of tcpclient's workers for a scenario. */
#ifndef TCPSCALER_SIM_SETUP_H
#define TCPSCALER_SIM_SETUP_H

#include "client/worker/config.h"
#include "host/memory_watch.h"
#include "scenario.h"

#include <stdint.h>

struct setup {
    struct client_config config;
    _Atomic uint64_t spare_tuple, fallback_tuple;
    struct memory_watch memory;
};

/* All but wake_fd and targets. */
void setup_make(struct setup *u, const struct scenario *s);
void setup_free(struct setup *u);

/* The main thread looks at the memory: as much is granted as the scenario has. */
void setup_look_at_memory(struct setup *u, const struct scenario *s);

#endif
