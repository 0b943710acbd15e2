/* SPDX-License-Identifier: MIT
 * ledger_tls: checks what tcpclient reports about its TLS handshakes. */
#ifndef TCPSCALER_SIM_LEDGER_TLS_H
#define TCPSCALER_SIM_LEDGER_TLS_H

#include "client/worker/class.h"
#include "measure/outcome.h"

#include <stdint.h>

void ledger_tls_begin(uint64_t timeout_ns);

/* The handshake of connection i begins; it is complete, after that time; the connection ends. */
void ledger_tls_on_begin(uint32_t i);
void ledger_tls_on_secured(uint32_t i, uint64_t handshake_ns);
void ledger_tls_on_close(uint32_t i, struct outcome outcome);

struct ledger_tls_sums {
    uint64_t n_secured, n_resumed, min_ns, max_ns;
    uint64_t n_secured_of[CLIENT_CLASS_MOST]; /* of each class of clients */
};

extern struct ledger_tls_sums ledger_tls_sums;

#endif
