/* SPDX-License-Identifier: MIT
 * diagnosis_steps: shared by the tests of diagnosis. */
#ifndef TCPSCALER_TESTS_UNIT_HOST_DIAGNOSIS_STEPS_H
#define TCPSCALER_TESTS_UNIT_HOST_DIAGNOSIS_STEPS_H

#include "host/diagnosis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

static const struct host_limits roomy = {
    .nofile = 20000,
    .file_max = 1000000,
    .files_open = 1000,
    .memory_available_bytes = 20ull << 30,
    .address_space_bytes = HOST_LIMITS_UNKNOWN,
    .tcp_pages_max = 1000,
    .tcp_pages_used = 10,
    .sockets_in_time_wait = 77,
    .conntrack_max = 1000,
    .conntrack_used = 10,
};

static struct tally tally;
static struct host_limits host;
static struct diagnosis d;
static struct diagnosis_input in;
static struct losses losses;

/* n connections with one outcome; 100 finished. */
static void diagnose(enum outcome_phase phase, enum outcome_reason reason, uint64_t n)
{
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.attempted, 100 + n);
    tally_add(&tally.connections.ended[PHASE_RUN][REASON_FINISHED], 100);
    tally_add(&tally.connections.ended[phase][reason], n);
    diagnosis_make(&d, &in);
}

static void assert_one(const char *limit, uint64_t n, const char *evidence, const char *remedy)
{
    assert_int_equal(d.n_lines, 1);
    assert_string_equal(d.lines[0].limit, limit);
    assert_int_equal(d.lines[0].connections, n);
    if (strstr(d.lines[0].evidence, evidence) == NULL || strstr(d.lines[0].remedy, remedy) == NULL)
        fail_msg("'%s', '%s'", d.lines[0].evidence, d.lines[0].remedy);
}

static int setup(void **state)
{
    (void)state;
    host = roomy;
    in = (struct diagnosis_input){.tally = &tally,
                                  .target = "192.0.2.1:4242",
                                  .protocol = "dns",
                                  .losses = &losses,
                                  .host = &host,
                                  .listen_overflows = 5,
                                  .answering = 1,
                                  .n_tuples = 28232,
                                  .in_time_wait = 28000,
                                  .own_fd_tables = true};
    return losses_init(&losses);
}

static int teardown(void **state)
{
    (void)state;
    losses_free(&losses);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
