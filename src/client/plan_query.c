/* SPDX-License-Identifier: MIT
 * client_plan_query: see client/plan_query.h. */
#include "client/plan_query.h"

#include "base/inputs.h"
#include "base/log.h"
#include "base/textfile.h"
#include "protocol/query_init.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_QUERY_FILE_BYTES (1ull << 32)

/* Reports what is wrong with an option of the run or of a class: "--qname: ...". */
static int refuse(const char *class, const char *error)
{
    if (class == NULL)
        return log_error("%s", error);
    return log_error("--class: %s: %s", class, error + strspn(error, "-"));
}

/* Reads the lines of --query-file; the caller frees the text. */
static int read_lines(const char *file, struct query_text *lines, char **text, char *error)
{
    const bool is_stdin = strcmp(file, "-") == 0;

    lines->file = is_stdin ? "stdin" : file;
    lines->text = *text =
        textfile_read(is_stdin ? NULL : file, MOST_QUERY_FILE_BYTES, &lines->n_bytes);
    if (!is_stdin)
        inputs_add(file);
    if (*text != NULL)
        return 0;
    snprintf(error, QUERY_ERROR_BYTES, "--query-file: cannot read '%.200s': %s", file,
             strerror(errno));
    return -1;
}

int client_plan_query(struct query *query, const struct client_opts *o, const char *class)
{
    struct query_ask ask = {
        .qname = o->qname,
        .qtype = o->qtype,
        .edns = {.udp_bytes = (uint16_t)o->edns_bytes,
                 .padding_bytes = (uint16_t)o->padding_bytes,
                 .dnssec = o->dnssec,
                 .keepalive = o->keepalive},
        .size_bytes = o->size_bytes,
    };
    char error[QUERY_ERROR_BYTES], *text = NULL;
    int failed;

    if (o->query_file != NULL && read_lines(o->query_file, &ask.lines, &text, error) != 0)
        return refuse(class, error);
    failed = query_init(query, (enum query_kind)o->protocol, &ask, error);
    free(text);
    return failed ? refuse(class, error) : 0;
}

int client_plan_queries(struct client_config *config, struct query *sizes,
                        const struct client_opts *o)
{
    struct client_opts of_size = *o;
    int failed;

    config->listens = o->protocol == CLIENT_PROTOCOL_LISTEN;
    if (config->listens)
        return 0;
    failed = client_plan_query(&config->query, o, NULL);
    for (unsigned i = 0; o->sweep_axis == CLIENT_SWEEP_SIZE && !failed && i < o->n_sweep; i++) {
        of_size.size_bytes = o->sweep_values[i];
        failed = client_plan_query(&sizes[i], &of_size, NULL);
        config->sizes = sizes;
        config->n_sizes = o->n_sweep;
    }
    return failed;
}

void client_plan_queries_free(struct client_config *config, struct query *sizes)
{
    query_free(&config->query);
    for (unsigned i = 0; i < CLIENT_SWEEP_MOST; i++)
        query_free(&sizes[i]);
}
