/* SPDX-License-Identifier: MIT
 * calls_data: functions that stream and datagram calls share. */
#ifndef TCPSCALER_SIM_CALLS_DATA_H
#define TCPSCALER_SIM_CALLS_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* A send or receive call of connection i returns this. */
void calls_data_note(uint32_t i, int64_t result, bool is_send);

/* Writes the arrival time into the control messages; 0: leaves it out. */
void calls_data_put_stamp(struct msghdr *message, uint64_t arrived_ns);

/* recv(2) of a UDP socket (calls_datagram.c); with arrived_ns not NULL recvmsg(2), which says when
 * the datagram arrived. */
ssize_t calls_datagram_receive(int fd, void *data, size_t n_bytes, int flags, uint64_t *arrived_ns);

#endif
