/* SPDX-License-Identifier: MIT
 * client_figures: see client/worker/figures.h. */
#include "client/worker/figures.h"

#include <stdlib.h>

int client_figures_init(struct client_figures *f, uint32_t n_connections, bool with_records,
                        uint32_t n_classes)
{
    f->metrics = f->sets[0];
    f->n_classes = n_classes;
    if (n_classes > 0 && (f->classes = client_class_figures_new(n_classes)) == NULL)
        return -1;
    f->least_push_ns = INT64_MAX;
    if (with_records) {
        f->records = calloc(n_connections, sizeof *f->records);
        if (f->records == NULL)
            return -1;
    }
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        if (hist_init(&f->sets[0][m]) != 0 || hist_init(&f->sets[1][m]) != 0)
            return -1;
    return hist_init(&f->connect_times) != 0 || hist_init(&f->handshake_times) != 0 ||
                   hist_init(&f->min_rtts) != 0 || losses_init(&f->losses) != 0
               ? -1
               : 0;
}

void client_figures_free(struct client_figures *f)
{
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++) {
        hist_free(&f->sets[0][m]);
        hist_free(&f->sets[1][m]);
    }
    hist_free(&f->connect_times);
    hist_free(&f->handshake_times);
    hist_free(&f->min_rtts);
    hist_free(&f->gaps);
    hist_free(&f->recoveries);
    client_class_figures_free(f->classes, f->n_classes);
    losses_free(&f->losses);
    timeout_counts_free(&f->timeouts);
    free(f->records);
    free(f->setup_times);
}

/* Only swaps pointers. */
void client_figures_hand_over(struct client_figures *f)
{
    const uint32_t n = atomic_load_explicit(&f->n_handed_over, memory_order_relaxed);

    if (atomic_load_explicit(&f->n_collected, memory_order_acquire) != n)
        return;
    f->set = (n + 1) % 2;
    f->metrics = f->sets[f->set];
    atomic_store_explicit(&f->n_handed_over, n + 1, memory_order_release);
}

static void collect_set(struct client_figures *f, uint32_t i, struct hist *into,
                        struct client_class_times *of_classes)
{
    struct hist *set = f->sets[i];

    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++) {
        hist_merge(&into[m], &set[m]);
        hist_reset(&set[m]);
    }
    for (uint32_t k = 0; k < f->n_classes; k++) {
        client_class_times_merge(&of_classes[k], &f->classes[k].sets[i]);
        client_class_times_reset(&f->classes[k].sets[i]);
    }
}

bool client_figures_are_handed_over(const struct client_figures *f)
{
    return atomic_load_explicit(&f->n_handed_over, memory_order_acquire) !=
           atomic_load_explicit(&f->n_collected, memory_order_relaxed);
}

void client_figures_collect(struct client_figures *f, struct hist *into,
                            struct client_class_times *of_classes)
{
    const uint32_t n = atomic_load_explicit(&f->n_handed_over, memory_order_acquire);

    if (atomic_load_explicit(&f->n_collected, memory_order_relaxed) == n)
        return;
    collect_set(f, (n + 1) % 2, into, of_classes);
    atomic_store_explicit(&f->n_collected, n, memory_order_release);
}

void client_figures_collect_rest(struct client_figures *f, struct hist *into,
                                 struct client_class_times *of_classes)
{
    collect_set(f, 0, into, of_classes);
    collect_set(f, 1, into, of_classes);
}
