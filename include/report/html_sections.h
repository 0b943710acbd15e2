/* SPDX-License-Identifier: MIT
 * html_sections: the sections of the page about a run, in the order of the page.  Most write
 * nothing if there is nothing to say.  They print the result and judge nothing. */
#ifndef TCPSCALER_REPORT_HTML_SECTIONS_H
#define TCPSCALER_REPORT_HTML_SECTIONS_H

#include "report/metrics.h"
#include "report/recordings.h"

#include <stdbool.h>
#include <stdio.h>

struct html_report {
    FILE *out;
    const struct recordings *runs;    /* one, or instances that ran in parallel */
    const struct json_object *result; /* of the run, or of the instances added up */
    const struct metrics *metrics;    /* likewise */
    const struct recordings *earlier; /* the runs to compare with; may be empty */
    bool can_draw;                    /* false after gnuplot failed once */
};

/* Verdict, capacity, command line, host, counts. */
void html_summary(const struct html_report *r);

/* Times by percentile.  Draws, as do the others that may change the report. */
void html_latency(struct html_report *r);

/* Classes of clients. */
void html_classes(const struct html_report *r);

/* Response times over time, and rates; the connect ramp. */
void html_over_time(struct html_report *r);
void html_ramp(struct html_report *r);

/* How connections and queries ended; what limited the number of connections. */
void html_outcomes(const struct html_report *r);
void html_limits(const struct html_report *r);

/* The trials of a capacity search, with a picture; and its answer as one sentence. */
void html_search(struct html_report *r);
void html_search_answer(FILE *out, const struct json_object *search);

/* The answers of the searches of a sweep, with their curve; and these answers as one sentence. */
void html_sweep(struct html_report *r);
void html_sweep_answer(FILE *out, const struct json_object *sweep);

/* What a connection and a query cost the watched server, with pictures. */
void html_cost(struct html_report *r);

/* The comparison with the earlier runs; the instances that were added up. */
void html_comparison(const struct html_report *r);
void html_instances(const struct html_report *r);

/* Settings, figures of host and server, the result itself. */
void html_details(const struct html_report *r);

#endif
