/* SPDX-License-Identifier: MIT
 * text_stream: see base/text_stream.h. */
#include "base/text_stream.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for n_bytes and a 0 byte.  Returns 0, or -1 if out of memory. */
static int make_room(struct text_stream *t, size_t n_bytes)
{
    const size_t needed = t->n_bytes + n_bytes + 1;
    char *larger;

    if (needed <= t->capacity_bytes)
        return 0;
    larger = realloc(t->text, 2 * needed);
    if (larger == NULL)
        return -1;
    t->text = larger;
    t->capacity_bytes = 2 * needed;
    return 0;
}

static ssize_t write_stream(void *cookie, const char *text, size_t n_bytes)
{
    struct text_stream *t = cookie;

    t->failed |= make_room(t, n_bytes) != 0;
    if (t->failed)
        return 0;
    memcpy(t->text + t->n_bytes, text, n_bytes);
    t->n_bytes += n_bytes;
    return (ssize_t)n_bytes;
}

int text_stream_open(struct text_stream *t)
{
    *t = (struct text_stream){.out = NULL};
    t->out = fopencookie(t, "w", (cookie_io_functions_t){.write = write_stream});
    return t->out != NULL ? 0 : -1;
}

char *text_stream_close(struct text_stream *t, size_t *n_bytes)
{
    *n_bytes = 0;
    if (t->out == NULL)
        return NULL;
    if (fclose(t->out) != 0 || t->failed || make_room(t, 0) != 0) {
        free(t->text);
        return NULL;
    }
    t->text[t->n_bytes] = '\0';
    *n_bytes = t->n_bytes;
    return t->text;
}
