/* SPDX-License-Identifier: MIT
 * tls_claims: see tls_claims.h. */
#include "tls_claims.h"

#include "fiber.h"
#include "ledger.h"
#include "memory.h"
#include "net/tls.h"
#include "peer_tls.h"
#include "ports.h"
#include "tcp.h"
#include "violation.h"

#include <openssl/ssl.h>
#include <string.h>

struct tls *__real_tls_new(struct tls_worker *w);
struct tls *__wrap_tls_new(struct tls_worker *w);
void __real_tls_free(struct tls *t);
void __wrap_tls_free(struct tls *t);
enum tls_status __real_tls_receive(struct tls *t, const uint8_t *data, size_t n, uint8_t *plain,
                                   size_t *n_plain);
enum tls_status __wrap_tls_receive(struct tls *t, const uint8_t *data, size_t n, uint8_t *plain,
                                   size_t *n_plain);

struct tls_claims tls_claims;

/* Indexed by port: ports of classes with and without TLS follow each other (ports.h). */
enum { PORTS = 2 * PORTS_MOST_CLASSES };
static bool has_ticket[FIBER_MOST][PORTS];

void tls_claims_begin(void)
{
    tls_claims = (struct tls_claims){0};
    memset(has_ticket, 0, sizeof has_ticket);
}

static bool *ticket_of(uint32_t i)
{
    return &has_ticket[fiber_current()][tcp_at(i)->peer_port % PORTS];
}

bool tls_claims_has_ticket(uint32_t i)
{
    return *ticket_of(i);
}

struct tls *__wrap_tls_new(struct tls_worker *w)
{
    struct tls *t = memory_is_refused() ? NULL : __real_tls_new(w);

    tls_claims.n_live += t != NULL;
    return t;
}

void __wrap_tls_free(struct tls *t)
{
    tls_claims.n_live -= t != NULL;
    __real_tls_free(t);
}

static void note_established(const struct tls *t, uint32_t i)
{
    LAW(tls_is_resumed(t) == peer_tls_is_resumed(i), "fd %d: resumed: %d, for the other end %d",
        tcp_at(i)->fd, tls_is_resumed(t), peer_tls_is_resumed(i));
    tls_claims.n_established++;
    tls_claims.n_resumed += tls_is_resumed(t);
}

static void note_ticket(const struct tls *t, uint32_t i)
{
    const SSL_SESSION *session = SSL_get_session((const SSL *)(const void *)t);

    if (session != NULL && SSL_SESSION_has_ticket(session))
        *ticket_of(i) = true;
}

uint32_t tls_claims_of(const struct tls *t)
{
    return (uint32_t)(uintptr_t)SSL_get_app_data((const SSL *)(const void *)t);
}

enum tls_status __wrap_tls_receive(struct tls *t, const uint8_t *data, size_t n, uint8_t *plain,
                                   size_t *n_plain)
{
    const uint32_t i = fiber_read_from[fiber_current()];
    const bool was_established = tls_is_established(t);
    const enum tls_status status = __real_tls_receive(t, data, n, plain, n_plain);
    struct tcp_tls *of = &tcp_at(i)->tls;

    SSL_set_app_data((SSL *)(void *)t, (void *)(uintptr_t)i);
    if (!was_established && tls_is_established(t)) {
        of->is_established = true; /* for good: OpenSSL forgets it after a failure */
        note_established(t, i);
    }
    note_ticket(t, i);
    of->status = (uint8_t)status;
    of->reason = (uint8_t)tls_worker_of((const SSL *)(const void *)t)->reason;
    if (*n_plain > 0)
        ledger_on_plain(plain, *n_plain);
    return status;
}
