/* SPDX-License-Identifier: MIT
 * memory_per_connection: when the memory that a run allocated per connection is worth printing. */
#ifndef TCPSCALER_MEASURE_MEMORY_PER_CONNECTION_H
#define TCPSCALER_MEASURE_MEMORY_PER_CONNECTION_H

/* Connections open at the end.  Fewer take less memory than a run allocates for other purposes. */
#define MEMORY_PER_CONNECTION_LEAST 1000u

#endif
