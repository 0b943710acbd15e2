/* SPDX-License-Identifier: MIT
 * test_tls: a client and a server in memory: bytes in arbitrary pieces, resumption, errors.
 * --wrap=realloc */
#include "net/tls.h"

#include "certificate_steps.h"
#include "net/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BYTES = 1 << 18 };

static const struct tls_client_options usual = {
    .name = "localhost", .ca_file = cert_file, .resume = true};

/* One side. */
struct end {
    struct tls_context *context;
    struct tls_worker worker;
    struct tls *tls;
    size_t n_plain; /* received by it: */
    uint8_t plain[MOST_BYTES];
};

static struct end client, server;

static void open_contexts(const struct tls_client_options *options)
{
    const struct tls_server_options of_server = {cert_file, key_file, TLS_MIN_1_2};
    char error[TLS_ERROR_BYTES] = "";

    memset(&client, 0, sizeof client);
    memset(&server, 0, sizeof server);
    client.context = tls_client_context(options, error);
    server.context = tls_server_context(&of_server, error);
    if (client.context == NULL || server.context == NULL)
        fail_msg("%s", error);
    tls_worker_init(&client.worker, client.context);
    tls_worker_init(&server.worker, server.context);
}

static bool is_out_of_memory;

/* Called by net/tls_worker. */
void *__wrap_realloc(void *old, size_t n_bytes);
void *__real_realloc(void *old, size_t n_bytes);

void *__wrap_realloc(void *old, size_t n_bytes)
{
    return is_out_of_memory ? NULL : __real_realloc(old, n_bytes);
}

static void close_contexts(void)
{
    tls_worker_free(&client.worker);
    tls_worker_free(&server.worker);
    tls_context_free(client.context);
    tls_context_free(server.context);
}

/* Passes on what `from` has to send to `to`, in pieces of this many bytes. */
static enum tls_status carry(struct end *from, struct end *to, size_t piece)
{
    const size_t n_bytes = from->worker.n_out;
    uint8_t *bytes = malloc(n_bytes + 1);
    enum tls_status status = TLS_OK;

    assert_non_null(bytes);
    memcpy(bytes, from->worker.out, n_bytes);
    from->worker.n_out = 0;
    for (size_t at = 0; at < n_bytes && status == TLS_OK; at += piece) {
        const size_t n = n_bytes - at < piece ? n_bytes - at : piece;
        size_t n_plain;

        assert_true(to->n_plain + n + TLS_RECORD_BYTES <= MOST_BYTES);
        status = tls_receive(to->tls, bytes + at, n, to->plain + to->n_plain, &n_plain);
        to->n_plain += n_plain;
    }
    free(bytes);
    return status;
}

/* Returns the first status other than TLS_OK, the client's before the server's. */
static enum tls_status shake_hands(size_t piece)
{
    enum tls_status status;

    client.tls = tls_new(&client.worker);
    server.tls = tls_new(&server.worker);
    assert_non_null(client.tls);
    assert_non_null(server.tls);
    assert_int_equal(tls_start(client.tls), TLS_OK);
    do {
        status = carry(&client, &server, piece);
        if (status == TLS_OK)
            status = carry(&server, &client, piece);
    } while (status == TLS_OK && client.worker.n_out > 0);
    return status;
}

static void free_ends(void)
{
    tls_free(client.tls);
    tls_free(server.tls);
}

static void connect_ends(void)
{
    assert_int_equal(shake_hands(SIZE_MAX / 2), TLS_OK);
    assert_true(tls_is_established(client.tls));
    assert_true(tls_is_established(server.tls));
}

static void bytes_come_out_as_they_went_in_whatever_the_pieces(void **state)
{
    static const size_t pieces[] = {1, 7, 1000, 16384, 65536};
    static uint8_t sent[100000];

    (void)state;
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        open_contexts(&usual);
        assert_int_equal(shake_hands(pieces[i]), TLS_OK);
        assert_int_equal(tls_send(client.tls, sent, sizeof sent), TLS_OK);
        assert_int_equal(tls_send(client.tls, sent, 1), TLS_OK);
        assert_int_equal(carry(&client, &server, pieces[i]), TLS_OK);
        assert_int_equal(server.n_plain, sizeof sent + 1);
        assert_memory_equal(server.plain, sent, sizeof sent);
        assert_int_equal(server.plain[sizeof sent], sent[0]);
        free_ends();
        close_contexts();
    }
}

static void bytes_right_after_the_handshake_are_not_lost(void **state)
{
    (void)state;
    open_contexts(&usual);
    client.tls = tls_new(&client.worker);
    server.tls = tls_new(&server.worker);
    assert_int_equal(tls_start(client.tls), TLS_OK);
    assert_int_equal(carry(&client, &server, 4096), TLS_OK);
    assert_int_equal(carry(&server, &client, 4096), TLS_OK);
    assert_true(tls_is_established(client.tls));
    assert_false(tls_is_established(server.tls));
    assert_int_equal(tls_send(client.tls, (const uint8_t *)"hello", 5), TLS_OK);
    assert_int_equal(carry(&client, &server, 65536), TLS_OK);
    assert_int_equal(server.n_plain, 5);
    assert_memory_equal(server.plain, "hello", 5);
    free_ends();
    close_contexts();
}

static void second_connection_of_a_worker_resumes_if_it_may(void **state)
{
    static const char *const ciphers[] = {"TLS_AES_128_GCM_SHA256",
                                          "ECDHE-ECDSA-AES128-GCM-SHA256"};
    static const char *const versions[] = {"TLSv1.3", "TLSv1.2"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct tls_client_options options = usual;

        options.ciphers = ciphers[i % 2];
        options.resume = i < 2;
        open_contexts(&options);
        for (int connection = 0; connection < 3; connection++) {
            connect_ends();
            assert_string_equal(tls_cipher(client.tls), ciphers[i % 2]);
            assert_string_equal(tls_version(client.tls), versions[i % 2]);
            assert_int_equal(tls_is_resumed(client.tls), i < 2 && connection > 0);
            assert_int_equal(tls_is_resumed(server.tls), i < 2 && connection > 0);
            free_ends();
        }
        close_contexts();
    }
}

static void end_of_the_peer_comes_after_its_bytes(void **state)
{
    (void)state;
    open_contexts(&usual);
    connect_ends();
    assert_int_equal(tls_send(server.tls, (const uint8_t *)"last", 4), TLS_OK);
    assert_false(tls_is_ended_by_peer(client.tls));
    tls_end(server.tls);
    assert_int_equal(carry(&server, &client, 65536), TLS_CLOSED);
    assert_true(tls_is_ended_by_peer(client.tls));
    assert_false(tls_is_ended_by_peer(server.tls));
    assert_int_equal(client.n_plain, 4);
    free_ends();
    close_contexts();
}

static void fatal_alert_ends_the_peer_like_close_notify(void **state)
{
    (void)state;
    open_contexts(&usual);
    connect_ends();
    assert_int_equal(tls_send(server.tls, (const uint8_t *)"last", 4), TLS_OK);
    server.worker.out[server.worker.n_out - 1] ^= 1;
    assert_int_equal(carry(&server, &client, 65536), TLS_FAILED);
    assert_int_equal(carry(&client, &server, 65536), TLS_FAILED);
    assert_int_equal(server.worker.reason, REASON_ALERT);
    assert_true(tls_is_ended_by_peer(server.tls));
    assert_false(tls_is_ended_by_peer(client.tls));
    free_ends();
    close_contexts();
}

static void refused_certificates_say_why(void **state)
{
    static const struct {
        const char *name;
        bool trusted, insecure;
        enum outcome_reason reason;
    } cases[] = {
        {"localhost", false, false, REASON_CERT_UNTRUSTED},
        {"elsewhere.example", true, false, REASON_CERT_NAME},
        {"127.0.0.1", true, false, REASON_CERT_NAME},
        {"elsewhere.example", false, true, REASON_FINISHED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tls_client_options options = {.name = cases[i].name,
                                                   .ca_file = cases[i].trusted ? cert_file : NULL,
                                                   .insecure = cases[i].insecure};

        open_contexts(&options);
        if (cases[i].insecure) {
            assert_int_equal(shake_hands(65536), TLS_OK);
        } else {
            assert_int_equal(shake_hands(65536), TLS_FAILED);
            assert_int_equal(client.worker.reason, cases[i].reason);
            assert_non_null(client.worker.text);
            assert_int_equal(carry(&client, &server, 65536), TLS_FAILED);
            assert_int_equal(server.worker.reason, REASON_ALERT);
        }
        free_ends();
        close_contexts();
    }
}

/* As the server has received it; NULL: none. */
static const char *name_sent(void)
{
    return SSL_get_servername((SSL *)server.tls, TLSEXT_NAMETYPE_host_name);
}

static void dot_at_the_end_is_not_part_of_the_name(void **state)
{
    struct tls_client_options options = usual;

    (void)state;
    options.name = "localhost.";
    open_contexts(&options);
    assert_string_equal(client.context->server_name, "localhost");
    connect_ends();
    assert_string_equal(name_sent(), "localhost");
    free_ends();
    close_contexts();
}

static void addresses_are_not_sent_as_names(void **state)
{
    static const char *const addresses[] = {"127.0.0.1", "::1", "fe80::1%lo"};

    (void)state;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        const struct tls_client_options options = {.name = addresses[i], .insecure = true};

        open_contexts(&options);
        assert_null(client.context->server_name);
        connect_ends();
        assert_null(name_sent());
        free_ends();
        close_contexts();
    }
}

static void certificates_of_another_time_are_expired(void **state)
{
    static const time_t times[] = {0, 4102444800}; /* 1970: not yet valid; 2100 */

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        open_contexts(&usual);
        X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(client.context->ctx), times[i]);
        assert_int_equal(shake_hands(65536), TLS_FAILED);
        assert_int_equal(client.worker.reason, REASON_CERT_EXPIRED);
        free_ends();
        close_contexts();
    }
}

static void ask_for_another_group(SSL_CTX *of_client, SSL_CTX *of_server)
{
    assert_int_equal(SSL_CTX_set1_groups_list(of_client, "P-256"), 1);
    assert_int_equal(SSL_CTX_set1_groups_list(of_server, "P-384"), 1);
}

static void ask_for_another_signature(SSL_CTX *of_client, SSL_CTX *of_server)
{
    (void)of_server;
    assert_int_equal(SSL_CTX_set1_sigalgs_list(of_client, "RSA-PSS+SHA256"), 1);
}

static void ask_for_another_version(SSL_CTX *of_client, SSL_CTX *of_server)
{
    assert_int_equal(SSL_CTX_set_max_proto_version(of_client, TLS1_2_VERSION), 1);
    assert_int_equal(SSL_CTX_set_min_proto_version(of_server, TLS1_3_VERSION), 1);
}

static void ask_for_another_cipher(SSL_CTX *of_client, SSL_CTX *of_server)
{
    (void)of_server;
    assert_int_equal(SSL_CTX_set_max_proto_version(of_client, TLS1_2_VERSION), 1);
    assert_int_equal(SSL_CTX_set_cipher_list(of_client, "ECDHE-RSA-AES128-GCM-SHA256"), 1);
}

static void both_sides_say_that_they_do_not_agree(void **state)
{
    static void (*const ask[])(SSL_CTX *,
                               SSL_CTX *) = {ask_for_another_group, ask_for_another_signature,
                                             ask_for_another_version, ask_for_another_cipher};

    (void)state;
    for (size_t i = 0; i < sizeof ask / sizeof *ask; i++) {
        open_contexts(&usual);
        ask[i](client.context->ctx, server.context->ctx);
        assert_int_equal(shake_hands(65536), TLS_FAILED);
        assert_int_equal(server.worker.reason, REASON_NO_AGREEMENT);
        assert_int_equal(carry(&server, &client, 65536), TLS_FAILED);
        assert_int_equal(client.worker.reason, REASON_NO_AGREEMENT);
        free_ends();
        close_contexts();
    }
}

static void lack_of_memory_is_a_separate_reason(void **state)
{
    (void)state;
    open_contexts(&usual);
    client.tls = tls_new(&client.worker);
    is_out_of_memory = true;
    assert_int_equal(tls_start(client.tls), TLS_FAILED);
    is_out_of_memory = false;
    assert_int_equal(client.worker.reason, REASON_MEMORY);
    tls_free(client.tls);
    close_contexts();
}

static int own_error; /* of OpenSSL */

/* Called for each part of a record that arrives or leaves. */
static void fail_internally(int written, int version, int type, const void *data, size_t n_bytes,
                            SSL *ssl, void *context)
{
    (void)version, (void)type, (void)data, (void)n_bytes, (void)ssl, (void)context;
    if (!written)
        ERR_raise(ERR_LIB_SSL, own_error);
}

/* Likewise; the last error is a lack of memory. */
static void fail_for_memory(int written, int version, int type, const void *data, size_t n_bytes,
                            SSL *ssl, void *context)
{
    fail_internally(written, version, type, data, n_bytes, ssl, context);
    if (!written)
        ERR_raise(ERR_LIB_SSL, ERR_R_MALLOC_FAILURE);
}

typedef void message_callback(int written, int version, int type, const void *data, size_t n_bytes,
                              SSL *ssl, void *context);

static enum outcome_reason reason_after(message_callback *fail)
{
    /* a handshake record of 4 bytes, which are no message */
    static const uint8_t record[] = {22, 3, 3, 0, 4, 'H', 'T', 'T', 'P'};
    uint8_t plain[sizeof record + TLS_RECORD_BYTES];
    enum outcome_reason reason;
    size_t n_plain;

    open_contexts(&usual);
    SSL_CTX_set_msg_callback(client.context->ctx, fail);
    client.tls = tls_new(&client.worker);
    assert_int_equal(tls_start(client.tls), TLS_OK);
    assert_int_equal(tls_receive(client.tls, record, sizeof record, plain, &n_plain), TLS_FAILED);
    reason = client.worker.reason;
    free_ends();
    close_contexts();
    return reason;
}

static void failure_of_openssl_is_not_the_peers(void **state)
{
    (void)state;
    own_error = ERR_R_INTERNAL_ERROR;
    assert_int_equal(reason_after(fail_internally), REASON_OTHER);
    assert_int_equal(reason_after(fail_for_memory), REASON_MEMORY);
    own_error = ERR_R_INIT_FAIL;
    assert_int_equal(reason_after(fail_internally), REASON_MEMORY);
}

static void what_is_not_tls_is_malformed(void **state)
{
    static const uint8_t text[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    uint8_t plain[sizeof text + TLS_RECORD_BYTES];
    size_t n_plain;

    (void)state;
    open_contexts(&usual);
    client.tls = tls_new(&client.worker);
    assert_int_equal(tls_start(client.tls), TLS_OK);
    assert_int_equal(tls_receive(client.tls, text, sizeof text, plain, &n_plain), TLS_FAILED);
    assert_int_equal(client.worker.reason, REASON_MALFORMED);
    assert_non_null(client.worker.text);
    assert_int_equal(n_plain, 0);
    free_ends();
    close_contexts();
}

/* The server answers with protocol_version. */
static void damaged_version_of_a_record_is_no_lack_of_agreement(void **state)
{
    enum { AT_MAJOR_VERSION = 1 };

    (void)state;
    open_contexts(&usual);
    connect_ends();
    assert_int_equal(tls_send(client.tls, (const uint8_t *)"x", 1), TLS_OK);
    client.worker.out[AT_MAJOR_VERSION] ^= 1;
    assert_int_equal(carry(&client, &server, SIZE_MAX / 2), TLS_FAILED);
    assert_int_equal(server.worker.reason, REASON_MALFORMED);
    assert_int_equal(carry(&server, &client, SIZE_MAX / 2), TLS_FAILED);
    assert_int_equal(client.worker.reason, REASON_ALERT);
    free_ends();
    close_contexts();
}

/* The thread's error queue is empty afterwards, so the next connection does not inherit errors. */
static void one_failure_leaves_the_next_connection_alone(void **state)
{
    static uint8_t garbage[3 * TLS_RECORD_BYTES], plain[sizeof garbage + TLS_RECORD_BYTES];
    struct tls *other;
    size_t n_plain;

    (void)state;
    open_contexts(&usual);
    connect_ends();
    other = tls_new(&client.worker);
    assert_int_equal(tls_start(other), TLS_OK);
    client.worker.n_out = 0;
    memset(garbage, 'g', sizeof garbage);
    assert_int_equal(tls_receive(other, garbage, sizeof garbage, plain, &n_plain), TLS_FAILED);
    tls_free(other);
    other = tls_new(&client.worker);
    assert_int_equal(tls_start(other), TLS_OK); /* does not read what is left of the garbage */
    client.worker.n_out = 0;
    tls_free(other);
    assert_int_equal(tls_send(client.tls, (const uint8_t *)"x", 1), TLS_OK);
    assert_int_equal(carry(&client, &server, 1), TLS_OK);
    assert_int_equal(server.n_plain, 1);
    free_ends();
    close_contexts();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_out_as_they_went_in_whatever_the_pieces),
        cmocka_unit_test(bytes_right_after_the_handshake_are_not_lost),
        cmocka_unit_test(second_connection_of_a_worker_resumes_if_it_may),
        cmocka_unit_test(end_of_the_peer_comes_after_its_bytes),
        cmocka_unit_test(fatal_alert_ends_the_peer_like_close_notify),
        cmocka_unit_test(refused_certificates_say_why),
        cmocka_unit_test(certificates_of_another_time_are_expired),
        cmocka_unit_test(both_sides_say_that_they_do_not_agree),
        cmocka_unit_test(lack_of_memory_is_a_separate_reason),
        cmocka_unit_test(dot_at_the_end_is_not_part_of_the_name),
        cmocka_unit_test(addresses_are_not_sent_as_names),
        cmocka_unit_test(failure_of_openssl_is_not_the_peers),
        cmocka_unit_test(what_is_not_tls_is_malformed),
        cmocka_unit_test(damaged_version_of_a_record_is_no_lack_of_agreement),
        cmocka_unit_test(one_failure_leaves_the_next_connection_alone),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
