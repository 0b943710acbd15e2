/* SPDX-License-Identifier: MIT
 * tls_context: what all TLS connections of a program share: certificates, versions, ciphers, as the
 * options ask for them.  Made by the main thread, then read by any. */
#ifndef TCPSCALER_NET_TLS_CONTEXT_H
#define TCPSCALER_NET_TLS_CONTEXT_H

#include "net/tls_worker.h"

#include <stdbool.h>

#define TLS_ERROR_BYTES 200

/* In the order of the options' choices. */
enum tls_min { TLS_MIN_1_2, TLS_MIN_1_3 };

#define TLS_MINS "1.2|1.3"

struct tls_client_options {
    const char *name;    /* asked for by SNI and to be in the certificate; an address: in it only */
    const char *ca_file; /* PEM; NULL: the system's */
    const char *ciphers; /* names, ':' between them, of TLS 1.2 and TLS_... of 1.3; NULL: OpenSSL's.
                            A version none of whose ciphers is named is not offered. */
    const char *alpn;    /* protocol offered (RFC 7301); NULL: none */
    int min;             /* enum tls_min */
    bool insecure;       /* whatever certificate there is will do */
    bool resume;         /* with the latest ticket of the same struct tls_worker */
};

struct tls_server_options {
    const char *cert_file, *key_file; /* PEM; the chain behind the certificate */
    int min;                          /* enum tls_min */
};

/* NULL with one line in error (TLS_ERROR_BYTES): which option, its value, what is wrong. */
struct tls_context *tls_client_context(const struct tls_client_options *options, char *error);
struct tls_context *tls_server_context(const struct tls_server_options *options, char *error);
void tls_context_free(struct tls_context *context); /* after all that was made from it */

/* What does the work, as "OpenSSL 3.0.19 27 Jan 2026". */
const char *tls_library(void);

#endif
