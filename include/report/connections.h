/* SPDX-License-Identifier: MIT
 * connections: the times in the rows of --connections-out, whose columns are found by their names.
 * Pure. */
#ifndef TCPSCALER_REPORT_CONNECTIONS_H
#define TCPSCALER_REPORT_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In ns since the program began to connect. */
struct connection_times {
    uint64_t *ns; /* in order of time once sorted */
    size_t n;
};

enum connections_column {
    CONNECTIONS_ESTABLISHED, /* established_s */
    CONNECTIONS_LOST,        /* lost_s */
    CONNECTIONS_BACK,        /* back_s */
    CONNECTIONS_N_COLUMNS
};

/* Zeroed: empty. */
struct connections {
    struct connection_times times[CONNECTIONS_N_COLUMNS];
    int columns[CONNECTIONS_N_COLUMNS]; /* index of each in a row; -1: the file has no such column
                                         */
    int count_column;                   /* likewise: how many connections used the slot */
    bool has_count;                     /* the file has that column */
    uint64_t n_attempted;               /* its sum: connections.attempted of the result */
    size_t n_reused;                    /* slots that several connections used */
};

/* Whether the first line of a file says that it has connections. */
bool connections_is_header(const char *line);

/* Reads the header, and then row by row.  Each returns NULL, or what is wrong. */
const char *connections_begin(struct connections *c, const char *header);
const char *connections_add(struct connections *c, const char *row);

/* Call it after the last row. */
void connections_sort(struct connections *c);

/* Whether most of the connections established replaced earlier ones, whose times are not known. */
bool connections_are_mostly_replacements(const struct connections *c);

void connections_free(struct connections *c);

#endif
