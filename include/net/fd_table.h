/* SPDX-License-Identifier: MIT
 * fd_table: closes the descriptors that a thread with its own fd table (net/thread.h) does not use.
 */
#ifndef TCPSCALER_NET_FD_TABLE_H
#define TCPSCALER_NET_FD_TABLE_H

#include <stdint.h>

/* Closes all descriptors in the calling thread's table except the standard streams, `own`, and the
 * n in `keep`, in any order; negative ones are ignored.  Never fails. */
void fd_table_keep_only(int own, const int *keep, uint32_t n);

#endif
