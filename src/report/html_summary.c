/* SPDX-License-Identifier: MIT
 * html_summary: the first screen of the page: what was measured, whether it holds, and the figures
 * that readers look for first. */
#include "report/answer_note_reader.h"
#include "report/explanation.h"
#include "report/figure.h"
#include "report/goal_line.h"
#include "report/html_sections.h"
#include "report/html_text.h"
#include "report/mismatch.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <string.h>

/* --- verdict --- */

/* The send lag of messages is the server's. */
static void print_holding_of_messages(FILE *out, const char *valid_to, bool any_holds)
{
    if (strcmp(valid_to, "max") == 0)
        fputs("send lag and the client's host hardly affect the response times.", out);
    else if (strcmp(valid_to, "none") == 0)
        fprintf(out, "send lag or the client's host affects %s of the response time.",
                any_holds ? "the median" : "every percentile");
    else
        html_printf(out,
                    "send lag and the client's host hardly affect the response times up to %s.",
                    valid_to);
}

static void print_holding(FILE *out, const struct json_object *result)
{
    const char *valid_to = result_string(result, "valid_to");
    uint64_t n = 0, n_unanswered = 0;

    (void)result_u64(result, "latency_ns.response.count", &n);
    (void)result_u64(result, "latency_ns.response.over", &n_unanswered);
    if (result_find(result, "broken_law") != NULL)
        html_printf(out, "the counts do not add up (%s), which is a bug in the program.",
                    result_text(result, "broken_law"));
    else if (n == 0 && n_unanswered == 0)
        fputs("no response time was measured.", out);
    else if (result_is_search(result))
        fputs("the latencies are those of all trials of the search together.", out);
    else if (valid_to == NULL)
        fputs("whether the response times reflect the server or the client's host is unknown.",
              out);
    else if (result_is_of_listener(result))
        print_holding_of_messages(out, valid_to, result_any_holds(result));
    else if (strcmp(valid_to, "max") == 0)
        fputs("all percentiles of the response time reflect the server, not the client's host.",
              out);
    else if (strcmp(valid_to, "none") == 0)
        fputs(result_any_holds(result)
                  ? "the median of the response time does not reflect the server alone."
                  : "no percentile of the response time reflects the server alone.",
              out);
    else
        html_printf(
            out,
            "percentiles of the response time up to %s reflect the server, not the client's host.",
            valid_to);
}

static void print_item(FILE *out, const char *text)
{
    fputs("<li>", out);
    html_text(out, text);
    fputs("</li>\n", out);
}

static void print_explanation(FILE *out, const struct json_object *result, unsigned i)
{
    char names[EXPLANATION_INSTANCES_BYTES];

    fputs("<li>", out);
    html_text(out, explanation_instances(names, result, i));
    html_text(out, explanation(result, i));
    fputs("</li>\n", out);
}

static void print_answer_notes(FILE *out, const struct json_object *result)
{
    char text[ANSWER_NOTE_BYTES];

    for (int i = 0; i < ANSWER_N_NOTES; i++)
        if (answer_note_read(text, result, (enum answer_note_kind)i) != NULL) {
            fputs("<p class=\"suspect\">", out);
            html_text(out, text);
            fputs("</p>\n", out);
        }
}

static void print_verdict(FILE *out, const struct json_object *result)
{
    static const char *const classes[] = {
        [RESULT_VALID] = "valid", [RESULT_SUSPECT] = "suspect", [RESULT_INVALID] = "invalid"};
    const enum result_verdict verdict = result_verdict(result);
    char goal[GOAL_LINE_BYTES];

    fprintf(out, "<p class=\"verdict\"><strong class=\"%s\">%s</strong>: ", classes[verdict],
            result_verdict_name(verdict));
    print_holding(out, result);
    fputs("</p>\n", out);
    if (explanation(result, 0) != NULL || result_was_interrupted(result) ||
        goal_line(goal, result, 0) != NULL) {
        fputs("<ul>\n", out);
        for (unsigned i = 0; explanation(result, i) != NULL; i++)
            print_explanation(out, result, i);
        if (result_was_interrupted(result))
            print_item(out, "interrupted: the figures cover the part that ran");
        for (unsigned i = 0; goal_line(goal, result, i) != NULL; i++)
            print_item(out, goal);
        fputs("</ul>\n", out);
    }
}

static void print_mismatch(void *context, const char *text)
{
    FILE *out = context;

    fputs("<p class=\"suspect\">", out);
    html_text(out, text);
    fputs("</p>\n", out);
}

/* --- figures --- */

static void print_figure(FILE *out, const char *title, const char *value)
{
    fputs("<div><dt>", out);
    html_text(out, title);
    fputs("</dt><dd>", out);
    html_text(out, value != NULL ? value : "-");
    fputs("</dd></div>\n", out);
}

static void print_response(FILE *out, const struct json_object *result)
{
    const uint64_t timeout_ns = result_timeout_of_ns(result, "response");
    char text[FIGURE_TEXT_BYTES], title[FIGURE_TEXT_BYTES];
    struct latency l;

    if (!result_latency(result, "response", &l) || l.count + l.over == 0)
        return;
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        if (latency_percentiles[i].den <= 100 && latency_percentiles[i].in_table) {
            snprintf(title, sizeof title, "response %s", latency_percentiles[i].name);
            print_figure(out, title, figure_latency(text, l.percentiles_ns[i], timeout_ns));
        }
    print_figure(out, result_is_of_listener(result) ? "slowest message" : "slowest answer",
                 l.count > 0 ? figure_latency(text, l.max_ns, timeout_ns) : NULL);
}

struct key_figure {
    const char *title, *path;
    const char *(*text)(char *text, const struct json_object *result, const char *path);
};

static void print_key_figures(FILE *out, const struct json_object *result,
                              const struct key_figure *figures, size_t n)
{
    char text[FIGURE_TEXT_BYTES];

    for (size_t i = 0; i < n; i++)
        print_figure(out, figures[i].title, figures[i].text(text, result, figures[i].path));
}

static void print_traffic(FILE *out, const struct json_object *result)
{
    static const struct key_figure queries[] = {
        {"rate requested", "rate.asked_qps", figure_rate},
        {"rate sent", "rate.achieved_qps", figure_rate},
        {"queries sent", "queries.sent", figure_count},
        {"queries answered", "queries.answered", figure_count},
    };
    static const struct key_figure messages[] = {
        {"messages received", "push.measured", figure_count},
        {"messages lost", "push.lost", figure_count},
        {"messages per second", "push.messages_per_s", figure_value},
    };
    char text[FIGURE_TEXT_BYTES];

    if (result_is_of_listener(result)) {
        print_key_figures(out, result, messages, sizeof messages / sizeof *messages);
        return;
    }
    print_figure(out, "answered", figure_answered(text, result));
    print_key_figures(out, result, queries, sizeof queries / sizeof *queries);
}

static void print_figures(FILE *out, const struct json_object *result)
{
    const struct key_figure connections[] = {
        {"connections requested", result_connections_requested(result), figure_count},
        {"connections live at the end", "connections.live_at_end", figure_count},
        {"measured for", "rate.duration_s", figure_seconds},
    };

    fputs("<dl class=\"key\">\n", out);
    print_response(out, result);
    print_traffic(out, result);
    print_key_figures(out, result, connections, sizeof connections / sizeof *connections);
    fputs("</dl>\n", out);
}

/* --- what ran where --- */

/* "title value" for a value that is known, as JSON. */
static void print_known(FILE *out, const struct json_object *result, const char *path,
                        const char *before, const char *after)
{
    const struct json_object *found = result_find(result, path);
    const char *text = result_string(result, path);

    if (found != NULL)
        html_printf(out, "%s%s%s", before, text != NULL ? text : result_text(result, path), after);
}

static bool is_one(const struct json_object *result, const char *path)
{
    uint64_t n;

    return result_u64(result, path, &n) && n == 1;
}

static void print_host(FILE *out, const struct json_object *result)
{
    fputs("<p class=\"soft\">", out);
    print_known(out, result, "program", "", "");
    print_known(out, result, "version", " ", "");
    print_known(out, result, "started", ", started ", "");
    print_known(out, result, "host.kernel", "; Linux ", "");
    print_known(out, result, "host.cpus", ", ", is_one(result, "host.cpus") ? " CPU" : " CPUs");
    print_known(out, result, "host.threads", "; threads: ", "");
    print_known(out, result, "host.pacing", ", pacing ", "");
    print_known(out, result, "host.libevent", ", libevent ", "");
    print_known(out, result, "host.backend", " (", ")");
    print_known(out, result, "seed", "; seed ", "");
    if (result_find(result, "udp") != NULL)
        fputs("; over UDP", out);
    print_known(out, result, "tls.version", "; ", "");
    print_known(out, result, "tls.cipher", " ", "");
    fputs("</p>\n", out);
}

/* A word of a command line as a shell would need it. */
static void print_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";

    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        html_text(out, word);
        return;
    }
    html_text(out, "'");
    for (; *word != '\0'; word += strcspn(word, "'")) {
        if (*word == '\'') {
            html_text(out, "'\\''");
            word++;
        }
        html_printf(out, "%.*s", (int)strcspn(word, "'"), word);
    }
    html_text(out, "'");
}

static void print_command(FILE *out, const struct json_object *result)
{
    const char *word;

    if (result_item(result, "command", 0) == NULL)
        return;
    fputs("<pre class=\"command\">", out);
    for (unsigned i = 0; (word = result_item(result, "command", i)) != NULL; i++) {
        fputs(i > 0 ? " <span>" : "<span>", out);
        print_word(out, word);
        fputs("</span>", out);
    }
    fputs("</pre>\n", out);
}

void html_summary(const struct html_report *r)
{
    const size_t n_instances = result_n_instances(r->result);
    const char *target = result_string(r->result, "target");
    const struct json_object *search = result_find(r->result, "search");
    const struct json_object *sweep = result_find(r->result, "sweep");

    fputs("<header>\n<h1>", r->out);
    if (n_instances > 1)
        html_printf(r->out, "%zu instances of tcpclient", n_instances);
    else
        fputs("tcpclient", r->out);
    html_printf(r->out, " to %s", target != NULL ? target : "several targets");
    fputs("</h1>\n", r->out);
    print_verdict(r->out, r->result);
    print_answer_notes(r->out, r->result);
    mismatch_find(r->runs, print_mismatch, r->out);
    if (search != NULL)
        html_search_answer(r->out, search);
    if (sweep != NULL)
        html_sweep_answer(r->out, sweep);
    print_command(r->out, r->result);
    print_host(r->out, r->result);
    print_figures(r->out, r->result);
    fputs("</header>\n", r->out);
}
