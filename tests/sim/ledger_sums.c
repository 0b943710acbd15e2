/* SPDX-License-Identifier: MIT
 * ledger_sums: see ledger_sums.h. */
#include "ledger_sums.h"

#include "classes.h"
#include "ledger_entries.h"

struct ledger_sums ledger_sums;

void ledger_sums_begin(void)
{
    ledger_sums = (struct ledger_sums){0};
}

void ledger_sums_count(const struct tcp *t, const struct ledger_entry *entry, size_t which)
{
    struct ledger_class *of_clients = &ledger_sums.of_clients[classes_of(t)][entry->class];

    ++*(uint64_t *)(void *)((char *)&ledger_sums.classes[entry->class] + which);
    ++*(uint64_t *)(void *)((char *)of_clients + which);
}
