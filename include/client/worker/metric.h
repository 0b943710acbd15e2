/* SPDX-License-Identifier: MIT
 * client_metric: what is measured, one histogram each.  A measured query that was due and got no
 * answer, whatever the reason, is beyond every value of the response time; one that was sent, also
 * of service and net. */
#ifndef TCPSCALER_CLIENT_WORKER_METRIC_H
#define TCPSCALER_CLIENT_WORKER_METRIC_H

enum client_metric {
    /* of every query, collected by interval */
    CLIENT_RESPONSE, /* received - intended: the headline */
    CLIENT_SERVICE,  /* received - sent */
    CLIENT_SEND_LAG, /* sent - intended */
    CLIENT_NET,      /* arrived in the kernel - sent (--kernel-ts) */
    CLIENT_OWN,      /* this host's own part of the response: sent - intended, received - arrived */
    CLIENT_N_QUERY_METRICS,
    /* of every connection */
    CLIENT_CONNECT = CLIENT_N_QUERY_METRICS, /* socket call to established */
    CLIENT_HANDSHAKE,                        /* established to the end of TLS's handshake */
    CLIENT_MIN_RTT, /* the least that TCP saw, to the microsecond, when it was closed */
    CLIENT_GAP,     /* the end of a connection to the next one in its place being usable */
    CLIENT_N_METRICS
};

#endif
