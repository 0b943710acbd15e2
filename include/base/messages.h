/* SPDX-License-Identifier: MIT
 * messages: writes to stderr so that a reader that stops reading cannot hold up the program.
 *
 * Lines that are not read in time are dropped; once stderr takes text again, a line says how many
 * were lost. */
#ifndef TCPSCALER_BASE_MESSAGES_H
#define TCPSCALER_BASE_MESSAGES_H

#include "base/units.h"

#include <stddef.h>

/* How long a message waits for a reader. */
enum messages_wait {
    MESSAGES_BRIEFLY, /* all messages together MESSAGES_TIMEOUT_NS without progress; the default */
    MESSAGES_NEVER,   /* for a run: all threads write messages */
    MESSAGES_UNTIL_SHUTDOWN /* writing_until_shutdown() */
};

#define MESSAGES_TIMEOUT_NS UNITS_NS_PER_S

/* Makes log_stream() such a stream.  Call it before other threads exist. */
void messages_take_stderr(void);

/* Any thread. */
void messages_set_wait(enum messages_wait wait);

/* Writes what the reader takes in time (messages_set_wait()).  Returns the number of bytes; the
 * others do not count as lost.  Any thread. */
size_t messages_offer(const char *text, size_t n_bytes);

#endif
