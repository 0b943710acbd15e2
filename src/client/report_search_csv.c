/* SPDX-License-Identifier: MIT
 * report_search_csv: see client/report_search_csv.h. */
#include "client/report_search_csv.h"

#include "client/report_search.h"
#include "client/search/search_names.h"
#include "measure/latency.h"

#include <inttypes.h>

static void print_field(FILE *out, uint64_t ns)
{
    if (ns != LATENCY_UNKNOWN && ns != HIST_BEYOND)
        fprintf(out, "%" PRIu64, ns);
    fputc(',', out);
}

static void print_count(FILE *out, uint64_t n)
{
    fputc(',', out);
    if (n != UINT64_MAX)
        fprintf(out, "%" PRIu64, n);
}

void report_search_csv_header(FILE *out)
{
    fputs("step,load,begin_s,duration_s,class,reason,scheduled,lost,p50_ns,p99_ns,live,connect_p99_"
          "ns,syn_retransmits,listen_overflows,not_opened,at,handshakes,resumed\n",
          out);
}

void report_search_csv(FILE *out, const struct client_find *find, uint64_t at)
{
    for (size_t i = 0; i < find->search.n; i++) {
        const struct search_trial *t = &find->search.trials[i];
        const struct client_find_trial *seen = &find->trials[i];
        const char *reason = report_search_reason(find, t);
        const bool counted = report_search_is_judged(t);

        fprintf(out, "%s,%.10g,%.6f,%.6f,%s,%s", search_step_name(t->order.step), t->order.load,
                (double)seen->begin_ns / 1e9, (double)t->measured_ns / 1e9,
                counted ? trial_class_name(t->judgment.class) : "", reason != NULL ? reason : "");
        print_count(out, counted ? seen->figures.n_due : UINT64_MAX);
        print_count(out, counted ? seen->n_lost : UINT64_MAX);
        fputc(',', out);
        print_field(out, seen->p50_ns);
        print_field(out, seen->p99_ns);
        fprintf(out, "%" PRIu64 ",", seen->live);
        print_field(out, seen->connect_p99_ns);
        if (counted)
            fprintf(out, "%" PRIu64, seen->syn_retransmits);
        print_count(out, counted ? seen->overflows : UINT64_MAX);
        print_count(out, counted ? seen->figures.n_not_opened : UINT64_MAX);
        print_count(out, at > 0 ? at : UINT64_MAX);
        print_count(out, counted ? seen->handshakes : UINT64_MAX);
        print_count(out, counted ? seen->resumed : UINT64_MAX);
        fputc('\n', out);
    }
}
