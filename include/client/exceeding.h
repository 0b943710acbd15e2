/* SPDX-License-Identifier: MIT
 * client_exceeding: counts what exceeds the limits of goals: in a run (client/judge_goals.h), or in
 * a trial of a search (client/find_trial.h).  Pure. */
#ifndef TCPSCALER_CLIENT_EXCEEDING_H
#define TCPSCALER_CLIENT_EXCEEDING_H

#include "client/search/trial.h"
#include "client/worker/metric.h"
#include "measure/hist.h"

#include <stdbool.h>
#include <stdint.h>

struct client_exceeding_input {
    const struct hist *metrics; /* CLIENT_N_QUERY_METRICS at least, by enum client_metric */
    bool over_tls;
    /* This host's delays: of queries, or of opening their connections; infinite: never begun. */
    enum client_metric own;
    uint64_t length_ns; /* of the run; planned of a trial */
    uint64_t n_lost;    /* queries without an answer */
    /* Further queries that this host may have lost or delayed; UINT64_MAX: any number of them. */
    uint64_t n_own;
    uint64_t n_own_connections; /* that this host could not open */
};

/* How far a connection has to get for the goals on connecting. */
enum client_metric client_exceeding_connecting(bool over_tls);

/* Fills in the goals of figures whose n_due is known, with no error of their shares, and n_behind.
 */
void client_exceeding_count(const struct slo *slo, const struct client_exceeding_input *in,
                            struct trial_figures *figures);

#endif
