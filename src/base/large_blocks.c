/* SPDX-License-Identifier: MIT
 * large_blocks: see base/large_blocks.h. */
#include "base/large_blocks.h"

#include <malloc.h>

#ifdef M_MMAP_THRESHOLD
enum { LARGE_BLOCK_BYTES = 128 << 10 }; /* glibc's initial threshold */
#endif

/* A large block that was freed would raise the threshold, to as much as 32 MiB. */
void large_blocks_map(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
#endif
}
