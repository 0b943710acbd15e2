/* SPDX-License-Identifier: MIT
 * privileges: drops privileges that a program no longer needs.  Main thread, before any other
 * thread starts. */
#ifndef TCPSCALER_HOST_PRIVILEGES_H
#define TCPSCALER_HOST_PRIVILEGES_H

#include <sys/types.h>

#define PRIVILEGES_ERROR_BYTES 200

struct privileges_user {
    uid_t uid;
    gid_t gid;
};

/* "NAME" or "NAME:GROUP" of this host; without a group, the user's.  Root is refused.  Returns 0,
 * or -1 with one line in error (PRIVILEGES_ERROR_BYTES). */
int privileges_find(struct privileges_user *user, const char *text, char *error);

/* Switches to this user with its one group, irreversibly, and verifies that.  Returns 0; or -1 with
 * one line in error: the program must exit then. */
int privileges_drop(const struct privileges_user *user, char *error);

/* From here on, executed programs cannot gain privileges (prctl(2), PR_SET_NO_NEW_PRIVS). */
void privileges_forbid_gain(void);

#endif
