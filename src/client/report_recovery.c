/* SPDX-License-Identifier: MIT
 * report_recovery: see client/report_recovery.h. */
#include "client/report_recovery.h"

#include "base/units.h"

#include <inttypes.h>

/* What happened since the load began. */
struct since_load {
    uint64_t syn_retransmits;
    uint64_t listen_overflows, listen_drops; /* of this host; UINT64_MAX: unknown */
};

static struct since_load since_load(const struct client_result *r)
{
    const struct host_counters *loaded = &r->host_loaded, *after = &r->host_after;

    return (struct since_load){
        .syn_retransmits =
            tally_get(&r->tally.connections.syn_retransmits) - r->syn_retransmits_loaded,
        .listen_overflows =
            !r->loaded ? UINT64_MAX
                       : host_counters_delta(after->listen_overflows, loaded->listen_overflows),
        .listen_drops = !r->loaded ? UINT64_MAX
                                   : host_counters_delta(after->listen_drops, loaded->listen_drops),
    };
}

/* Prints percentiles however few the values: they cover every loss, so none is an estimate. */
static void print_shares(FILE *out, const struct hist *h)
{
    static const uint32_t percents[] = {50, 90, 99};
    char text[UNITS_TEXT_BYTES];

    for (int i = 0; i < 3; i++) {
        const uint64_t ns = hist_percentile(h, percents[i], 100);

        fprintf(out, "%s %" PRIu32 " %% ", i == 0 ? ":" : ",", percents[i]);
        if (ns == HIST_BEYOND)
            fputs("never", out);
        else
            fprintf(out, "within %s", units_format_duration(text, ns));
    }
    if (h->beyond == 0)
        fprintf(out, ", all within %s", units_format_duration(text, h->max_ns));
}

void report_recovery_text(FILE *out, const struct client_result *r)
{
    const struct hist *h = &r->metrics[CLIENT_RECOVERY];
    const struct since_load s = since_load(r);
    const uint64_t n_lost = h->count + h->beyond;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

    if (n_lost == 0)
        return;
    fprintf(out, "Recovery     %s %s lost, %s back", units_format_count(a, n_lost),
            units_noun(n_lost, "connection", "connections"), units_format_count(b, h->count));
    print_shares(out, h);
    fprintf(out, "\n             since the load began: %s SYN %s",
            units_format_count(a, s.syn_retransmits),
            units_noun(s.syn_retransmits, "retransmit", "retransmits"));
    if (s.listen_overflows != UINT64_MAX && s.listen_drops != UINT64_MAX)
        fprintf(out, "; on this host %s listen %s, %s %s",
                units_format_count(b, s.listen_overflows),
                units_noun(s.listen_overflows, "overflow", "overflows"),
                units_format_count(c, s.listen_drops), units_noun(s.listen_drops, "drop", "drops"));
    fputc('\n', out);
}

void report_recovery_json(struct json *j, const struct client_result *r)
{
    const struct hist *h = &r->metrics[CLIENT_RECOVERY];
    const struct since_load s = since_load(r);

    if (!json_object_begin_if(j, "recovery", h->count + h->beyond > 0))
        return;
    json_u64(j, "lost", h->count + h->beyond);
    json_u64(j, "back", h->count);
    json_u64(j, "syn_retransmits", s.syn_retransmits);
    json_known_u64(j, "listen_overflows", s.listen_overflows);
    json_known_u64(j, "listen_drops", s.listen_drops);
    json_object_end(j);
}
