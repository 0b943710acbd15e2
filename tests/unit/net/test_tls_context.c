/* SPDX-License-Identifier: MIT
 * test_tls_context: what contexts are set to; options that cannot be met, and keys that do not
 * serve; OpenSSL out of memory.
 * Linked with --wrap=SSL_CTX_new and
 * --wrap=SSL_CTX_set_alpn_protos. */
#include "net/tls_context.h"

#include "base/inputs.h"
#include "certificate_steps.h"

#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <string.h>

static bool fails_at_context, fails_at_alpn; /* for lack of memory */
static unsigned char alpn[8];

SSL_CTX *__real_SSL_CTX_new(const SSL_METHOD *method);
SSL_CTX *__wrap_SSL_CTX_new(const SSL_METHOD *method);
int __wrap_SSL_CTX_set_alpn_protos(SSL_CTX *ctx, const unsigned char *list, unsigned n_bytes);

SSL_CTX *__wrap_SSL_CTX_new(const SSL_METHOD *method)
{
    return fails_at_context ? NULL : __real_SSL_CTX_new(method);
}

int __wrap_SSL_CTX_set_alpn_protos(SSL_CTX *ctx, const unsigned char *list, unsigned n_bytes)
{
    (void)ctx;
    assert_true(n_bytes < sizeof alpn);
    memcpy(alpn, list, n_bytes);
    return fails_at_alpn;
}

static void lack_of_memory_is_not_blamed_on_an_option(void **state)
{
    static const struct tls_client_options options = {
        .name = "a", .ca_file = cert_file, .alpn = "dot"};
    static const struct tls_server_options of_server = {cert_file, key_file, TLS_MIN_1_2};
    char error[TLS_ERROR_BYTES];

    (void)state;
    fails_at_context = true;
    assert_null(tls_client_context(&options, error));
    assert_string_equal(error, "--tls: out of memory");
    assert_null(tls_server_context(&of_server, error));
    assert_string_equal(error, "--tls-cert: out of memory");
    fails_at_context = false;
    fails_at_alpn = true;
    assert_null(tls_client_context(&options, error));
    assert_string_equal(error, "--tls: out of memory");
    fails_at_alpn = false;
}

static void outputs_must_not_overwrite_certificates_and_keys(void **state)
{
    static const struct tls_client_options options = {.name = "a", .ca_file = "/proc/self/exe"};
    static const struct tls_server_options of_server = {cert_file, key_file, TLS_MIN_1_2};
    char error[TLS_ERROR_BYTES];

    (void)state;
    assert_false(inputs_have_file(cert_file));
    assert_false(inputs_have_file(key_file));
    tls_context_free(tls_server_context(&of_server, error));
    assert_true(inputs_have_file(cert_file));
    assert_true(inputs_have_file(key_file));
    assert_false(inputs_have_file(options.ca_file));
    assert_null(tls_client_context(&options, error)); /* even if it has no certificate */
    assert_true(inputs_have_file(options.ca_file));
}

static void contexts_of_clients_are_set_to_their_options(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const bool is_1_3 = i & 1, insecure = i & 2, resumes = i & 4;
        const struct tls_client_options options = {.name = "a",
                                                   .ca_file = cert_file,
                                                   .alpn = insecure ? "dot" : NULL,
                                                   .min = is_1_3 ? TLS_MIN_1_3 : TLS_MIN_1_2,
                                                   .insecure = insecure,
                                                   .resume = resumes};
        char error[TLS_ERROR_BYTES];
        struct tls_context *c;

        memset(alpn, 0, sizeof alpn);
        c = tls_client_context(&options, error);
        if (c == NULL)
            fail_msg("%s", error);
        assert_true(c->is_client);
        assert_int_equal(SSL_CTX_get_min_proto_version(c->ctx),
                         is_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
        assert_int_equal(SSL_CTX_get_verify_mode(c->ctx),
                         insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER);
        assert_int_equal(SSL_CTX_get_session_cache_mode(c->ctx),
                         resumes ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
                                 : SSL_SESS_CACHE_OFF);
        assert_int_equal((SSL_CTX_get_options(c->ctx) & SSL_OP_NO_TICKET) == 0, resumes);
        assert_string_equal((const char *)alpn, insecure ? "\3dot" : "");
        tls_context_free(c);
    }
}

static void a_server_sends_one_ticket_and_keeps_no_session(void **state)
{
    (void)state;
    for (int min = TLS_MIN_1_2; min <= TLS_MIN_1_3; min++) {
        const struct tls_server_options options = {cert_file, key_file, min};
        char error[TLS_ERROR_BYTES];
        struct tls_context *c = tls_server_context(&options, error);

        if (c == NULL)
            fail_msg("%s", error);
        assert_false(c->is_client);
        assert_int_equal(SSL_CTX_get_min_proto_version(c->ctx),
                         min == TLS_MIN_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
        assert_int_equal(SSL_CTX_get_num_tickets(c->ctx), 1);
        assert_int_equal(SSL_CTX_get_session_cache_mode(c->ctx), SSL_SESS_CACHE_OFF);
        assert_true(SSL_CTX_get_options(c->ctx) & SSL_OP_NO_RENEGOTIATION);
        assert_true(SSL_CTX_get_read_ahead(c->ctx)); /* a call for a record, not two */
        tls_context_free(c);
    }
}

static void options_that_cannot_be_met_are_named(void **state)
{
    static char too_long[257];
    static const struct {
        struct tls_client_options options;
        const char *named;
    } bad[] = {
        {{.name = "a", .ciphers = "nonsense"}, "--tls-ciphers: invalid value 'nonsense'"},
        {{.name = "a", .ciphers = "TLS_NONSENSE"}, "'TLS_NONSENSE'"},
        {{.name = "a", .ciphers = "AES128-SHA256:AES128-SHA265"}, "'AES128-SHA256:AES128-SHA265'"},
        {{.name = "a", .ciphers = "TLS_AES_128_GCM_SHA256:TLS_NONE"}, "SHA256:TLS_NONE'"},
        {{.name = "a", .ciphers = ":"}, "--tls-ciphers"},
        {{.name = "a", .ciphers = "AES128-SHA256", .min = TLS_MIN_1_3}, "--tls-ciphers"},
        {{.name = "a", .ca_file = "/nonexistent"}, "--tls-ca: cannot read '/nonexistent': No such"},
        {{.name = "a", .ca_file = key_file}, "--tls-ca"},
        {{.name = "", .ca_file = cert_file}, "--tls-name: invalid value ''"},
        {{.name = ".", .ca_file = cert_file}, "--tls-name: invalid value '.'"},
        {{.name = ".a", .ca_file = cert_file}, "--tls-name: invalid value '.a'"},
        {{.name = "a..", .ca_file = cert_file}, "--tls-name: invalid value 'a..'"},
        {{.name = "[::1]", .ca_file = cert_file}, "--tls-name: invalid value '[::1]'"},
        {{.name = "b\u00fccher", .ca_file = cert_file}, "--tls-name: invalid value 'b\u00fccher'"},
        {{.name = too_long, .ca_file = cert_file}, "--tls-name: invalid value 'aaaa"},
    };
    static const struct tls_server_options no_cert = {"/nonexistent", key_file, 0};
    static const struct tls_server_options no_key = {cert_file, "/nonexistent", 0};
    static const struct tls_server_options swapped = {key_file, cert_file, 0};
    char error[TLS_ERROR_BYTES];

    (void)state;
    memset(too_long, 'a', sizeof too_long - 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(tls_client_context(&bad[i].options, error));
        if (strstr(error, bad[i].named) == NULL)
            fail_msg("'%s' is not named in: %s", bad[i].named, error);
    }
    assert_null(tls_server_context(&no_cert, error));
    assert_non_null(strstr(error, "--tls-cert: cannot use '/nonexistent': No such file"));
    assert_null(tls_server_context(&no_key, error));
    assert_non_null(strstr(error, "--tls-key: cannot use '/nonexistent': No such file"));
    assert_null(tls_server_context(&swapped, error));
    assert_non_null(strstr(error, "--tls-cert: cannot use"));
    assert_non_null(strstr(error, "': it has no certificate in PEM format"));
}

/* 45 bytes: the longest address; 255: the longest name (RFC 1035, 2.3.4). */
static void names_of_any_length_are_sent(void **state)
{
    static const size_t lengths[] = {1, 44, 45, 46, 47, 254, 255};
    char name[256], error[TLS_ERROR_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const struct tls_client_options options = {.name = name, .ca_file = cert_file};
        struct tls_context *c;

        memset(name, 'a', lengths[i]);
        name[lengths[i]] = '\0';
        c = tls_client_context(&options, error);
        if (c == NULL)
            fail_msg("%s", error);
        assert_string_equal(c->server_name, name);
        tls_context_free(c);
    }
}

/* Those of TLS 1.3 come first. */
static void only_the_ciphers_of_the_list_are_offered(void **state)
{
    static const char *const suites[] = {"TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"};
    static const char *const others[] = {"AES256-SHA256", "AES128-SHA256"};
    static const struct tls_client_options options = {
        .name = "a",
        .ca_file = cert_file,
        .ciphers = "AES256-SHA256:TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:AES128-SHA256"};
    char error[TLS_ERROR_BYTES];
    struct tls_context *c = tls_client_context(&options, error);
    const STACK_OF(SSL_CIPHER) * offered;

    (void)state;
    if (c == NULL)
        fail_msg("%s", error);
    offered = SSL_CTX_get_ciphers(c->ctx);
    assert_int_equal(sk_SSL_CIPHER_num(offered), 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(SSL_CIPHER_get_name(sk_SSL_CIPHER_value(offered, i)),
                            i < 2 ? suites[i] : others[i - 2]);
    tls_context_free(c);
}

static void lists_of_ciphers_are_those_of_openssl(void **state)
{
    static const char *const lists[] = {
        "AES128-SHA256:TLS_AES_128_GCM_SHA256", "AES128-SHA256,TLS_AES_128_GCM_SHA256",
        "TLS_AES_128_GCM_SHA256::AES128-SHA256:", "HIGH:!aNULL:@STRENGTH"};
    char error[TLS_ERROR_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct tls_client_options options = {
            .name = "a", .ca_file = cert_file, .ciphers = lists[i]};
        struct tls_context *c = tls_client_context(&options, error);

        if (c == NULL)
            fail_msg("%s", error);
        assert_int_equal(SSL_CTX_get_max_proto_version(c->ctx), i < 3 ? 0 : TLS1_2_VERSION);
        tls_context_free(c);
    }
}

/* Writes a key to a file.  Returns what tls_server_context() says of it, after its name. */
static const char *said_of_key(EVP_PKEY *key, const char *passphrase)
{
    static char error[TLS_ERROR_BYTES];
    char name[] = "/tmp/tcpscaler-test-key-XXXXXX";
    const struct tls_server_options options = {cert_file, name, TLS_MIN_1_2};
    FILE *out = open_new(name);

    if (key != NULL)
        assert_int_equal(PEM_write_PrivateKey(out, key,
                                              passphrase != NULL ? EVP_aes_128_cbc() : NULL, NULL,
                                              0, NULL, (void *)passphrase),
                         1);
    fclose(out);
    assert_null(tls_server_context(&options, error));
    unlink(name);
    EVP_PKEY_free(key);
    assert_ptr_equal(strstr(error, "--tls-key: cannot use '/tmp/"), error);
    return strrchr(error, ':') + 2;
}

static void unusable_keys_are_refused_with_the_reason(void **state)
{
    (void)state;
    assert_string_equal(said_of_key(EVP_EC_gen("P-256"), NULL),
                        "it is not the key of the certificate");
    assert_string_equal(said_of_key(EVP_RSA_gen(2048), NULL),
                        "it is not the key of the certificate");
    assert_string_equal(said_of_key(EVP_EC_gen("P-256"), "secret"), "it has a passphrase");
    assert_string_equal(said_of_key(NULL, NULL), "it has no private key in PEM format");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_must_not_overwrite_certificates_and_keys),
        cmocka_unit_test(contexts_of_clients_are_set_to_their_options),
        cmocka_unit_test(a_server_sends_one_ticket_and_keeps_no_session),
        cmocka_unit_test(options_that_cannot_be_met_are_named),
        cmocka_unit_test(names_of_any_length_are_sent),
        cmocka_unit_test(only_the_ciphers_of_the_list_are_offered),
        cmocka_unit_test(lists_of_ciphers_are_those_of_openssl),
        cmocka_unit_test(unusable_keys_are_refused_with_the_reason),
        cmocka_unit_test(lack_of_memory_is_not_blamed_on_an_option),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
