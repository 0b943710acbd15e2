/* SPDX-License-Identifier: MIT
 * privileges: see host/privileges.h. */
#include "host/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NAME_BYTES = 64 };

#define REFUSE(...) (snprintf(error, PRIVILEGES_ERROR_BYTES, __VA_ARGS__), -1)

int privileges_find(struct privileges_user *user, const char *text, char *error)
{
    const char *colon = strchr(text, ':');
    const size_t n = colon != NULL ? (size_t)(colon - text) : strlen(text);
    char name[NAME_BYTES];
    const struct passwd *found;
    const struct group *group;

    snprintf(name, sizeof name, "%.*s", (int)n, text);
    found = n < sizeof name ? getpwnam(name) : NULL;
    if (found == NULL)
        return REFUSE(
            "invalid value '%.100s': no such user on this host: expected NAME or NAME:GROUP", text);
    if (found->pw_uid == 0)
        return REFUSE("invalid value '%.100s': expected a user other than root", text);
    *user = (struct privileges_user){found->pw_uid, found->pw_gid};
    if (colon == NULL)
        return 0;
    group = getgrnam(colon + 1);
    if (group == NULL)
        return REFUSE(
            "invalid value '%.100s': no such group on this host: expected NAME or NAME:GROUP",
            text);
    user->gid = group->gr_gid;
    return 0;
}

/* Verifies that nothing of the former user is left: a program that wrongly believes itself
 * unprivileged is worse than none. */
static bool is_irreversible(const struct privileges_user *user)
{
    uid_t real, effective, saved;
    gid_t real_group, effective_group, saved_group;

    return getresuid(&real, &effective, &saved) == 0 && real == user->uid &&
           effective == user->uid && saved == user->uid &&
           getresgid(&real_group, &effective_group, &saved_group) == 0 && real_group == user->gid &&
           effective_group == user->gid && saved_group == user->gid && getgroups(0, NULL) == 0 &&
           setresuid((uid_t)-1, 0, (uid_t)-1) != 0;
}

int privileges_drop(const struct privileges_user *user, char *error)
{
    /* the user last: without root the others cannot be changed */
    if (setgroups(0, NULL) != 0 || setresgid(user->gid, user->gid, user->gid) != 0 ||
        setresuid(user->uid, user->uid, user->uid) != 0)
        return REFUSE("cannot switch user: %s", strerror(errno));
    if (!is_irreversible(user))
        return REFUSE("privileges could be regained after dropping them");
    return 0;
}

void privileges_forbid_gain(void)
{
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
