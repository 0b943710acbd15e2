/* SPDX-License-Identifier: MIT
 * programs: the command lines of the two programs, for the targets that fill them. */
#ifndef TCPSCALER_FUZZ_PROGRAMS_H
#define TCPSCALER_FUZZ_PROGRAMS_H

/* Takes a command line, argv[0] of which is the program's, as both programs do.  It is refused with
 * an error, or has printed something, or the settings are within their ranges and, printed as a
 * configuration, read again and printed again, the same.  argv is permuted. */
void fuzz_command_line(int argc, char **argv);

#endif
