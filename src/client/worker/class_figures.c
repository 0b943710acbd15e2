/* SPDX-License-Identifier: MIT
 * client_class_figures: see client/worker/class_figures.h. */
#include "client/worker/class_figures.h"

#include <stdlib.h>

struct client_class_figures *client_class_figures_new(uint32_t n)
{
    struct client_class_figures *all = calloc(n, sizeof *all);

    for (uint32_t i = 0; all != NULL && i < n; i++)
        if (client_class_times_init(&all[i].sets[0]) != 0 ||
            client_class_times_init(&all[i].sets[1]) != 0) {
            client_class_figures_free(all, n);
            return NULL;
        }
    return all;
}

void client_class_figures_free(struct client_class_figures *all, uint32_t n)
{
    for (uint32_t i = 0; all != NULL && i < n; i++) {
        client_class_times_free(&all[i].sets[0]);
        client_class_times_free(&all[i].sets[1]);
    }
    free(all);
}

int client_class_times_init(struct client_class_times *times)
{
    return hist_init(&times->response) != 0 || hist_init(&times->service) != 0 ? -1 : 0;
}

void client_class_times_free(struct client_class_times *times)
{
    hist_free(&times->response);
    hist_free(&times->service);
}

void client_class_times_merge(struct client_class_times *into,
                              const struct client_class_times *from)
{
    hist_merge(&into->response, &from->response);
    hist_merge(&into->service, &from->service);
}

void client_class_times_reset(struct client_class_times *times)
{
    hist_reset(&times->response);
    hist_reset(&times->service);
}
