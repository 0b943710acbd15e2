/* SPDX-License-Identifier: MIT
 * cpulist: parses a list of CPU numbers in the syntax of taskset(1) and the kernel: "0-3,6".  Pure.
 */
#ifndef TCPSCALER_BASE_CPULIST_H
#define TCPSCALER_BASE_CPULIST_H

#include <stdint.h>

#define CPULIST_MOST        1024u /* CPU numbers 0..1023, as in a cpu_set_t */
#define CPULIST_ERROR_BYTES 200

struct cpulist {
    uint32_t n; /* 0: any CPU */
    uint16_t cpus[CPULIST_MOST];
};

/* In the order given, each number once.  Returns 0, or -1 with one line in error
 * (CPULIST_ERROR_BYTES) and an empty list. */
int cpulist_parse(const char *text, struct cpulist *list, char *error);

/* The CPU of worker `index`, round-robin over the list; -1: any. */
int cpulist_of(const struct cpulist *list, uint32_t index);

#endif
