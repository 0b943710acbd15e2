/* SPDX-License-Identifier: MIT
 * progress: whether a connection or a listener's queue waits for too long. */
#ifndef TCPSCALER_SIM_SERVER_PROGRESS_H
#define TCPSCALER_SIM_SERVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

void progress_begin(void);

/* No connection waits longer than this for the server to read, to answer or to close it or, while
 * the server accepts, to be accepted or refused. */
void progress_check(uint64_t most_ns, bool accepts);

#endif
