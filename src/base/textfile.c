/* SPDX-License-Identifier: MIT
 * textfile: see base/textfile.h. */
#include "base/textfile.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM_BYTES = 1 << 16 };

/* Reads until the buffer is full or the input ends.  Returns 0, 1 at the end, -1 with errno. */
static int fill(FILE *in, char *text, size_t room, size_t *n_bytes)
{
    *n_bytes += fread(text + *n_bytes, 1, room - *n_bytes, in);
    if (ferror(in))
        return -1;
    return *n_bytes < room;
}

/* Allocates one byte more than the text may have. */
static char *read_all(FILE *in, size_t most_bytes, size_t *n_bytes)
{
    size_t room = FIRST_ROOM_BYTES;
    char *text = malloc(room), *larger;
    int ended = 0;

    while (text != NULL && (ended = fill(in, text, room, n_bytes)) == 0 && *n_bytes <= most_bytes) {
        larger = realloc(text, room *= 2);
        if (larger == NULL)
            free(text);
        text = larger;
    }
    if (text == NULL)
        return NULL;
    if (ended == 1 && *n_bytes <= most_bytes) {
        text[*n_bytes] = '\0';
        return text;
    }
    if (ended >= 0)
        errno = EFBIG;
    free(text);
    return NULL;
}

/* Also moves the 0 byte that ends the text. */
static void drop_mark(char *text, size_t *n_bytes)
{
    const size_t n_mark = utf8_mark_bytes(text, *n_bytes);

    *n_bytes -= n_mark;
    if (n_mark > 0)
        memmove(text, text + n_mark, *n_bytes + 1);
}

char *textfile_read(const char *name, size_t most_bytes, size_t *n_bytes)
{
    FILE *in = name != NULL ? fopen(name, "re") : stdin;
    char *text;
    int error;

    *n_bytes = 0;
    if (in == NULL)
        return NULL;
    text = read_all(in, most_bytes, n_bytes);
    error = errno;
    if (text != NULL)
        drop_mark(text, n_bytes);
    if (in != stdin)
        fclose(in);
    errno = error;
    return text;
}
