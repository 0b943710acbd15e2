/* SPDX-License-Identifier: MIT
 * shutdown: requests to stop (SIGINT and SIGTERM), from before the event loop starts until the last
 * output is written.
 *
 * After the first request the program goes on to its report; code that waits checks
 * shutdown_was_requested() and stops waiting.  The second request ends the program at once with 128
 * + the signal's number, without a report.  Two signals within 200 ms, as timeout(1) sends them,
 * are one request, and so are two of which the later one is a SIGHUP: when a terminal closes, both
 * the kernel and the shell may send one.  One state per process; main thread. */
#ifndef TCPSCALER_BASE_SHUTDOWN_H
#define TCPSCALER_BASE_SHUTDOWN_H

#include <stdatomic.h>
#include <stdbool.h>

/* Installs handlers for SIGINT and SIGTERM, which it unblocks, and holds back SIGHUP and SIGUSR1:
 * before anything is created that must not be left behind.  Returns 0, or -1 with errno. */
int shutdown_catch(void);

/* Delivers SIGHUP and SIGUSR1, those held back too, to the handlers that an event loop has
 * installed, until shutdown_hold().  Without a handler they are ignored. */
void shutdown_deliver(void);
void shutdown_hold(void);

/* Becomes readable at the first request, for an event loop; -1 before shutdown_catch(). */
int shutdown_fd(void);

/* Acts like such a signal.  Does not return for a second request.  0: a request that is no signal,
 * and is never the first of two.  Async-signal-safe. */
void shutdown_request(int number);

/* Whether a SIGHUP means that the terminal is gone: stderr was a terminal at shutdown_catch() and
 * no longer is.  Any thread. */
bool shutdown_is_hangup(void);

/* Whether a request was made.  A SIGHUP that is held back counts if it means that the terminal is
 * gone.  Any thread. */
bool shutdown_was_requested(void);

/* The same as a flag, nonzero once requested, for code that must not depend on signals. */
const atomic_int *shutdown_flag(void);

#endif
