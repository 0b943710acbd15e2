/* SPDX-License-Identifier: MIT
 * peer_header: the PROXY headers that the peer of tcpclient receives. */
#ifndef TCPSCALER_SIM_PEER_HEADER_H
#define TCPSCALER_SIM_PEER_HEADER_H

#include <stddef.h>
#include <stdint.h>

struct client_config;

/* config: borrowed. */
void peer_header_begin(const struct client_config *config);

/* Connection i sends this.  Removes its header, or the next part of it, from the front.  Returns
 * how many bytes are left. */
size_t peer_header_take(uint32_t i, const uint8_t **data, size_t n_bytes);

/* The product closes connection i. */
void peer_header_on_close(uint32_t i);

struct peer_header_figures {
    uint64_t n_complete, n_bytes;
};

extern struct peer_header_figures peer_header_figures;

#endif
