/* SPDX-License-Identifier: MIT
 * diagnosis: if fewer connections are live than were requested, some live ones have become
 * unresponsive, or none was ever answered, finds the limiting factors from the outcomes and the
 * kernel's counters.  Pure.
 */
#ifndef TCPSCALER_HOST_DIAGNOSIS_H
#define TCPSCALER_HOST_DIAGNOSIS_H

#include "host/diagnosis_line.h"

/* Finds the limiting factors, those with the most connections first; none if all connections are
 * live and were answered. */
void diagnosis_make(struct diagnosis *d, const struct diagnosis_input *in);

#endif
