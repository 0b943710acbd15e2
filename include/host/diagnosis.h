/* SPDX-License-Identifier: MIT
 * diagnosis: when fewer connections live than were asked for, which limit bound them, from the
 * outcomes and from what the kernel counts.  Pure. */
#ifndef TCPSCALER_HOST_DIAGNOSIS_H
#define TCPSCALER_HOST_DIAGNOSIS_H

#include "host/diagnosis_line.h"

/* The limits that bound connections, those of most connections first; none when all of them lived.
 */
void diagnosis_make(struct diagnosis *d, const struct diagnosis_input *in);

#endif
