/* SPDX-License-Identifier: MIT
 * client_plan_target: the server that a run connects to: its address, and TLS.  Main thread. */
#ifndef TCPSCALER_CLIENT_PLAN_TARGET_H
#define TCPSCALER_CLIENT_PLAN_TARGET_H

#include "client/opts.h"
#include "client/worker/config.h"
#include "net/sock_address.h"

/* Resolves HOST to config->target, of the family of config->plan, and formats it into `text`.
 * Returns 0; or -1 after one line on stderr, also if this host has no address to reach it from. */
int client_plan_target(struct client_config *config, char text[SOCK_TEXT_BYTES],
                       const struct client_opts *o);

/* Creates config->tls if any connection uses TLS; requires config->query.  Free it with
 * tls_context_free().  Returns 0, or -1 after one line on stderr. */
int client_plan_tls(struct client_config *config, const struct client_opts *o);

#endif
