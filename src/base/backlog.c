/* SPDX-License-Identifier: MIT
 * backlog: see base/backlog.h. */
#include "base/backlog.h"

#include <stdlib.h>
#include <string.h>

static void count_lost(struct backlog *b, const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        b->n_lines_lost += text[i] == '\n';
}

static void empty(struct backlog *b)
{
    free(b->text);
    b->text = NULL;
    b->n_bytes = b->n_taken = b->capacity_bytes = 0;
}

void backlog_drop(struct backlog *b)
{
    if (b->n_bytes > 0)
        count_lost(b, b->text + b->n_taken, b->n_bytes - b->n_taken);
    empty(b);
}

/* Makes room for n_bytes after the text.  Moves the unread text to the front only if that leaves at
 * least half of the buffer free.  Returns 0, or -1 if out of memory. */
static int make_room(struct backlog *b, size_t n_bytes)
{
    const size_t n_left = b->n_bytes - b->n_taken, wanted = 2 * (n_left + n_bytes);
    char *larger;

    if (n_bytes <= b->capacity_bytes - b->n_bytes)
        return 0;
    memmove(b->text, b->text + b->n_taken, n_left);
    b->n_taken = 0;
    b->n_bytes = n_left;
    if (wanted <= b->capacity_bytes)
        return 0;
    larger = realloc(b->text, wanted);
    if (larger == NULL)
        return -1;
    b->text = larger;
    b->capacity_bytes = wanted;
    return 0;
}

/* Returns 0, or -1 if the text does not fit. */
static int append(struct backlog *b, const char *text, size_t n_bytes)
{
    if (b->n_bytes - b->n_taken > BACKLOG_BYTES || make_room(b, n_bytes) != 0)
        return -1;
    memcpy(b->text + b->n_bytes, text, n_bytes);
    b->n_bytes += n_bytes;
    return 0;
}

void backlog_add(struct backlog *b, char *text, size_t n_bytes)
{
    if (b->n_bytes == 0 && n_bytes > 0) {
        b->text = text;
        b->n_bytes = b->capacity_bytes = n_bytes;
        return;
    }
    if (n_bytes > 0 && append(b, text, n_bytes) != 0)
        count_lost(b, text, n_bytes);
    free(text);
}

int backlog_write(struct backlog *b, int fd, writing_may_wait *may_wait)
{
    int error = 0;

    if (b->n_bytes == 0)
        return 0;
    b->n_taken += writing_all(fd, b->text + b->n_taken, b->n_bytes - b->n_taken, may_wait, &error);
    if (error == 0)
        empty(b);
    return error;
}
