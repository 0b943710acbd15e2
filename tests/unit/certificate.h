/* SPDX-License-Identifier: MIT
 * certificate: a certificate for tests of TLS. */
#ifndef TCPSCALER_TESTS_UNIT_CERTIFICATE_H
#define TCPSCALER_TESTS_UNIT_CERTIFICATE_H

#include <openssl/x509v3.h>

/* Self-signed with this key, for localhost, of this century; `name` is its common name.  Returns
 * NULL if OpenSSL fails.  Free it with X509_free(). */
static inline X509 *certificate_of(EVP_PKEY *key, const char *name)
{
    X509 *x = X509_new();
    X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "DNS:localhost");

    if (x == NULL || names == NULL)
        return NULL;
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    ASN1_TIME_set_string(X509_getm_notBefore(x), "20200101000000Z");
    ASN1_TIME_set_string(X509_getm_notAfter(x), "20991231235959Z");
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    X509_set_pubkey(x, key);
    X509_add_ext(x, names, -1);
    X509_EXTENSION_free(names);
    return X509_sign(x, key, EVP_sha256()) > 0 ? x : NULL;
}

#endif
