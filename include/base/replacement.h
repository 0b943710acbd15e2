/* SPDX-License-Identifier: MIT
 * replacement: writes a file beside the old one and puts it in its place when it is complete, so
 * that the file is never a part of one.
 *
 * Only regular files are replaced, with their mode and, as far as permitted, their owner.  The new
 * content is in NAME.tmp while it is written; a program that is killed meanwhile leaves it there.
 */
#ifndef TCPSCALER_BASE_REPLACEMENT_H
#define TCPSCALER_BASE_REPLACEMENT_H

#include <stdbool.h>

struct replacement {
    char *file; /* absolute path without links; it need not exist */
    char *temporary;
};

/* Checks whether a file of this name can be replaced.  Returns NULL if it must be written in place:
 * it is not a regular file, or an open one (stdout, /dev/fd/N), it is mounted, its directory is not
 * writable, it or NAME.tmp is another user's in a sticky directory such as /tmp, or there is no
 * memory. */
struct replacement *replacement_of(const char *name);

/* Whether writing a document of this name would overwrite an input (base/inputs.h): it is one, or
 * its NAME.tmp is. */
bool replacement_overwrites_input(const char *name);

/* Creates the new file.  Returns its descriptor for appending, or -1 with errno. */
int replacement_begin(const struct replacement *r);

/* Closes the new file and puts it in place of the old one.  Returns 0; or -1 with errno, and the
 * old file is still there: EBUSY if another program replaces it, too. */
int replacement_end(const struct replacement *r, int fd);

/* Closes the new file and removes it. */
void replacement_cancel(const struct replacement *r, int fd);

/* NULL: no-op. */
void replacement_free(struct replacement *r);

#endif
