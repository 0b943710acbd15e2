/* SPDX-License-Identifier: MIT
 * diagnosis_route: the part of a diagnosis that concerns packets that this host does not send, or
 * that the network returns.  Pure. */
#ifndef TCPSCALER_HOST_DIAGNOSIS_ROUTE_H
#define TCPSCALER_HOST_DIAGNOSIS_ROUTE_H

#include "host/diagnosis_line.h"

/* Each adds at most one line. */
void diagnosis_route_sources(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_route_missing(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_route_unreachable(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_route_forbidden(struct diagnosis *d, const struct diagnosis_input *in);

#endif
