/* SPDX-License-Identifier: MIT
 * result_figures: the figures of a result, a struct json_object from result_parse(). */
#ifndef TCPSCALER_REPORT_RESULT_FIGURES_H
#define TCPSCALER_REPORT_RESULT_FIGURES_H

#include "measure/latency.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

/* Best first. */
enum result_verdict { RESULT_VALID, RESULT_SUSPECT, RESULT_INVALID };

/* Whether it is of one or more capacity searches. */
bool result_is_search(const struct json_object *result);

/* The unit of the capacities of a result, or of a sweep, such as "q/s"; NULL: unknown, or it has
 * none. */
const char *result_capacity_unit(const struct json_object *result);
const char *result_sweep_unit(const struct json_object *sweep);

/* Whether it is of a listener (--protocol listen), which receives messages and sends no queries. */
bool result_is_of_listener(const struct json_object *result);

/* Whether queries were requested, or that is unknown. */
bool result_has_queries(const struct json_object *result);

/* How many instances a merged result is of; 0: it is of one run. */
size_t result_n_instances(const struct json_object *result);

/* _latency: the figures of a metric; false: none, or they are beyond all bounds.  _each_metric:
 * calls back for every metric that has any. */
bool result_latency(const struct json_object *result, const char *metric, struct latency *l);
void result_each_metric(const struct json_object *result,
                        void (*each)(void *arg, const char *name, const struct latency *l),
                        void *arg);

/* An instance is an element of "instances" of a merged result: return its response times, as above,
 * and its timeout; 0: unknown. */
bool result_instance_response(const struct json_object *instance, struct latency *l);
uint64_t result_instance_timeout_ns(const struct json_object *instance);

/* INVALID if counts do not add up, SUSPECT if otherwise not VALID. */
enum result_verdict result_verdict(const struct json_object *result);
const char *result_verdict_name(enum result_verdict verdict);
bool result_was_interrupted(const struct json_object *result);

/* When the measurement began and ended, since the epoch; of a run that does not say when it began:
 * its start, and about the time of its last due query. */
void result_span(const struct json_object *result, uint64_t *begin_ns, uint64_t *end_ns);

/* How long the measured queries took to send: the measurement, or longer if sending could not keep
 * the schedule.  Of merged runs, such that the rates sent add up.  0: unknown. */
double result_sending_s(const struct json_object *result);

/* The path of the number of connections requested, on demand or from the start. */
const char *result_connections_requested(const struct json_object *result);

/* The timeout: every unanswered query took at least this long; 0: unknown. */
uint64_t result_timeout_ns(const struct json_object *result);

/* The same for a metric: LATENCY_NEVER for connections that failed and for lost messages. */
uint64_t result_timeout_of_ns(const struct json_object *result, const char *metric);

/* Whether any percentile of the response time holds; false, too, if that is unknown. */
bool result_any_holds(const struct json_object *result);

#endif
