/* SPDX-License-Identifier: MIT
 * answers: what each client sends, and what tcpserver must answer. */
#ifndef TCPSCALER_SIM_SERVER_ANSWERS_H
#define TCPSCALER_SIM_SERVER_ANSWERS_H

#include "client.h"

#include <stddef.h>
#include <stdint.h>

void answers_begin(void);

/* Byte k that client c sends.  To a server of pings: half of the words are pings, the others their
 * letters in any order. */
uint8_t answers_byte(uint64_t c, uint64_t k);

/* The server has read one more byte: determines what it must answer. */
void answers_expect(struct client *c, uint8_t byte);

/* Checks that the server has sent the next bytes of its answer, or whole messages. */
void answers_check(struct client *c, const uint8_t *data, size_t n_bytes);

#endif
