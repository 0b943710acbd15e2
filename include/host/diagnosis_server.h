/* SPDX-License-Identifier: MIT
 * diagnosis_server: the part of a diagnosis that lies with the server: it never answered, refused,
 * ended connections, went away or left queries without an answer.  Pure. */
#ifndef TCPSCALER_HOST_DIAGNOSIS_SERVER_H
#define TCPSCALER_HOST_DIAGNOSIS_SERVER_H

#include "host/diagnosis_line.h"

#include <stdbool.h>

bool diagnosis_server_never_answered(const struct diagnosis_input *in);

/* Each adds at most one line, diagnosis_server_ended() two. */
void diagnosis_server_unanswered(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_server_half_open(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_server_refused(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_server_ended(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_server_deaf(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_server_given_up(struct diagnosis *d, const struct diagnosis_input *in);

#endif
