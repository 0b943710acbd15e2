/* SPDX-License-Identifier: MIT
 * large_blocks: how malloc(3) allocates large blocks, such as histograms. */
#ifndef TCPSCALER_BASE_LARGE_BLOCKS_H
#define TCPSCALER_BASE_LARGE_BLOCKS_H

/* Has malloc(3) map each block of 128 KiB or more on its own: of a block from calloc(3), only the
 * pages that were touched are resident then.  mallopt(3); glibc only. */
void large_blocks_map(void);

#endif
