/* SPDX-License-Identifier: MIT
 * ledger_sums: what the ledger counts, in all and by class of clients. */
#ifndef TCPSCALER_SIM_LEDGER_SUMS_H
#define TCPSCALER_SIM_LEDGER_SUMS_H

#include "client/worker/class.h"
#include "measure/tally.h"

#include <stddef.h>
#include <stdint.h>

struct ledger_entry;
struct tcp;

struct ledger_class {
    uint64_t sent, answered, expired, lost;
};

struct ledger_sums {
    struct ledger_class classes[TALLY_N_CLASSES];
    struct ledger_class of_clients[CLIENT_CLASS_MOST][TALLY_N_CLASSES]; /* of each class of them */
    uint64_t n_late, n_duplicate, n_unknown, n_recycled, n_withdrawn;
    uint64_t n_unsure; /* answers after one that may have ended the connection */
    uint64_t n_malformed, n_malformed_unsure; /* datagrams; of these, likewise */
    uint64_t n_usable, n_reused, n_waited;    /* connections, queries sent on demand */
};

extern struct ledger_sums ledger_sums;

void ledger_sums_begin(void);

/* Offset of a count, for ledger_sums_count(). */
#define LEDGER_OF(count) offsetof(struct ledger_class, count)

/* Counts a query, in all and in the class of its connection. */
void ledger_sums_count(const struct tcp *t, const struct ledger_entry *entry, size_t which);

#endif
