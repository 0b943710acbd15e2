/* SPDX-License-Identifier: MIT
 * client_intervals: see client/intervals.h. */
#include "client/intervals.h"

#include "base/text_stream.h"
#include "measure/hlog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int client_intervals_init(struct client_intervals *iv, struct client_workers *workers,
                          struct output *log, struct hist *total, struct batch_means *batches,
                          uint64_t origin_ns)
{
    int failed = 0;

    *iv = (struct client_intervals){.workers = workers,
                                    .log = log,
                                    .total = total,
                                    .batches = batches,
                                    .origin_ns = origin_ns,
                                    .previous_ns = origin_ns,
                                    .last_ns = origin_ns};
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++) {
        failed |= hist_init(&total[m]);
        failed |= hist_init(&iv->interval[m]);
    }
    failed |= hist_init(&iv->recent);
    return failed;
}

void client_intervals_free(struct client_intervals *iv)
{
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_free(&iv->interval[m]);
    hist_free(&iv->recent);
    for (uint32_t k = 0; k < CLIENT_CLASS_MOST; k++)
        client_class_times_free(&iv->class_intervals[k]);
}

int client_intervals_add_classes(struct client_intervals *iv, const struct client_class *classes,
                                 uint32_t n_classes, struct client_class_times *class_totals)
{
    iv->classes = classes;
    iv->n_classes = n_classes;
    iv->class_totals = class_totals;
    for (uint32_t k = 0; k < n_classes; k++)
        if (client_class_times_init(&iv->class_intervals[k]) != 0 ||
            client_class_times_init(&class_totals[k]) != 0)
            return -1;
    return 0;
}

/* Where the lines of an interval go, and which interval it is. */
struct lines {
    FILE *out;
    uint64_t begin_ns, length_ns; /* since time 0 of the log */
};

/* Like print(), below. */
static int print_hist(const struct lines *lines, const char *tag, const struct hist *h)
{
    return h->count + h->beyond == 0
               ? 0
               : hlog_interval(lines->out, tag, lines->begin_ns, lines->length_ns, h);
}

static int print_class(const struct lines *lines, const struct client_class *class,
                       const struct client_class_times *times)
{
    char tag[CLIENT_CLASS_METRIC_BYTES];
    int failed = print_hist(lines, client_class_metric(tag, "response", class), &times->response);

    return failed | print_hist(lines, client_class_metric(tag, "service", class), &times->service);
}

/* Returns 0, or -1 if out of memory. */
static int print(const struct client_intervals *iv, FILE *out, uint64_t begin_ns, uint64_t end_ns)
{
    static const char *const tags[CLIENT_N_QUERY_METRICS] = {
        [CLIENT_RESPONSE] = NULL,
        [CLIENT_SERVICE] = "service",
        [CLIENT_SEND_LAG] = "send_lag",
        [CLIENT_NET] = "net",
        [CLIENT_OWN] = "own",
        [CLIENT_OPEN_LAG] = "open_lag",
        [CLIENT_DUE_CONNECTED] = "due_to_connected",
        [CLIENT_DUE_SECURED] = "due_to_secured",
        [CLIENT_DUE_ANSWERED] = "due_to_answered",
        [CLIENT_OPEN_ANSWERED] = "open_to_answered",
    };
    const struct lines lines = {
        .out = out, .begin_ns = begin_ns - iv->origin_ns, .length_ns = end_ns - begin_ns};
    int failed = 0;

    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        failed |= print_hist(&lines, tags[m], &iv->interval[m]);
    for (uint32_t k = 0; k < iv->n_classes; k++)
        failed |= print_class(&lines, &iv->classes[k], &iv->class_intervals[k]);
    return failed;
}

/* Either all lines of an interval reach the log, or none. */
static void put(struct client_intervals *iv, uint64_t begin_ns, uint64_t end_ns)
{
    struct text_stream t;
    size_t n_bytes;
    char *text;
    const int failed = text_stream_open(&t) != 0 ? -1 : print(iv, t.out, begin_ns, end_ns);

    text = text_stream_close(&t, &n_bytes);
    if (failed || text == NULL) {
        iv->failed = true;
        output_say_lost(iv->log, ENOMEM, "values of an interval", false);
        free(text);
    } else {
        output_put(iv->log, text, n_bytes);
    }
}

/* Adds iv->interval, which covers begin_ns to end_ns. */
static void account(struct client_intervals *iv, uint64_t begin_ns, uint64_t end_ns)
{
    if (iv->log != NULL)
        put(iv, begin_ns, end_ns);
    hist_reset(&iv->recent);
    hist_merge(&iv->recent, &iv->interval[CLIENT_RESPONSE]);
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++) {
        hist_merge(&iv->total[m], &iv->interval[m]);
        if (iv->also != NULL)
            hist_merge(&iv->also[m], &iv->interval[m]);
        batch_means_add(&iv->batches[m], iv->interval[m].count, hist_mean_ns(&iv->interval[m]));
        hist_reset(&iv->interval[m]);
    }
    for (uint32_t k = 0; k < iv->n_classes; k++) {
        client_class_times_merge(&iv->class_totals[k], &iv->class_intervals[k]);
        client_class_times_reset(&iv->class_intervals[k]);
    }
}

static void collect_handed_over(struct client_intervals *iv)
{
    for (uint32_t i = 0; i < iv->workers->n; i++)
        client_figures_collect(&iv->workers->all[i].figures, iv->interval, iv->class_intervals);
    account(iv, iv->previous_ns, iv->last_ns);
}

void client_intervals_tick(struct client_intervals *iv, uint64_t now_ns)
{
    collect_handed_over(iv);
    iv->previous_ns = iv->last_ns;
    iv->last_ns = now_ns;
    client_workers_post(iv->workers, CLIENT_HAND_OVER, 0);
}

bool client_intervals_are_handed_over(const struct client_intervals *iv)
{
    for (uint32_t i = 0; i < iv->workers->n; i++)
        if (!client_figures_are_handed_over(&iv->workers->all[i].figures))
            return false;
    return true;
}

void client_intervals_finish(struct client_intervals *iv, uint64_t now_ns)
{
    collect_handed_over(iv);
    for (uint32_t i = 0; i < iv->workers->n; i++)
        client_figures_collect_rest(&iv->workers->all[i].figures, iv->interval,
                                    iv->class_intervals);
    account(iv, iv->last_ns, now_ns);
}
