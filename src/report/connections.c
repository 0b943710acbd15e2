/* SPDX-License-Identifier: MIT
 * connections: see report/connections.h. */
#include "report/connections.h"

#include "report/decimal.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_BEGIN "connection_id,source,"

/* What follows a field; strchr() finds the end of the line, too. */
#define SEPARATORS ",\r\n"

static const char *const names[CONNECTIONS_N_COLUMNS] = {
    [CONNECTIONS_ESTABLISHED] = "established_s",
    [CONNECTIONS_LOST] = "lost_s",
    [CONNECTIONS_BACK] = "back_s",
};

static const char *const not_numbers[CONNECTIONS_N_COLUMNS] = {
    [CONNECTIONS_ESTABLISHED] = "established_s: not a number",
    [CONNECTIONS_LOST] = "lost_s: not a number",
    [CONNECTIONS_BACK] = "back_s: not a number",
};

bool connections_is_header(const char *line)
{
    return strncmp(line, HEADER_BEGIN, sizeof HEADER_BEGIN - 1) == 0;
}

/* Returns the column of a row, or NULL if it has fewer. */
static const char *column_of(const char *row, int column)
{
    for (int i = 0; i < column && row != NULL; i++)
        row = strchr(row, ',') != NULL ? strchr(row, ',') + 1 : NULL;
    return row;
}

/* The number of columns before the one of this name; -1 if there is none. */
static int columns_before(const char *header, const char *name)
{
    const size_t length = strlen(name);

    for (int n = 0; header != NULL; n++) {
        if (strncmp(header, name, length) == 0 && strchr(SEPARATORS, header[length]) != NULL)
            return n;
        header = column_of(header, 1);
    }
    return -1;
}

const char *connections_begin(struct connections *c, const char *header)
{
    for (int i = 0; i < CONNECTIONS_N_COLUMNS; i++)
        c->columns[i] = columns_before(header, names[i]);
    c->count_column = columns_before(header, "connections");
    c->has_count = c->count_column >= 0;
    return c->columns[CONNECTIONS_ESTABLISHED] < 0 ? "missing column established_s" : NULL;
}

/* Appends the value of a column, if the row has one. */
static const char *add(struct connection_times *t, const char *value, const char *not_a_number)
{
    uint64_t *more = t->ns;
    const char *end;

    if (value == NULL)
        return "missing columns";
    if (strchr(SEPARATORS, *value) != NULL)
        return NULL;
    if ((t->n & (t->n - 1)) == 0) /* full at each power of two */
        more = realloc(more, 2 * (t->n + 1) * sizeof *more);
    if (more == NULL)
        return "out of memory";
    t->ns = more;
    end = decimal_take(value, 1000000000, &more[t->n]);
    if (end == NULL || strchr(SEPARATORS, *end) == NULL)
        return not_a_number;
    t->n++;
    return NULL;
}

static const char *add_count(struct connections *c, const char *value)
{
    uint64_t n;
    const char *end;

    if (value == NULL)
        return "missing columns";
    end = decimal_take(value, 1, &n);
    if (end == NULL || strchr(SEPARATORS, *end) == NULL)
        return "connections: not a number";
    c->n_attempted += n;
    c->n_reused += n > 1;
    return NULL;
}

const char *connections_add(struct connections *c, const char *row)
{
    const char *why = NULL;

    for (int i = 0; i < CONNECTIONS_N_COLUMNS && why == NULL; i++)
        if (c->columns[i] >= 0)
            why = add(&c->times[i], column_of(row, c->columns[i]), not_numbers[i]);
    if (c->has_count && why == NULL)
        why = add_count(c, column_of(row, c->count_column));
    return why;
}

static int by_time(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return (a > b) - (a < b);
}

void connections_sort(struct connections *c)
{
    for (int i = 0; i < CONNECTIONS_N_COLUMNS; i++)
        if (c->times[i].n > 0)
            qsort(c->times[i].ns, c->times[i].n, sizeof *c->times[i].ns, by_time);
}

bool connections_are_mostly_replacements(const struct connections *c)
{
    return 2 * c->n_reused > c->times[CONNECTIONS_ESTABLISHED].n;
}

void connections_free(struct connections *c)
{
    for (int i = 0; i < CONNECTIONS_N_COLUMNS; i++)
        free(c->times[i].ns);
    *c = (struct connections){0};
}
