/* SPDX-License-Identifier: MIT
 * programs: see programs.h. */
#include "programs.h"

#include "client/opts.h"
#include "config/options_config.h"
#include "config/options_value.h"
#include "file.h"
#include "server/opts.h"

#include <string.h>

enum { NAME_BYTES = 64 };

/* --- the programs --- */

union settings {
    struct client_opts client;
    struct server_opts server;
};

static enum options_result parse_client(union settings *s, int argc, char **argv, FILE *out,
                                        char *error)
{
    return client_opts_parse(&s->client, argc, argv, out, error);
}

static enum options_result parse_server(union settings *s, int argc, char **argv, FILE *out,
                                        char *error)
{
    return server_opts_parse(&s->server, argc, argv, out, error);
}

static void check_client(const union settings *s)
{
    const struct client_opts *o = &s->client;

    REQUIRE(o->server.host[0] != '\0' && o->server.port != 0);
    REQUIRE(o->connections >= 1 && o->connections <= CLIENT_OPTS_MOST_CONNECTIONS);
    REQUIRE(o->conn_schedule != NULL || o->threads <= o->connections);
    REQUIRE(o->waits.first_ns > 0 && o->waits.first_ns <= o->waits.most_ns);
    REQUIRE(o->sample_one_in >= 1 && o->connect_window >= 1);
    REQUIRE(client_opts_has_schedule(o) + (o->interval_ns > 0) <= 1);
    REQUIRE(client_opts_rate_qps(o) >= 0);
}

static void check_server(const union settings *s)
{
    const struct server_opts *o = &s->server;

    REQUIRE(o->bind != NULL && o->bind[0] != '\0');
    REQUIRE(o->push_rate_per_s >= 0 && o->push_rate_per_s <= 1e9);
}

static const struct program {
    struct options *(*table)(void);
    enum options_result (*parse)(union settings *s, int argc, char **argv, FILE *out, char *error);
    void (*check)(const union settings *s);
} programs[] = {
    {client_opts_table, parse_client, check_client},
    {server_opts_table, parse_server, check_server},
};

/* --- properties --- */

static void check_ranges(const struct options *table, const union settings *s)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct option_row *row = &table->rows[i];
        const char *field = (const char *)s + row->offset;

        if (table->given[i] == OPTIONS_DEFAULT)
            continue;
        if (row->kind == OPTION_COUNT || row->kind == OPTION_BYTES || row->kind == OPTION_DURATION)
            REQUIRE(*(const uint64_t *)field >= row->min &&
                    (row->max == 0 || *(const uint64_t *)field <= row->max));
        if (row->kind == OPTION_CHOICE) {
            char name[NAME_BYTES];

            REQUIRE(*options_choice(row->choices, *(const int *)field, name, sizeof name) != '\0');
        }
        if (row->kind == OPTION_TEXT)
            REQUIRE(**(const char *const *)field != '\0');
    }
}

static void print(const struct program *p, const union settings *s, char **text, size_t *n_bytes)
{
    FILE *out = open_memstream(text, n_bytes);

    REQUIRE(out != NULL);
    options_print_config(p->table(), s, out);
    REQUIRE(fclose(out) == 0);
}

static void require_same_again(const struct program *p, const union settings *s)
{
    static struct fuzz_file file;
    char error[OPTIONS_ERROR_BYTES], *first, *second, word[] = "fuzz", option[] = "--config";
    char *argv[] = {word, option, file.name, NULL};
    size_t n_first, n_second;
    union settings again;

    print(p, s, &first, &n_first);
    fuzz_file_write(&file, first, n_first);
    REQUIRE(p->parse(&again, 3, argv, stdout, error) == OPTIONS_RUN);
    print(p, &again, &second, &n_second);
    REQUIRE(strcmp(first, second) == 0);
    free(first);
    free(second);
}

static void take(const struct program *p, int argc, char **argv)
{
    char error[OPTIONS_ERROR_BYTES] = "", *printed = NULL;
    size_t n_printed = 0;
    FILE *out = open_memstream(&printed, &n_printed);
    enum options_result result;
    union settings s;

    REQUIRE(out != NULL);
    result = p->parse(&s, argc, argv, out, error);
    REQUIRE(fclose(out) == 0);
    REQUIRE((result == OPTIONS_EXIT) == (n_printed > 0));
    free(printed);
    if (result == OPTIONS_USAGE)
        REQUIRE(error[0] != '\0' && strnlen(error, sizeof error) < sizeof error);
    if (result != OPTIONS_RUN)
        return;
    check_ranges(p->table(), &s);
    p->check(&s);
    require_same_again(p, &s);
}

void fuzz_command_line(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        take(&programs[i], argc, argv);
}
