/* SPDX-License-Identifier: MIT
 * client_metric: the metrics, one histogram each.  A measured query that was due but not answered,
 * for whatever reason, counts as beyond every response time; if it was sent, also as beyond every
 * service and net time. */
#ifndef TCPSCALER_CLIENT_WORKER_METRIC_H
#define TCPSCALER_CLIENT_WORKER_METRIC_H

enum client_metric {
    /* collected per interval: of every query */
    CLIENT_RESPONSE, /* received - intended: the main metric */
    CLIENT_SERVICE,  /* received - sent */
    CLIENT_SEND_LAG, /* sent - intended */
    CLIENT_NET,      /* arrived in the kernel - sent (--kernel-ts) */
    /* This host's part of the response time: sent - intended, received - arrived. */
    CLIENT_OWN,
    /* of every connection that arrives on schedule (client/worker/setup_times.h) */
    CLIENT_OPEN_LAG,      /* socket call - due */
    CLIENT_DUE_CONNECTED, /* established - due */
    CLIENT_DUE_SECURED,   /* end of the TLS handshake - due */
    CLIENT_DUE_ANSWERED,  /* first answer - due */
    CLIENT_OPEN_ANSWERED, /* first answer - socket call */
    CLIENT_N_QUERY_METRICS,
    /* of every connection */
    CLIENT_CONNECT = CLIENT_N_QUERY_METRICS, /* socket call to established */
    CLIENT_HANDSHAKE,                        /* established to the end of the TLS handshake */
    CLIENT_MIN_RTT, /* the lowest that TCP measured, in whole microseconds, read at close */
    CLIENT_GAP,     /* end of a connection until the next one in its slot is usable */
    /* Failure of a usable connection until its slot has a usable one again, whatever failed in
     * between; beyond: not before the end of the run. */
    CLIENT_RECOVERY,
    CLIENT_N_METRICS
};

#endif
