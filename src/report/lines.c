/* SPDX-License-Identifier: MIT
 * lines: see report/lines.h. */
#include "report/lines.h"

#include "base/log.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM_BYTES = 256, MOST_ROOM_BYTES = 64 << 20 };

static int cannot_open(const char *path)
{
    const char *text = strerror(errno);
    const bool is_option = errno == ENOENT && path[0] == '-' && path[1] != '\0';

    return log_error("%s: cannot read: %s%s", path, text,
                     is_option ? ": options must precede --" : "");
}

int lines_open(struct lines *l, const char *path)
{
    *l = (struct lines){.path = path, .in = fopen(path, "re")};
    return l->in != NULL ? 0 : cannot_open(path);
}

void lines_close(struct lines *l)
{
    free(l->line);
    if (l->in != NULL)
        fclose(l->in);
    *l = (struct lines){0};
}

/* Makes room for a byte and the terminator. */
static bool make_room(struct lines *l)
{
    const size_t room_bytes = l->room_bytes > 0 ? 2 * l->room_bytes : FIRST_ROOM_BYTES;
    char *line;

    if (l->length + 2 <= l->room_bytes)
        return true;
    if (room_bytes > MOST_ROOM_BYTES) {
        l->failure = "longer than 64 MiB";
        return false;
    }
    line = realloc(l->line, room_bytes);
    if (line == NULL) {
        l->failure = "out of memory";
        return false;
    }
    l->line = line;
    l->room_bytes = room_bytes;
    return true;
}

/* Removes what editors on Windows add: a byte order mark, and CR before each newline. */
static void drop_foreign(struct lines *l)
{
    const size_t n_mark = l->number == 1 ? utf8_mark_bytes(l->line, l->length) : 0;

    if (n_mark > 0 && l->length > n_mark) {
        l->length -= n_mark;
        memmove(l->line, l->line + n_mark, l->length);
    }
    if (l->length >= 2 && memcmp(l->line + l->length - 2, "\r\n", 2) == 0) {
        l->length--;
        l->line[l->length - 1] = '\n';
    }
}

bool lines_next(struct lines *l)
{
    int c = 0;

    l->length = 0;
    l->number++;
    while (c != '\n' && make_room(l) && (c = getc_unlocked(l->in)) != EOF)
        l->line[l->length++] = (char)c;
    if (c == EOF && ferror(l->in))
        l->failure = strerror(errno);
    if (l->failure != NULL || l->length == 0)
        return false;
    drop_foreign(l);
    l->line[l->length] = '\0';
    return true;
}

int lines_end(const struct lines *l)
{
    return l->failure == NULL
               ? 0
               : log_error("%s: cannot read line %" PRIu64 ": %s", l->path, l->number, l->failure);
}

int lines_refuse(const struct lines *l, const char *why)
{
    return log_error("%s: line %" PRIu64 ": %s", l->path, l->number, why);
}
