/* SPDX-License-Identifier: MIT
 * diagnosis_server: the part of a diagnosis that concerns a server that refused or ended
 * connections. Pure. */
#ifndef TCPSCALER_HOST_DIAGNOSIS_SERVER_H
#define TCPSCALER_HOST_DIAGNOSIS_SERVER_H

#include "host/diagnosis_line.h"

/* Adds at most one line. */
void diagnosis_server_refused(struct diagnosis *d, const struct diagnosis_input *in);

/* Adds at most two lines; none if the server never answered (diagnosis_silence.h). */
void diagnosis_server_ended(struct diagnosis *d, const struct diagnosis_input *in);

#endif
