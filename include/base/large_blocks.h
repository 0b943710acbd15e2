/* SPDX-License-Identifier: MIT
 * large_blocks: how malloc(3) allocates large blocks, such as histograms. */
#ifndef TCPSCALER_BASE_LARGE_BLOCKS_H
#define TCPSCALER_BASE_LARGE_BLOCKS_H

/* Makes malloc(3) map each block of 128 KiB or more on its own, so that only the touched pages of a
 * block from calloc(3) are resident.  mallopt(3); glibc only. */
void large_blocks_map(void);

#endif
