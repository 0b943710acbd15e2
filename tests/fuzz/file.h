/* SPDX-License-Identifier: MIT
 * file: named inputs, for targets that read files. */
#ifndef TCPSCALER_FUZZ_FILE_H
#define TCPSCALER_FUZZ_FILE_H

#include "fuzz.h"

#include <sys/mman.h>

enum { FUZZ_FILE_NAME_BYTES = 32 };

/* In memory; fd is 0 at first.  Reused for the next input. */
struct fuzz_file {
    int fd;
    char name[FUZZ_FILE_NAME_BYTES];
};

static inline void fuzz_file_write(struct fuzz_file *f, const void *data, size_t n_bytes)
{
    if (f->fd == 0) {
        f->fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(f->name, sizeof f->name, "/proc/self/fd/%d", f->fd);
    }
    REQUIRE(f->fd > 0 && ftruncate(f->fd, 0) == 0);
    REQUIRE(pwrite(f->fd, data, n_bytes, 0) == (ssize_t)n_bytes);
}

#endif
