/* SPDX-License-Identifier: MIT
 * client_course: see client/worker/targets.h. */
#include "client/worker/targets.h"

#include "client/worker/worker.h"

#include <stdlib.h>

int client_course_init(struct client_worker *cw)
{
    if (cw->config->course == NULL)
        return 0;
    cw->course.schedule = malloc(sizeof *cw->course.schedule);
    return cw->course.schedule != NULL ? 0 : -1;
}

void client_course_free(struct client_worker *cw)
{
    free(cw->course.schedule);
}

void client_course_take(struct client_worker *cw)
{
    struct client_course *course = cw->config->course;
    uint64_t end_ns;
    uint32_t n, version;

    pthread_mutex_lock(&course->lock);
    *cw->course.schedule = course->schedule;
    end_ns = course->end_ns;
    n = course->n_connections;
    version = course->version;
    pthread_mutex_unlock(&course->lock);
    client_load_replace(cw, cw->course.schedule, end_ns);
    client_population_steer(cw, pacer_connections_of(n, cw->config->n_workers, cw->worker.index));
    atomic_store_explicit(&cw->course.version, version, memory_order_release);
}
