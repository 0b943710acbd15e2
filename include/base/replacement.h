/* SPDX-License-Identifier: MIT
 * replacement: writes a new file next to the old one, which it replaces once the new one is
 * complete, so that readers never see a partial file.
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
 * its name is empty or ends in '/', it is a dangling link, not a regular file, or an open one
 * (stdout, /dev/fd/N), it is mounted, it or its directory is not writable, it or NAME.tmp is
 * another user's in a sticky directory such as /tmp, or there is no memory. */
struct replacement *replacement_of(const char *name);

/* Whether this names the file, or the temporary one; neither need exist. */
bool replacement_has(const struct replacement *r, const char *name);

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
