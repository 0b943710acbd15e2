/* SPDX-License-Identifier: MIT
 * fill_srcplan: a plan of sources and ports in the syntax of the options, for unit tests.  Include
 * cmocka.h first. */
#ifndef TCPSCALER_FILL_SRCPLAN_H
#define TCPSCALER_FILL_SRCPLAN_H

#include "workload/srcplan.h"

/* NULL: none.  The caller frees the plan. */
static inline void fill_srcplan(struct srcplan *p, const char *sources, const char *ports)
{
    char error[SRCPLAN_ERROR_BYTES];

    srcplan_init(p);
    if (sources != NULL)
        assert_int_equal(srcplan_add_sources(p, sources, error), 0);
    if (ports != NULL)
        assert_int_equal(srcplan_add_ports(p, ports, error), 0);
}

#endif
