/* SPDX-License-Identifier: MIT
 * tls_context: see net/tls_context.h. */
#include "net/tls_context.h"

#include "base/inputs.h"

#include <ctype.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* of cipher names, in OpenSSL's spelling */
#define SEPARATORS ": ,;"

/* The latest error as text; for a file, errno's.  OpenSSL does not always note that it is out of
 * memory. */
static const char *error_text(void)
{
    const unsigned long code = ERR_peek_error();
    const char *text =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);

    ERR_clear_error();
    if (code == 0 || ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE)
        return "out of memory";
    return text != NULL ? text : "unknown error";
}

/* Refuses a key with a passphrase: there is nobody to ask for it. */
static int no_passphrase(char *buffer, int room, int writes, void *was_asked)
{
    (void)buffer;
    (void)room;
    (void)writes;
    if (was_asked != NULL)
        *(bool *)was_asked = true;
    return -1;
}

static struct tls_context *context_new(const SSL_METHOD *method, int min)
{
    struct tls_context *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->ctx = SSL_CTX_new(method);
    c->bio = tls_worker_bio_method();
    if (c->ctx == NULL || c->bio == NULL) {
        tls_context_free(c);
        return NULL;
    }
    SSL_CTX_set_min_proto_version(c->ctx, min == TLS_MIN_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
    SSL_CTX_set_options(c->ctx, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_read_ahead(c->ctx, 1);
    SSL_CTX_set_default_passwd_cb(c->ctx, no_passphrase);
    return c;
}

void tls_context_free(struct tls_context *context)
{
    if (context == NULL)
        return;
    SSL_CTX_free(context->ctx);
    BIO_meth_free(context->bio);
    free(context->server_name);
    free(context);
}

/* Returns the appended name. */
static const char *append(char *list, const char *name, size_t n)
{
    const size_t before = strlen(list);

    snprintf(list + before, n + 2, "%s%.*s", before > 0 ? ":" : "", (int)n, name);
    return list + before + (before > 0);
}

/* OpenSSL ignores unknown names in a list.  An item that does not begin like a name changes the
 * list, as "!aNULL" does (openssl-ciphers(1)). */
static bool is_known(SSL_CTX *ctx, const char *name, bool is_suite)
{
    if (!isalnum((unsigned char)name[0]))
        return true;
    return (is_suite ? SSL_CTX_set_ciphersuites(ctx, name) : SSL_CTX_set_cipher_list(ctx, name)) ==
           1;
}

/* Separates the cipher names of TLS 1.3, which begin with TLS_, from the others. */
static int set_parted(SSL_CTX *ctx, const char *ciphers, char *suites, char *others)
{
    for (const char *name = ciphers; *name != '\0';) {
        const size_t n = strcspn(name, SEPARATORS);
        const bool is_suite = strncmp(name, "TLS_", 4) == 0;

        if (!is_known(ctx, append(is_suite ? suites : others, name, n), is_suite))
            return -1;
        name += n + (name[n] != '\0');
    }
    if (*others == '\0' && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1)
        return -1;
    if (*suites == '\0' && (SSL_CTX_get_min_proto_version(ctx) == TLS1_3_VERSION ||
                            SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION) != 1))
        return -1;
    return (*suites == '\0' || SSL_CTX_set_ciphersuites(ctx, suites) == 1) &&
                   (*others == '\0' || SSL_CTX_set_cipher_list(ctx, others) == 1)
               ? 0
               : -1;
}

static int set_ciphers(SSL_CTX *ctx, const char *ciphers)
{
    const size_t room = strlen(ciphers) + 2;
    char *suites = calloc(1, room), *others = calloc(1, room);
    const int result =
        suites != NULL && others != NULL ? set_parted(ctx, ciphers, suites, others) : -1;

    free(suites);
    free(others);
    return result;
}

/* Returns whether it is an address.  The zone of "fe80::1%eth0" is in no certificate. */
static bool set_address(X509_VERIFY_PARAM *param, const char *name)
{
    const size_t n = strcspn(name, "%");
    char address[INET6_ADDRSTRLEN];

    if (n >= sizeof address)
        return false;
    memcpy(address, name, n);
    address[n] = '\0';
    if (X509_VERIFY_PARAM_set1_ip_asc(param, address) == 1)
        return true;
    ERR_clear_error();
    return false;
}

/* OpenSSL would take a name that begins with a dot for any name below it. */
static bool is_name(const char *name, size_t n)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    return n > 0 && n <= TLSEXT_MAXLEN_host_name && name[0] != '.' && name[n - 1] != '.' &&
           strspn(name, known) >= n;
}

/* SNI allows neither addresses nor a dot at the end (RFC 6066, 3); certificates have no such dot,
 * either.  With an empty name, OpenSSL would accept any certificate. */
static int set_name(struct tls_context *c, const char *name)
{
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(c->ctx);
    size_t n = strlen(name);

    if (set_address(param, name))
        return 0;
    if (n > 0 && name[n - 1] == '.')
        n--;
    if (!is_name(name, n))
        return -1;
    c->server_name = strndup(name, n);
    return c->server_name != NULL && X509_VERIFY_PARAM_set1_host(param, name, n) == 1 ? 0 : -1;
}

/* Makes OpenSSL compute now, not in the workers, what it caches at a certificate's first use. */
static void look_at_authorities(SSL_CTX *ctx)
{
    const STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));

    for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
        X509 *x = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));

        if (x != NULL)
            X509_check_purpose(x, -1, 0);
    }
    ERR_clear_error();
}

static int set_alpn(SSL_CTX *ctx, const char *protocol)
{
    uint8_t list[256];
    const size_t n = strlen(protocol);

    list[0] = (uint8_t)n;
    memcpy(list + 1, protocol, n);
    return SSL_CTX_set_alpn_protos(ctx, list, (unsigned)n + 1); /* returns 0 on success */
}

static int configure_client(struct tls_context *c, const struct tls_client_options *o, char *error)
{
    SSL_CTX *ctx = c->ctx;

    if (o->ciphers != NULL && set_ciphers(ctx, o->ciphers) != 0) {
        ERR_clear_error();
        snprintf(error, TLS_ERROR_BYTES,
                 "--tls-ciphers: invalid value '%.80s': expected OpenSSL names of ciphers "
                 "for --tls-min or later versions, separated by ':'",
                 o->ciphers);
        return -1;
    }
    if (o->ca_file != NULL)
        inputs_add(o->ca_file);
    SSL_CTX_set_verify(ctx, o->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    if (o->ca_file != NULL ? SSL_CTX_load_verify_locations(ctx, o->ca_file, NULL) != 1
                           : SSL_CTX_set_default_verify_paths(ctx) != 1) {
        snprintf(error, TLS_ERROR_BYTES, "--tls-ca: cannot read '%.80s': %.80s",
                 o->ca_file != NULL ? o->ca_file : "the system's", error_text());
        return -1;
    }
    look_at_authorities(ctx);
    if (o->alpn != NULL && set_alpn(ctx, o->alpn) != 0) {
        snprintf(error, TLS_ERROR_BYTES, "--tls: %.80s", error_text());
        return -1;
    }
    if (set_name(c, o->name) != 0) {
        ERR_clear_error();
        snprintf(error, TLS_ERROR_BYTES,
                 "--tls-name: invalid value '%.80s': expected an address, or a name of 1 to %d "
                 "letters, digits, '-', '_' and '.'",
                 o->name, TLSEXT_MAXLEN_host_name);
        return -1;
    }
    SSL_CTX_set_session_cache_mode(
        ctx, o->resume ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    if (o->resume)
        SSL_CTX_sess_set_new_cb(ctx, tls_worker_keep_ticket);
    else
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    return 0;
}

struct tls_context *tls_client_context(const struct tls_client_options *options, char *error)
{
    struct tls_context *c = context_new(TLS_client_method(), options->min);

    if (c == NULL) {
        snprintf(error, TLS_ERROR_BYTES, "--tls: %.80s", error_text());
        return NULL;
    }
    c->is_client = true;
    if (configure_client(c, options, error) == 0)
        return c;
    tls_context_free(c);
    return NULL;
}

static bool is_error(int library, int reason)
{
    const unsigned long code = ERR_peek_error();

    return ERR_GET_LIB(code) == library && ERR_GET_REASON(code) == reason;
}

/* The following two functions return NULL, or what is wrong.  They describe the likely mistakes in
 * plain words: OpenSSL calls them "no start line", "unsupported" or "interrupted". */
static const char *use_certificate(SSL_CTX *ctx, const char *file)
{
    const bool is_used = SSL_CTX_use_certificate_chain_file(ctx, file) == 1;
    const bool has_none = !is_used && is_error(ERR_LIB_PEM, PEM_R_NO_START_LINE);
    const char *other = is_used ? NULL : error_text();

    return has_none ? "it has no certificate in PEM format" : other;
}

static const char *use_key(SSL_CTX *ctx, const char *file)
{
    bool has_passphrase = false, is_used, has_none, is_another;
    const char *other;

    SSL_CTX_set_default_passwd_cb_userdata(ctx, &has_passphrase);
    is_used = SSL_CTX_use_PrivateKey_file(ctx, file, SSL_FILETYPE_PEM) == 1;
    SSL_CTX_set_default_passwd_cb_userdata(ctx, NULL);
    if (is_used && SSL_CTX_check_private_key(ctx) == 1)
        return NULL;
    has_none = is_error(ERR_LIB_OSSL_DECODER, ERR_R_UNSUPPORTED);
    is_another = is_used || is_error(ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH);
    other = error_text();
    return has_passphrase ? "it has a passphrase"
           : has_none     ? "it has no private key in PEM format"
           : is_another   ? "it is not the key of the certificate"
                          : other;
}

static int configure_server(SSL_CTX *ctx, const struct tls_server_options *o, char *error)
{
    const char *option = "--tls-cert", *file = o->cert_file, *problem;

    inputs_add(o->cert_file);
    inputs_add(o->key_file);
    problem = use_certificate(ctx, o->cert_file);
    if (problem == NULL) {
        option = "--tls-key";
        file = o->key_file;
        problem = use_key(ctx, o->key_file);
    }
    if (problem == NULL)
        return 0;
    snprintf(error, TLS_ERROR_BYTES, "%s: cannot use '%.80s': %.80s", option, file, problem);
    return -1;
}

/* A ticket contains the session itself: the server keeps nothing for clients that may never return.
 */
struct tls_context *tls_server_context(const struct tls_server_options *options, char *error)
{
    struct tls_context *c = context_new(TLS_server_method(), options->min);

    if (c == NULL) {
        snprintf(error, TLS_ERROR_BYTES, "--tls-cert: %.80s", error_text());
        return NULL;
    }
    SSL_CTX_set_session_cache_mode(c->ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(c->ctx, 1);
    if (configure_server(c->ctx, options, error) == 0)
        return c;
    tls_context_free(c);
    return NULL;
}

const char *tls_library(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}
