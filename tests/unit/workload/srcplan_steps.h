/* SPDX-License-Identifier: MIT
 * srcplan_steps: shared by the tests of srcplan. */
#ifndef TCPSCALER_TESTS_UNIT_WORKLOAD_SRCPLAN_STEPS_H
#define TCPSCALER_TESTS_UNIT_WORKLOAD_SRCPLAN_STEPS_H

#include "workload/srcplan.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fill_srcplan.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

enum { LIST_BYTES = 4096 };

/* "address:port" of tuple i; the wildcard address is "*". */
static inline void name_tuple(const struct srcplan_tuple *t, char *text, size_t n)
{
    char address[INET6_ADDRSTRLEN] = "*";

    if (t->address.family != AF_UNSPEC)
        assert_non_null(inet_ntop(t->address.family, t->address.bytes, address, sizeof address));
    snprintf(text, n, "%s:%u", address, t->port);
}

static inline void assert_tuple(const struct srcplan *p, uint64_t i, const char *expected)
{
    struct srcplan_tuple t;
    char text[INET6_ADDRSTRLEN + 8];

    srcplan_at(p, i, &t);
    name_tuple(&t, text, sizeof text);
    assert_string_equal(text, expected);
}

static inline void list_ports(const struct srcplan *p, char *list)
{
    size_t n = 0;

    list[0] = '\0';
    for (uint32_t i = 0; i < p->n_ports; i++)
        n += (size_t)snprintf(list + n, LIST_BYTES - n, "%s%u", i == 0 ? "" : " ", p->ports[i]);
}

#endif
