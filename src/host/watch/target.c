/* SPDX-License-Identifier: MIT
 * watch_target: see host/watch/target.h. */
#include "host/watch/target.h"

#include "base/units.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

static int parse_pid(struct watch_target *t, const char *text)
{
    uint64_t pid;

    if (strspn(text, "0123456789") != strlen(text) || units_parse_count(text, &pid) != 0 ||
        pid == 0 || pid > INT_MAX)
        return -1;
    *t = (struct watch_target){.kind = WATCH_PROCESS, .pid = (int)pid};
    return 0;
}

int watch_target_parse(struct watch_target *t, const char *text)
{
    static const char unit[] = "unit:", cgroup[] = "cgroup:";

    if (strncmp(text, unit, strlen(unit)) == 0) {
        *t = (struct watch_target){.kind = WATCH_UNIT, .name = text + strlen(unit)};
        return t->name[0] != '\0' && strchr(t->name, '/') == NULL ? 0 : -1;
    }
    if (strncmp(text, cgroup, strlen(cgroup)) == 0) {
        *t = (struct watch_target){.kind = WATCH_CGROUP, .name = text + strlen(cgroup)};
        return t->name[0] == '/' && strstr(t->name, "/../") == NULL ? 0 : -1;
    }
    return parse_pid(t, text);
}
