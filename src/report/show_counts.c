/* SPDX-License-Identifier: MIT
 * show_counts: see report/show_counts.h. */
#include "report/show_counts.h"

#include "base/units.h"
#include "measure/strays.h"
#include "measure/tally.h"
#include "report/figure.h"
#include "report/plain.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <string.h>

struct count {
    const char *path, *text;
};

/* Returns the count at a path; 0: unknown. */
static uint64_t count_at(const struct json_object *result, const char *path)
{
    uint64_t n;

    return result_u64(result, path, &n) ? n : 0;
}

/* "N requested, N connected" */
static void print_counts(FILE *out, const char *title, const struct json_object *result,
                         const struct count *counts, size_t n)
{
    const char *separator = "";
    char text[UNITS_TEXT_BYTES];
    uint64_t value;

    fprintf(out, "%-13s", title);
    for (size_t i = 0; i < n; i++)
        if (result_u64(result, counts[i].path, &value)) {
            fprintf(out, "%s%s %s", separator, units_format_count(text, value), counts[i].text);
            separator = ", ";
        }
    fputc('\n', out);
}

#define PRINT_COUNTS(out, title, result, counts)                                                   \
    print_counts(out, title, result, counts, sizeof(counts) / sizeof *(counts))

/* --- connections --- */

static void print_replacements(FILE *out, const struct json_object *result)
{
    const uint64_t n = count_at(result, "connections.reopened");
    char text[UNITS_TEXT_BYTES];
    double per_s;

    if (n == 0)
        return;
    fprintf(out, "%-13s%s %s attempted", "", units_format_count(text, n),
            units_noun(n, "replacement", "replacements"));
    if (result_double(result, "churn.per_s", &per_s))
        fprintf(out, ", %s/s connected", units_format_tenths(text, per_s));
    fputc('\n', out);
}

static void print_retransmits(FILE *out, const struct json_object *result)
{
    const uint64_t n = count_at(result, "connections.retransmits");
    const uint64_t n_on = count_at(result, "connections.with_retransmits");
    const uint64_t n_syns = count_at(result, "connections.syn_retransmits");
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

    if (n > 0)
        fprintf(out, "%-13s%s %s on %s %s, %s spurious\n", "", units_format_count(a, n),
                units_noun(n, "retransmit", "retransmits"), units_format_count(b, n_on),
                units_noun(n_on, "connection", "connections"),
                units_format_count(c, count_at(result, "connections.needless_retransmits")));
    if (n_syns > 0)
        fprintf(out, "%-13s%s SYN %s in all attempts\n", "", units_format_count(a, n_syns),
                units_noun(n_syns, "retransmit", "retransmits"));
}

static void print_connections(FILE *out, const struct json_object *result)
{
    const struct count counts[] = {{result_connections_requested(result), "requested"},
                                   {"connections.connected", "connected"},
                                   {"connections.proven", "proven"},
                                   {"connections.half_open", "half-open"},
                                   {"connections.live_at_end", "live at the end"}};

    PRINT_COUNTS(out, "Connections", result, counts);
    print_replacements(out, result);
    print_retransmits(out, result);
}

/* Each line only for runs that have such counts. */
static void print_special_counts(FILE *out, const struct json_object *result)
{
    static const struct count recovery[] = {{"recovery.lost", "lost"}, {"recovery.back", "back"}};
    static const struct count demand[] = {{"on_demand.clients", "clients"},
                                          {"on_demand.clients_connected", "tried to connect"},
                                          {"on_demand.waited", "queries waited for a connection"},
                                          {"on_demand.unconnected", "failed with it"}};
    static const struct count keepalive[] = {{"on_demand.keepalive.timeouts", "answers with a "
                                                                              "timeout"},
                                             {"on_demand.keepalive.none", "without"},
                                             {"on_demand.keepalive.malformed", "malformed"}};
    static const struct count tls[] = {{"tls.handshakes", "handshakes"},
                                       {"tls.resumed", "resumed"}};
    static const struct count proxy[] = {{"proxy.headers", "headers sent"}};
    static const struct count udp[] = {{"udp.malformed", "malformed"},
                                       {"udp.dropped", "dropped by this host"}};

    if (result_find(result, "recovery") != NULL)
        PRINT_COUNTS(out, "Recovery", result, recovery);
    if (result_find(result, "on_demand") != NULL)
        PRINT_COUNTS(out, "On demand", result, demand);
    if (result_find(result, "on_demand.keepalive") != NULL)
        PRINT_COUNTS(out, "Keepalive", result, keepalive);
    if (result_find(result, "tls") != NULL)
        PRINT_COUNTS(out, "TLS", result, tls);
    if (result_find(result, "proxy") != NULL)
        PRINT_COUNTS(out, "PROXY", result, proxy);
    if (result_find(result, "udp") != NULL)
        PRINT_COUNTS(out, "UDP", result, udp);
}

/* --- queries --- */

static void print_timeouts(FILE *out, const struct json_object *result)
{
    const uint64_t n_on = count_at(result, "connections.with_timeouts");
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    if (n_on > 0)
        fprintf(out, "%-13sall timeouts%s are on %s %s, %s unresponsive at the end\n", "",
                count_at(result, "warmup.scheduled") > 0 ? " (warm-up included)" : "",
                units_format_count(a, n_on), units_noun(n_on, "connection", "connections"),
                units_format_count(b, count_at(result, "connections.unresponsive_at_end")));
}

static void print_strays(FILE *out, const struct json_object *result)
{
    const uint64_t n_late = count_at(result, "queries.late");
    const uint64_t n_duplicate = count_at(result, "queries.duplicate");
    const uint64_t n_unknown = count_at(result, "queries.unknown_id");
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

    if (n_late > 0 || n_duplicate > 0 || n_unknown > 0)
        fprintf(out, "%-13sstray answers%s: %s late, %s duplicate, %s with unknown id\n", "",
                strays_include(count_at(result, "warmup.scheduled") > 0,
                               count_at(result, "probes.timeout") > 0),
                units_format_count(a, n_late), units_format_count(b, n_duplicate),
                units_format_count(c, n_unknown));
}

static void print_warmup(FILE *out, const struct json_object *result)
{
    const uint64_t n = count_at(result, "warmup.scheduled");
    char text[UNITS_TEXT_BYTES];

    if (n > 0)
        fprintf(out, "%-13s%s more %s, not included\n", "", units_format_count(text, n),
                result_is_search(result) ? "at the start of trials and in overloads"
                                         : "in the warm-up");
}

#define UNANSWERED(count, word, which) {"queries." #count, word},

static void print_queries(FILE *out, const struct json_object *result)
{
    static const struct count queries[] = {{"queries.scheduled", "scheduled"},
                                           {"queries.sent", "sent"},
                                           {"queries.answered", "answered"}};
    static const struct count losses[] = {TALLY_UNANSWERED(UNANSWERED){"queries.unsent", "unsent"}};
    static const struct count moved[] = {{"queries.blocked", "waited for a free id"},
                                         {"queries.rerouted", "moved to another connection"}};

    PRINT_COUNTS(out, "Queries", result, queries);
    PRINT_COUNTS(out, "", result, losses);
    print_timeouts(out, result);
    if (count_at(result, moved[0].path) > 0 || count_at(result, moved[1].path) > 0)
        PRINT_COUNTS(out, "", result, moved);
    print_strays(out, result);
    print_warmup(out, result);
}

struct answers {
    FILE *out;
    const struct json_object *rcodes;
    const char *before; /* the next response code */
};

static void print_rcode(void *arg, const char *name)
{
    struct answers *answers = arg;
    const char *before = answers->before;
    char text[UNITS_TEXT_BYTES], code[PLAIN_BYTES];
    uint64_t n;

    if (!result_u64(answers->rcodes, name, &n))
        return;
    fprintf(answers->out, "%s%s %s", before, units_format_count(text, n), plain(code, name));
    answers->before = ", ";
}

/* Prints nothing if every answer equals its query. */
static void print_answers(FILE *out, const struct json_object *result)
{
    const uint64_t n_echoed = count_at(result, "answers.echoed");
    struct answers answers = {out, result_find(result, "answers.rcodes"), "Answers      "};
    char text[UNITS_TEXT_BYTES];

    if (answers.rcodes == NULL || n_echoed == count_at(result, "queries.answered"))
        return;
    result_each_key(answers.rcodes, print_rcode, &answers);
    fprintf(out, "%s%s truncated", answers.before,
            units_format_count(text, count_at(result, "answers.truncated")));
    if (n_echoed > 0)
        fprintf(out, ", %s echoed", units_format_count(text, n_echoed));
    fputc('\n', out);
}

static void print_rate(FILE *out, const struct json_object *result)
{
    char text[FIGURE_TEXT_BYTES], number[FIGURE_TEXT_BYTES];
    const char *duration = figure_seconds(text, result, "rate.duration_s");
    double achieved_qps;

    if (!result_double(result, "rate.achieved_qps", &achieved_qps))
        return;
    fprintf(out, "%-13s%s q/s achieved", "Rate", units_format_tenths(number, achieved_qps));
    if (figure_requested(number, result) != NULL)
        fprintf(out, ", %s requested", number);
    if (duration != NULL)
        fprintf(out, ", measured for %s", duration);
    duration = figure_seconds(text, result, "rate.paused_s");
    if (duration != NULL && strcmp(duration, "0 s") != 0)
        fprintf(out, ", paused for %s", duration);
    fputc('\n', out);
}

/* --- messages --- */

static void print_messages(FILE *out, const struct json_object *result)
{
    static const struct count messages[] = {{"push.measured", "received"},
                                            {"push.before", "before"},
                                            {"push.after", "after the measurement"}};
    static const struct count losses[] = {
        {"push.lost", "lost"}, {"push.duplicate", "duplicate"}, {"push.damaged", "damaged"}};
    static const struct count unfinished[] = {
        {"push.unfinished_connections", "connections not read to the end"}};
    char text[FIGURE_TEXT_BYTES], number[UNITS_TEXT_BYTES];
    const char *duration = figure_seconds(text, result, "rate.duration_s");
    double per_s;

    PRINT_COUNTS(out, "Messages", result, messages);
    PRINT_COUNTS(out, "", result, losses);
    if (count_at(result, unfinished[0].path) > 0)
        PRINT_COUNTS(out, "", result, unfinished);
    if (result_double(result, "push.messages_per_s", &per_s) && duration != NULL)
        fprintf(out, "%-13s%s messages/s, measured for %s\n", "Rate",
                units_format_tenths(number, per_s), duration);
}

void show_counts(FILE *out, const struct json_object *result)
{
    print_connections(out, result);
    print_special_counts(out, result);
    if (result_is_of_listener(result)) {
        print_messages(out, result);
    } else if (result_has_queries(result)) {
        print_queries(out, result);
        print_answers(out, result);
        print_rate(out, result);
    }
}

void show_counts_server(FILE *out, const struct json_object *result)
{
    static const struct count server[] = {
        {"server.accepted", "accepted"},
        {"server.refused", "refused"},
        {"server.active", "active"},
        {"server.not_accepted", "connected here, but not accepted"}};

    uint64_t n;

    if (!result_u64(result, server[0].path, &n)) /* a server did not answer */
        return;
    fputc('\n', out);
    PRINT_COUNTS(out, "Server", result, server);
}
