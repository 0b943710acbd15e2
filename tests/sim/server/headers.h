/* SPDX-License-Identifier: MIT
 * headers: the PROXY header of each simulated client, and how tcpserver must judge it: valid,
 * malformed, or cut off. */
#ifndef TCPSCALER_SIM_SERVER_HEADERS_H
#define TCPSCALER_SIM_SERVER_HEADERS_H

#include "client.h"
#include "server/tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void headers_begin(void);

/* Decides what kind of header a client sends. */
void headers_draw(struct client *c);

/* Sends the next part of it.  Returns whether payload may follow at once. */
bool headers_send(struct client *c, uint32_t i);

/* The server has read this.  Returns how many bytes of it, from the front, are the header's. */
size_t headers_on_received(struct client *c, const uint8_t *data, size_t n_bytes);

/* The server refuses a connection that awaits its header.  was_ended: its last call reported
 * an end; lacks_memory: perhaps memory, or an epoll watch, was refused. */
void headers_on_refusal(struct client *c, bool was_ended, bool lacks_memory);

/* The address that counts for the limit per source. */
uint32_t headers_address(const struct client *c);

struct headers_figures {
    uint64_t n_complete, n_local, n_bytes;
    uint64_t n_malformed;
    uint64_t n_ended, n_late; /* refused without a whole header: by their ends, without an end */
    uint64_t n_limited;       /* refused with a whole header */
};

extern struct headers_figures headers_figures;

#endif
