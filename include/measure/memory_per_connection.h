/* SPDX-License-Identifier: MIT
 * memory_per_connection: when what a run allocated per connection is worth printing. */
#ifndef TCPSCALER_MEASURE_MEMORY_PER_CONNECTION_H
#define TCPSCALER_MEASURE_MEMORY_PER_CONNECTION_H

/* Connections open at the end; fewer cost less than what any run allocates. */
#define MEMORY_PER_CONNECTION_LEAST 1000u

#endif
