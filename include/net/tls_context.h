/* SPDX-License-Identifier: MIT
 * tls_context: settings shared by all TLS connections of a program: certificates, versions,
 * ciphers.  Created by the main thread, then read by any thread. */
#ifndef TCPSCALER_NET_TLS_CONTEXT_H
#define TCPSCALER_NET_TLS_CONTEXT_H

#include "net/tls_worker.h"

#include <stdbool.h>

#define TLS_ERROR_BYTES 200

/* In the order of the options' choices. */
enum tls_min { TLS_MIN_1_2, TLS_MIN_1_3 };

#define TLS_MINS "1.2|1.3"

struct tls_client_options {
    /* Name for SNI and verification: letters, digits, '-', '_' and '.', without the dot that may be
     * at its end; an address is only verified, without its zone. */
    const char *name;
    const char *ca_file; /* PEM; NULL: the system's CAs */
    /* Cipher names separated by ':', TLS_... for TLS 1.3, others for 1.2; NULL: OpenSSL's defaults.
     * A version without a named cipher is not offered. */
    const char *ciphers;
    const char *alpn; /* protocol offered (RFC 7301), 1 to 255 bytes; NULL: none */
    int min;          /* enum tls_min */
    bool insecure;    /* do not verify the certificate */
    bool resume;      /* resume with the latest ticket of the struct tls_worker */
};

struct tls_server_options {
    const char *cert_file, *key_file; /* PEM; the chain follows the certificate */
    int min;                          /* enum tls_min */
};

/* Both return NULL with one line in error (TLS_ERROR_BYTES): option, value, problem. */
struct tls_context *tls_client_context(const struct tls_client_options *options, char *error);
struct tls_context *tls_server_context(const struct tls_server_options *options, char *error);
/* Call it after everything created from it is freed. */
void tls_context_free(struct tls_context *context);

/* Returns the library's version, "OpenSSL 3.0.19 27 Jan 2026". */
const char *tls_library(void);

#endif
