/* SPDX-License-Identifier: MIT
 * drive_server: a run of tcpserver's workers in the simulated world, and the laws that hold at its
 * end. */
#ifndef TCPSCALER_SIM_DRIVE_SERVER_H
#define TCPSCALER_SIM_DRIVE_SERVER_H

#include "drive.h"

/* As drive(), for a scenario of a server. */
void drive_server(const struct scenario *s, struct drive_result *result);

#endif
