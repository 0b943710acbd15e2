/* SPDX-License-Identifier: MIT
 * tls_setup: what TLS connections of simulated runs share: a certificate, the contexts of both
 * ends, and OpenSSL's random numbers, which depend on the scenario alone. */
#ifndef TCPSCALER_SIM_TLS_SETUP_H
#define TCPSCALER_SIM_TLS_SETUP_H

#include <stdbool.h>

struct ssl_ctx_st;
struct tls_context;

/* Once, before the first run; takes some milliseconds. */
void tls_setup_prepare(void);

/* A run begins: the random numbers of its scenario. */
void tls_setup_begin(void);

/* Contexts of the product.  They live as long as the process. */
struct tls_context *tls_setup_client(bool resume);
struct tls_context *tls_setup_server(void);

/* Contexts of the other end. */
struct ssl_ctx_st *tls_setup_other(bool is_server);

#endif
