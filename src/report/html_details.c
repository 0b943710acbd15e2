/* SPDX-License-Identifier: MIT
 * html_details: the last section: what the client's host and the server counted, all settings, and
 * the result itself. */
#include "measure/memory_per_connection.h"
#include "report/figure.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/result.h"

struct figure_row {
    const char *title, *path;
    const char *(*text)(char *text, const struct json_object *result, const char *path);
};

/* NULL: there were too few connections, or it is unknown. */
static const char *memory_per_connection(char *text, const struct json_object *result,
                                         const char *path)
{
    double n_live, n_half_open = 0;

    (void)result_double(result, "connections.half_open", &n_half_open);
    if (result_double(result, "connections.live_at_end", &n_live) &&
        n_live + n_half_open < MEMORY_PER_CONNECTION_LEAST)
        return NULL;
    return figure_bytes(text, result, path);
}

static const struct figure_row client_rows[] = {
    {"CPU time, user", "resources.user_s", figure_seconds},
    {"CPU time, system", "resources.system_s", figure_seconds},
    {"resident memory", "resources.rss_bytes", figure_bytes},
    {"resident memory per connection", "resources.rss_bytes_per_connection", memory_per_connection},
    {"kernel slab memory per connection", "resources.slab_bytes_per_connection",
     memory_per_connection},
    {"involuntary context switches", "resources.involuntary_switches", figure_count},
    {"segments retransmitted", "resources.retransmits", figure_count},
    {"bytes sent", "resources.bytes_sent", figure_bytes},
    {"bytes received", "resources.bytes_received", figure_bytes},
    {"packets sent, all programs", "network.tx_packets", figure_count},
    {"packets received, all programs", "network.rx_packets", figure_count},
};
static const struct figure_row server_rows[] = {
    {"connections accepted", "server.accepted", figure_count},
    {"connections refused", "server.refused", figure_count},
    {"connected, never accepted", "server.not_accepted", figure_count},
    {"active at the end", "server.active", figure_count},
    {"bytes received", "server.bytes_received", figure_bytes},
    {"bytes sent", "server.bytes_sent", figure_bytes},
    {"pauses in accepting", "server.accept_pauses", figure_count},
    {"pauses due to back pressure", "server.back_pressure_pauses", figure_count},
    {"listen queue overflows", "server.listen_overflows", figure_count},
    {"listen queue drops", "server.listen_drops", figure_count},
};

static const struct html_column columns[] = {{"", true}, {"value", false}};

static void print_figures(FILE *out, const char *caption, const struct json_object *result,
                          const struct figure_row *rows, size_t n)
{
    char text[FIGURE_TEXT_BYTES];

    html_table_begin(out, caption, columns, 2);
    for (size_t i = 0; i < n; i++)
        html_table_row(out, columns,
                       (const char *[]){rows[i].title, rows[i].text(text, result, rows[i].path)},
                       2);
    html_table_end(out);
}

struct settings {
    FILE *out;
    const struct json_object *options;
};

static const char *share_text(char *text, const struct json_object *backend, const char *path)
{
    double share;

    if (!result_double(backend, path, &share))
        return NULL;
    snprintf(text, FIGURE_TEXT_BYTES, "%.1f %%", 100 * share);
    return text;
}

/* Prints nothing for a single server. */
static void print_backends(FILE *out, const struct json_object *result)
{
    static const struct html_column of_backends[] = {{"server", true},    {"accepted", false},
                                                     {"share", false},    {"active", false},
                                                     {"received", false}, {"share", false}};
    const struct json_object *b;
    char texts[5][FIGURE_TEXT_BYTES];

    if (result_element(result, "server.backends", 1) == NULL)
        return;
    html_table_begin(out, "Each tcpserver", of_backends, 6);
    for (size_t i = 0; (b = result_element(result, "server.backends", i)) != NULL; i++)
        html_table_row(out, of_backends,
                       (const char *[]){result_string(b, "address"),
                                        figure_count(texts[0], b, "accepted"),
                                        share_text(texts[1], b, "accepted_share"),
                                        figure_count(texts[2], b, "active"),
                                        figure_bytes(texts[3], b, "bytes_received"),
                                        share_text(texts[4], b, "bytes_received_share")},
                       6);
    html_table_end(out);
}

static void print_setting(void *arg, const char *name)
{
    static const struct html_column text_columns[] = {{"", true}, {"value", true}};
    const struct settings *s = arg;
    const char *text = result_string(s->options, name);

    if (text == NULL && result_find(s->options, name) != NULL)
        text = result_text(s->options, name);
    html_table_row(s->out, text_columns, (const char *[]){name, text}, 2);
}

static void print_settings(FILE *out, const struct json_object *result)
{
    static const struct html_column text_columns[] = {{"option", true}, {"value", true}};
    struct settings s = {out, result_find(result, "options")};

    if (s.options == NULL)
        return;
    fputs("<details>\n<summary>All settings</summary>\n", out);
    html_table_begin(out, "Options as given or by default; times in seconds", text_columns, 2);
    result_each_key(s.options, print_setting, &s);
    html_table_end(out);
    fputs("</details>\n", out);
}

/* Puts each element of its long lists on a line of its own: this halves the page of a search. */
static void print_json(FILE *out, struct json_object *result)
{
    struct json_object *point;

    result_put_rows_on_lines(result, "server_cost.samples");
    result_put_rows_on_lines(result, "search.trials");
    for (size_t i = 0;
         (point = (struct json_object *)result_element(result, "sweep.points", i)) != NULL; i++)
        result_put_rows_on_lines(point, "search.trials");
    fputs("<details>\n<summary>The result as JSON</summary>\n<pre id=\"result\">", out);
    html_content(out, result_text(result, ""));
    fputs("</pre>\n</details>\n", out);
}

void html_details(const struct html_report *r)
{
    fputs("<section>\n<h2>Details</h2>\n", r->out);
    if (result_find(r->result, "resources") != NULL)
        print_figures(r->out, "The client's host", r->result, client_rows,
                      sizeof client_rows / sizeof *client_rows);
    if (result_find(r->result, "server") != NULL)
        print_figures(r->out, "What tcpserver counted", r->result, server_rows,
                      sizeof server_rows / sizeof *server_rows);
    print_backends(r->out, r->result);
    print_settings(r->out, r->result);
    print_json(r->out, (struct json_object *)r->result);
    fputs("</section>\n", r->out);
}
