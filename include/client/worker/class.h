/* SPDX-License-Identifier: MIT
 * client_class: a class of clients (--class): how its connections differ from those of others.
 *
 * The connections are dealt to the classes in order, and within each to the workers like cards, so
 * that every worker has its share of each class, in consecutive slots.  Pure; constant while the
 * workers run. */
#ifndef TCPSCALER_CLIENT_WORKER_CLASS_H
#define TCPSCALER_CLIENT_WORKER_CLASS_H

#include "net/sock_address.h"

#include <stdbool.h>
#include <stdint.h>

#define CLIENT_CLASS_MOST       16u /* client_conn.class_index has 4 bits */
#define CLIENT_CLASS_NAME_BYTES 17

/* "response:stub" */
#define CLIENT_CLASS_METRIC_BYTES 32

struct client_class {
    char name[CLIENT_CLASS_NAME_BYTES];
    uint32_t n_before;      /* connections of the classes before it, of all workers */
    uint32_t n_connections; /* its own, of all workers */
    double part;            /* its part of the rates of the schedule; 0: it sends no queries */
    int arrival;            /* enum pacer_arrival */
    int select;             /* enum client_selection */
    uint64_t interval_ns;   /* closed loop */
    /* As in client_config, whose fields of the same names do not apply with classes. */
    struct sock_address target;
    bool tls, prove;
    uint32_t queries_per_conn;
    uint64_t idle_close_ns;
};

/* Returns the worker's first slot of the class; those of the next one follow the last. */
uint32_t client_class_first_slot(const struct client_class *class, uint32_t n_workers,
                                 uint32_t worker);

/* Returns the number of the worker's slots of the class. */
uint32_t client_class_n_slots(const struct client_class *class, uint32_t n_workers,
                              uint32_t worker);

/* Returns the class of a worker's slot; NULL: there are no classes. */
const struct client_class *client_class_of_slot(const struct client_class *classes,
                                                uint32_t n_classes, uint32_t n_workers,
                                                uint32_t worker, uint32_t slot);

/* Returns which slice of the connections of the class (arrivals_first_connection()) the worker has.
 */
uint32_t client_class_position(const struct client_class *class, uint32_t n_workers,
                               uint32_t worker);

/* Returns the seed of class k of a run: each class has random numbers of its own. */
uint64_t client_class_seed(uint64_t seed, uint32_t k);

/* Returns the name of a metric of the class, in text. */
const char *client_class_metric(char text[CLIENT_CLASS_METRIC_BYTES], const char *metric,
                                const struct client_class *class);

#endif
