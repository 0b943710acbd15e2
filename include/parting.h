/* SPDX-License-Identifier: MIT
 * parting: signals while a program takes leave: its event loop has ended, or is not there yet, and
 * what it has measured is not written yet.
 *
 * The event loop's handlers take the place of these while it has them, and give it back.  SIGHUP
 * and SIGUSR1 have nothing to say any more and are ignored.  SIGINT and SIGTERM ask to end: asked
 * for the first time the program goes on to its report, asked again it ends at once with 128 + the
 * signal's number and without one.  One state per process; main thread. */
#ifndef TCPSCALER_PARTING_H
#define TCPSCALER_PARTING_H

#include <stdatomic.h>
#include <stdbool.h>

/* Before the event loop takes the signals. */
void parting_prepare(void);

/* By the loop's handler of a signal that asks to end.  Does not return when it was asked before. */
void parting_ask(int number);

/* Whether the program was asked to end, by parting_ask() or without a loop. */
bool parting_was_asked(void);

/* Becomes true when that happened without a loop: whatever still waits for others is to give up. */
const atomic_bool *parting_hurry(void);

#endif
