/* SPDX-License-Identifier: MIT
 * ledger_answers: the part of ledger.h about received data, and the queries that it answers. */
#ifndef TCPSCALER_SIM_LEDGER_ANSWERS_H
#define TCPSCALER_SIM_LEDGER_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

void ledger_answers_begin(bool answers_have_ids, uint64_t query_timeout_ns);

#endif
