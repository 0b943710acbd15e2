/* SPDX-License-Identifier: MIT
 * client_class: see client/worker/class.h. */
#include "client/worker/class.h"

#include "workload/pacer.h"

#include <stddef.h>
#include <stdio.h>

uint32_t client_class_first_slot(const struct client_class *class, uint32_t n_workers,
                                 uint32_t worker)
{
    return pacer_connections_of(class->n_before, n_workers, worker);
}

uint32_t client_class_n_slots(const struct client_class *class, uint32_t n_workers, uint32_t worker)
{
    return pacer_connections_of(class->n_before + class->n_connections, n_workers, worker) -
           pacer_connections_of(class->n_before, n_workers, worker);
}

const struct client_class *client_class_of_slot(const struct client_class *classes,
                                                uint32_t n_classes, uint32_t n_workers,
                                                uint32_t worker, uint32_t slot)
{
    for (uint32_t k = n_classes; k > 0; k--)
        if (slot >= client_class_first_slot(&classes[k - 1], n_workers, worker))
            return &classes[k - 1];
    return NULL;
}

uint32_t client_class_position(const struct client_class *class, uint32_t n_workers,
                               uint32_t worker)
{
    return (worker + n_workers - class->n_before % n_workers) % n_workers;
}

const char *client_class_metric(char text[CLIENT_CLASS_METRIC_BYTES], const char *metric,
                                const struct client_class *class)
{
    snprintf(text, CLIENT_CLASS_METRIC_BYTES, "%s:%s", metric, class->name);
    return text;
}

uint64_t client_class_seed(uint64_t seed, uint32_t k)
{
    return seed + k * 0xd1342543de82ef95ull;
}
