/* SPDX-License-Identifier: MIT
 * diagnosis_silence: the part of a diagnosis that concerns a server that does not answer: it never
 * did, it did not accept or secure new connections, or it stopped answering on connections.  Pure.
 */
#ifndef TCPSCALER_HOST_DIAGNOSIS_SILENCE_H
#define TCPSCALER_HOST_DIAGNOSIS_SILENCE_H

#include "host/diagnosis_line.h"

#include <stdbool.h>

/* Whether connections waited for answers, and none ever got one. */
bool diagnosis_silence_never_answered(const struct diagnosis_input *in);

/* Connections that the server closed or reset at ports that never answered, while all others were
 * answered. */
uint64_t diagnosis_silence_closed(const struct diagnosis_input *in);

/* Each adds at most one line; only the first does if the server never answered. */
void diagnosis_silence_unanswered(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_silence_handshakes(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_silence_half_open(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_silence_unresponsive(struct diagnosis *d, const struct diagnosis_input *in);
void diagnosis_silence_given_up(struct diagnosis *d, const struct diagnosis_input *in);

#endif
