/* SPDX-License-Identifier: MIT
 * proc_number: finds a number in a text file of /proc.  Any thread. */
#ifndef TCPSCALER_HOST_PROC_NUMBER_H
#define TCPSCALER_HOST_PROC_NUMBER_H

#include <stdint.h>

#define PROC_NUMBER_UNKNOWN UINT64_MAX

/* Returns number `nth` (from 0) after `head`, on the first line that begins with it.
 * PROC_NUMBER_UNKNOWN: there is no such file or number. */
uint64_t proc_number(const char *path, const char *head, unsigned nth);

/* Returns the number after `name` on the line that begins with `head`, as in
 * "TCP: inuse 5 orphan 0 tw 3 mem 1".  PROC_NUMBER_UNKNOWN as above. */
uint64_t proc_number_named(const char *path, const char *head, const char *name);

#endif
