/* SPDX-License-Identifier: MIT
 * client_plan_query: see client/plan_query.h. */
#include "client/plan_query.h"

#include "base/inputs.h"
#include "base/log.h"
#include "base/textfile.h"
#include "protocol/query_init.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_QUERY_FILE_BYTES (1ull << 32)

/* Reads the lines of --query-file; the caller frees the text. */
static int read_lines(const char *file, struct query_text *lines, char **text)
{
    const bool is_stdin = strcmp(file, "-") == 0;

    lines->file = is_stdin ? "stdin" : file;
    lines->text = *text =
        textfile_read(is_stdin ? NULL : file, MOST_QUERY_FILE_BYTES, &lines->n_bytes);
    if (!is_stdin)
        inputs_add(file);
    if (*text == NULL)
        return log_error("--query-file: cannot read '%s': %s", file, strerror(errno));
    return 0;
}

int client_plan_query(struct query *query, const struct client_opts *o)
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

    if (o->query_file != NULL && read_lines(o->query_file, &ask.lines, &text) != 0)
        return -1;
    failed = query_init(query, (enum query_kind)o->protocol, &ask, error);
    free(text);
    return failed ? log_error("%s", error) : 0;
}

int client_plan_queries(struct client_config *config, struct query *sizes,
                        const struct client_opts *o)
{
    struct client_opts of_size = *o;
    int failed;

    config->listens = o->protocol == CLIENT_PROTOCOL_LISTEN;
    if (config->listens)
        return 0;
    failed = client_plan_query(&config->query, o);
    for (unsigned i = 0; o->sweep_axis == CLIENT_SWEEP_SIZE && !failed && i < o->n_sweep; i++) {
        of_size.size_bytes = o->sweep_values[i];
        failed = client_plan_query(&sizes[i], &of_size);
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
