/* SPDX-License-Identifier: MIT
 * drive: see drive.h. */
#include "drive.h"

#include "classes.h"
#include "client/result.h"
#include "client/run.h"
#include "descriptor.h"
#include "fiber.h"
#include "ledger.h"
#include "ledger_tls.h"
#include "main_thread.h"
#include "memory.h"
#include "peer.h"
#include "peer_header.h"
#include "peer_push.h"
#include "ports.h"
#include "readiness.h"
#include "refusal.h"
#include "setup.h"
#include "tcp.h"
#include "tls_claims.h"
#include "tls_setup.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void drive_begin(const struct scenario *s)
{
    world_begin(s);
    fiber_begin();
    descriptor_begin();
    readiness_begin();
    refusal_begin();
    tcp_begin(&peer_end);
    ports_begin();
    tls_setup_begin();
    tls_claims_begin();
    memory_begin();
}

void drive_expect(const struct client_config *c, struct drive_result *result)
{
    classes_begin(c);
    peer_begin();
    peer_push_begin();
    peer_header_begin(c);
    ledger_begin(c);
    ledger_tls_begin(c->connect_timeout_ns);
    main_thread_begin(c, result);
}

void drive_end(struct drive_result *result)
{
    main_thread_end();
    LAW(descriptor_n_open() == 0, "%u descriptors are left", descriptor_n_open());
    LAW(tls_claims.n_live == 0, "%" PRId64 " TLS connections are left", tls_claims.n_live);
    result->most_bytes = memory_most_bytes();
    result->trace = world.trace;
    result->simulated_ns = world_since_begin_ns();
    result->n_calls = world.n_calls;
    result->n_faults = world.n_faults;
    world_end();
}

static void free_result(struct client_result *r)
{
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        hist_free(&r->metrics[m]);
    for (unsigned k = 0; k < CLIENT_CLASS_MOST; k++)
        client_class_times_free(&r->class_times[k]);
    losses_free(&r->losses);
    timeout_counts_free(&r->timeouts);
    free(r);
}

void drive(const struct scenario *s, struct drive_result *result)
{
    static struct control_socket control; /* not simulated, but there */
    struct client_config config;
    struct start_gate_settings gate = {
        .ahead_ns = s->settle_us * 1000, .late_max_ns = 10000000, .quiet = true};
    const struct client_run_settings settings = {
        .settle_ns = s->settle_us * 1000,
        .control = s->steps > 0 ? &control : NULL,
        .gate = s->gate_us > 0 ? &gate : NULL,
    };
    struct client_result *r;

    *result = (struct drive_result){.started = false};
    drive_begin(s);
    setup_make(&config, s);
    drive_expect(&config, result);
    gate.at_epoch_ns = WORLD_EPOCH_NS + world.now_ns + s->gate_us * 1000;
    main_thread_expect_begin(s->gate_us > 0 ? world.now_ns + s->gate_us * 1000 : 0);
    r = calloc(1, sizeof *r);
    LAW(r != NULL, "no memory");
    result->started = client_run(&config, &settings, r) == 0;
    free_result(r);
    setup_free(&config);
    LAW(memory_n_live() == 0, "%" PRId64 " allocations are left, of %" PRId64 " bytes",
        memory_n_live(), memory_live_bytes());
    drive_end(result);
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

void drive_print(const struct drive_result *r)
{
    printf("trace %016" PRIx64 ": %" PRIu64 " connections, %" PRIu64 " failed; %" PRIu64
           " queries, %" PRIu64 " answered, %" PRIu64 " expired, %" PRIu64 " lost; %" PRIu64
           " calls, %" PRIu64 " faults; %.6f s simulated; %" PRId64 " bytes\n",
           r->trace, r->n_connections, r->n_failed, r->n_queries, r->n_answered, r->n_expired,
           r->n_lost, r->n_calls, r->n_faults, (double)r->simulated_ns / 1e9, r->most_bytes);
    printf("p99 of arrivals: open lag %.3f ms, due to connected %.3f ms, due to answered %.3f ms, "
           "open to answered %.3f ms; %" PRIu64 " held\n",
           ms(r->p99_ns[CLIENT_OPEN_LAG]), ms(r->p99_ns[CLIENT_DUE_CONNECTED]),
           ms(r->p99_ns[CLIENT_DUE_ANSWERED]), ms(r->p99_ns[CLIENT_OPEN_ANSWERED]), r->n_held);
    printf("real time: prepare %.3f s, connect %.3f s, load %.3f s, merge %.3f s\n",
           r->phases_s[DRIVE_PREPARE], r->phases_s[DRIVE_CONNECT], r->phases_s[DRIVE_LOAD],
           r->phases_s[DRIVE_MERGE]);
}
