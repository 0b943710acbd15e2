/* SPDX-License-Identifier: MIT
 * tls_claims: intercepts the product's calls of net/tls (the linker's --wrap). */
#ifndef TCPSCALER_SIM_TLS_CLAIMS_H
#define TCPSCALER_SIM_TLS_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

void tls_claims_begin(void);

/* Whether a connection of the running fiber to the same port as i has received a session ticket. */
bool tls_claims_has_ticket(uint32_t i);

/* The connection from which it has received something. */
struct tls;
uint32_t tls_claims_of(const struct tls *t);

struct tls_claims {
    int64_t n_live;                    /* not yet freed */
    uint64_t n_established, n_resumed; /* handshakes; the other end knows which are resumed */
};

extern struct tls_claims tls_claims;

#endif
