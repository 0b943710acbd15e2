/* SPDX-License-Identifier: MIT
 * client_diagnose: diagnoses why connections or answers are missing.  Makes no system calls. */
#ifndef TCPSCALER_CLIENT_DIAGNOSE_H
#define TCPSCALER_CLIENT_DIAGNOSE_H

#include "client/plan.h"
#include "client/result.h"

#include <stdbool.h>

/* Fills in the diagnosis of a result that is otherwise complete if connections or answers are
 * missing.  threads_are_auto: not given (--threads). */
void client_diagnose(struct client_result *r, const struct client_plan *plan,
                     bool threads_are_auto);

#endif
