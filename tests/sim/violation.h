/* SPDX-License-Identifier: MIT
 * violation: a law of the simulation is broken: says which, and ends the process. */
#ifndef TCPSCALER_SIM_VIOLATION_H
#define TCPSCALER_SIM_VIOLATION_H

enum { VIOLATION_EXIT = 3 };

/* One line on stderr, with the simulated time. */
_Noreturn void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define LAW(holds, ...)                                                                            \
    do {                                                                                           \
        if (!(holds))                                                                              \
            violation(__VA_ARGS__);                                                                \
    } while (0)

#endif
