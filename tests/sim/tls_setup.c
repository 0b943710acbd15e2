/* SPDX-License-Identifier: MIT
 * tls_setup: see tls_setup.h. */
#define OPENSSL_SUPPRESS_DEPRECATED /* RAND_METHOD: a provider would be as long as this file */

#include "tls_setup.h"

#include "../unit/certificate.h"
#include "base/rng.h"
#include "net/tls_context.h"
#include "peer_tls.h"
#include "violation.h"
#include "world.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* A random stream of the seed; the world uses stream 1. */
enum { NUMBERS = 3 };

static struct rng numbers;
static struct tls_context *of_client[2], *of_server;
static SSL_CTX *other_client, *other_server;

/* --- random numbers --- */

static int on_bytes(unsigned char *out, int n)
{
    while (n > 0) {
        const uint64_t value = rng_next(&numbers);
        const int step = n < 8 ? n : 8;

        memcpy(out, &value, (size_t)step);
        out += step;
        n -= step;
    }
    return 1;
}

static int on_status(void)
{
    return 1;
}

static const RAND_METHOD method = {.bytes = on_bytes, .pseudorand = on_bytes, .status = on_status};

void tls_setup_begin(void)
{
    rng_seed(&numbers, world.scenario.seed, NUMBERS);
}

/* --- certificate --- */

/* Certificate and key in a file without a name.  Returns a path to it. */
static const char *write_file(X509 *x, EVP_PKEY *key)
{
    static char path[64];
    const int fd = memfd_create("certificate", MFD_CLOEXEC);
    FILE *out = fdopen(fd, "w");

    LAW(out != NULL && PEM_write_X509(out, x) == 1 &&
            PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) == 1 && fflush(out) == 0,
        "no file for the certificate");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path; /* the file stays open */
}

/* --- contexts --- */

static void make_contexts(const char *file)
{
    const struct tls_server_options server = {.cert_file = file, .key_file = file};
    struct tls_client_options client = {.name = "localhost", .ca_file = file};
    char error[TLS_ERROR_BYTES] = "";

    for (int resume = 0; resume < 2; resume++) {
        client.resume = resume;
        of_client[resume] = tls_client_context(&client, error);
        LAW(of_client[resume] != NULL, "%s", error);
    }
    of_server = tls_server_context(&server, error);
    LAW(of_server != NULL, "%s", error);
}

static void make_other_contexts(X509 *x, EVP_PKEY *key)
{
    other_server = SSL_CTX_new(TLS_server_method());
    other_client = SSL_CTX_new(TLS_client_method());
    LAW(other_server != NULL && other_client != NULL &&
            SSL_CTX_use_certificate(other_server, x) == 1 &&
            SSL_CTX_use_PrivateKey(other_server, key) == 1,
        "no context");
    SSL_CTX_set_session_cache_mode(other_server, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_cache_mode(other_client,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(other_client, peer_tls_keep_ticket);
}

void tls_setup_prepare(void)
{
    EVP_PKEY *key;
    X509 *x;

    LAW(RAND_set_rand_method(&method) == 1, "random numbers");
    tls_setup_begin();
    key = EVP_EC_gen("P-256");
    LAW(key != NULL, "no key");
    x = certificate_of(key, "simulated");
    LAW(x != NULL, "no certificate");
    make_contexts(write_file(x, key));
    make_other_contexts(x, key);
    X509_free(x);
    EVP_PKEY_free(key);
}

struct tls_context *tls_setup_client(bool resume)
{
    return of_client[resume];
}

struct tls_context *tls_setup_server(void)
{
    return of_server;
}

SSL_CTX *tls_setup_other(bool is_server)
{
    return is_server ? other_server : other_client;
}
