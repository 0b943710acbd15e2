/* SPDX-License-Identifier: MIT
 * certificate_steps: files with a certificate and its key. */
#ifndef TCPSCALER_TESTS_UNIT_NET_CERTIFICATE_STEPS_H
#define TCPSCALER_TESTS_UNIT_NET_CERTIFICATE_STEPS_H

#include "certificate.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char cert_file[] = "/tmp/tcpscaler-test-cert-XXXXXX";
static char key_file[] = "/tmp/tcpscaler-test-key-XXXXXX";

static inline FILE *open_new(char *name)
{
    FILE *out = fdopen(mkstemp(name), "w");

    assert_non_null(out);
    return out;
}

static inline int make_files(void **state)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = certificate_of(key, "test");
    FILE *cert_out = open_new(cert_file), *key_out = open_new(key_file);

    (void)state;
    assert_int_equal(PEM_write_X509(cert_out, x), 1);
    assert_int_equal(PEM_write_PrivateKey(key_out, key, NULL, NULL, 0, NULL, NULL), 1);
    X509_free(x);
    EVP_PKEY_free(key);
    return fclose(cert_out) + fclose(key_out);
}

static inline int remove_files(void **state)
{
    (void)state;
    return unlink(cert_file) + unlink(key_file);
}

#endif
