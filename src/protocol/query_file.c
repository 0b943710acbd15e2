/* SPDX-License-Identifier: MIT
 * query_file: see protocol/query_file.h. */
#include "protocol/query_file.h"

#include <stdbool.h>
#include <string.h>

/* The rest of one line. */
struct rest {
    const char *text;
    size_t n;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct rest take_line(struct query_file *file)
{
    const char *end = memchr(file->text, '\n', file->n_bytes);
    const struct rest line = {file->text, end != NULL ? (size_t)(end - file->text) : file->n_bytes};
    const size_t n_taken = line.n + (end != NULL);

    file->text += n_taken;
    file->n_bytes -= n_taken;
    file->line++;
    return line;
}

/* The next word and its length, 0 if there is none before the end of the line or a comment.  In a
 * name, a blank after a backslash does not end it. */
static size_t take_word(struct rest *line, const char **word)
{
    size_t n = 0;

    while (line->n > 0 && is_blank(*line->text)) {
        line->text++;
        line->n--;
    }
    *word = line->text;
    if (line->n == 0 || *line->text == ';')
        return 0;
    while (n < line->n && !is_blank(line->text[n]))
        n += line->text[n] == '\\' && n + 1 < line->n ? 2 : 1;
    line->text += n;
    line->n -= n;
    return n;
}

int query_file_next(struct query_file *file, struct query_line *line)
{
    while (file->n_bytes > 0) {
        struct rest rest = take_line(file);
        const char *more;

        line->n_name = take_word(&rest, &line->name);
        if (line->n_name == 0)
            continue;
        line->n_type = take_word(&rest, &line->type);
        return take_word(&rest, &more) == 0 ? 1 : -1;
    }
    return 0;
}
