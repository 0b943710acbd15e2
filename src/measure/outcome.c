/* SPDX-License-Identifier: MIT
 * outcome: see measure/outcome.h. */
#include "measure/outcome.h"

#include <errno.h>
#include <stddef.h>

#define PHASE_NAME(id, name)            name,
#define REASON_NAME(id, name, remedy)   name,
#define REASON_REMEDY(id, name, remedy) remedy,

const char *outcome_phase_name(enum outcome_phase phase)
{
    static const char *const names[] = {OUTCOME_PHASES(PHASE_NAME)};

    return names[phase];
}

const char *outcome_reason_name(enum outcome_reason reason)
{
    static const char *const names[] = {OUTCOME_REASONS(REASON_NAME)};

    return names[reason];
}

const char *outcome_remedy(enum outcome_reason reason)
{
    static const char *const remedies[] = {OUTCOME_REASONS(REASON_REMEDY)};

    return remedies[reason];
}

enum outcome_reason outcome_reason_of_errno(int error)
{
    switch (error) {
    case EADDRINUSE:
    case EADDRNOTAVAIL:
        return REASON_PORTS;
    case EMFILE:
    case ENFILE:
        return REASON_FDS;
    case ENOBUFS:
    case ENOMEM:
        return REASON_MEMORY;
    case ENOSPC:
        return REASON_WATCHES;
    case ECONNREFUSED:
        return REASON_REFUSED;
    case ENETUNREACH:
    case ENETDOWN:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case EINVAL:
        return REASON_UNREACHABLE;
    case EACCES:
    case EPERM:
        return REASON_PERMISSION;
    case ETIMEDOUT:
        return REASON_TIMEOUT;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
        return REASON_RESET;
    default:
        return REASON_OTHER;
    }
}
