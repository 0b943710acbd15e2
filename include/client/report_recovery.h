/* SPDX-License-Identifier: MIT
 * report_recovery: the part of the reports about lost connections that come back. */
#ifndef TCPSCALER_CLIENT_REPORT_RECOVERY_H
#define TCPSCALER_CLIENT_REPORT_RECOVERY_H

#include "base/json.h"
#include "client/result.h"

#include <stdio.h>

/* Prints nothing if no usable connection was lost that had to be replaced. */
void report_recovery_text(FILE *out, const struct client_result *r);

/* Prints the key "recovery"; null in the same case, and during the run. */
void report_recovery_json(struct json *j, const struct client_result *r);

#endif
