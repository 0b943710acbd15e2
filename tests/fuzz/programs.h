/* SPDX-License-Identifier: MIT
 * programs: the command lines of the two programs, for the targets that fill them. */
#ifndef TCPSCALER_FUZZ_PROGRAMS_H
#define TCPSCALER_FUZZ_PROGRAMS_H

/* Parses a command line like the programs; argv[0] is the program's name.  It is rejected with an
 * error, or prints something; or the settings are in range and, printed as a configuration, read
 * and printed again, stay the same.  Permutes argv. */
void fuzz_command_line(int argc, char **argv);

#endif
