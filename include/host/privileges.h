/* SPDX-License-Identifier: MIT
 * privileges: gives up what a program was started with and does not need.  Main thread, before any
 * other is started. */
#ifndef TCPSCALER_HOST_PRIVILEGES_H
#define TCPSCALER_HOST_PRIVILEGES_H

#include <sys/types.h>

#define PRIVILEGES_ERROR_BYTES 200

struct privileges_user {
    uid_t uid;
    gid_t gid;
};

/* "NAME" or "NAME:GROUP" of this host; without a group that of the user.  Root is refused.  Returns
 * 0, or -1 with one line in error (PRIVILEGES_ERROR_BYTES). */
int privileges_find(struct privileges_user *user, const char *text, char *error);

/* Becomes this user, with its one group, in a way that cannot be undone, and makes sure of that.
 * Returns 0; or -1 with one line in error: end the program then. */
int privileges_drop(const struct privileges_user *user, char *error);

/* From here on no program that is executed gets more privileges than this one (prctl(2),
 * PR_SET_NO_NEW_PRIVS). */
void privileges_gain_none(void);

#endif
