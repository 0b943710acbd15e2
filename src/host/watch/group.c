/* SPDX-License-Identifier: MIT
 * watch_group: see host/watch/group.h. */
#include "host/watch/group.h"

#include "host/watch/cgroup_usage.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES "cgroup.procs"

enum { MOST_DEPTH = 8, MOST_DIRECTORIES = 20000 };

/* Each process has a group in each of these; NULL: version 2. */
static const char *const hierarchies[] = {NULL, "memory", "name=systemd", "cpuacct", "pids"};
enum { N_HIERARCHIES = sizeof hierarchies / sizeof *hierarchies };

static bool has_file(const char *directory, const char *file)
{
    char path[CGROUP_PATH_BYTES + 64];

    snprintf(path, sizeof path, "%s/%s", directory, file);
    return access(path, R_OK) == 0;
}

/* --- search --- */

struct search {
    const char *name;
    unsigned n_left;
    char *directory; /* CGROUP_PATH_BYTES */
};

static bool is_named(const char *directory, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(directory, name, length) == 0 &&
           (directory[length] == '\0' || strcmp(directory + length, ".service") == 0);
}

static bool search_below(struct search *s, const char *directory, int depth)
{
    char path[CGROUP_PATH_BYTES];
    const struct dirent *entry;
    bool found = false;
    DIR *d = depth < MOST_DEPTH ? opendir(directory) : NULL;

    if (d == NULL)
        return false;
    while (!found && s->n_left > 0 && (entry = readdir(d)) != NULL) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= (int)sizeof path)
            continue;
        s->n_left--;
        found = is_named(entry->d_name, s->name) && has_file(path, PROCESSES);
        if (found)
            snprintf(s->directory, CGROUP_PATH_BYTES, "%s", path);
        else
            found = search_below(s, path, depth + 1);
    }
    closedir(d);
    return found;
}

static int find_unit(char *directory, const char *proc, const char *name)
{
    struct search search = {name, MOST_DIRECTORIES, directory};
    struct cgroup_group top;

    for (int i = 0; i < N_HIERARCHIES; i++)
        if (cgroup_find_named(&top, proc, hierarchies[i], "/", PROCESSES) &&
            search_below(&search, top.path, 0))
            return 0;
    return -1;
}

static int find_path(char *directory, const char *proc, const char *path)
{
    struct cgroup_group group;

    if (has_file(path, PROCESSES))
        return snprintf(directory, CGROUP_PATH_BYTES, "%s", path) < CGROUP_PATH_BYTES ? 0 : -1;
    for (int i = 0; i < N_HIERARCHIES; i++)
        if (cgroup_find_named(&group, proc, hierarchies[i], path, PROCESSES)) {
            snprintf(directory, CGROUP_PATH_BYTES, "%s", group.path);
            return 0;
        }
    return -1;
}

/* --- memory --- */

static bool is_below(const char *directory, const char *top)
{
    const size_t length = strlen(top);

    return strncmp(directory, top, length) == 0 && directory[length] == '/';
}

/* The group of the same name in the hierarchy that counts memory. */
static bool find_memory(struct cgroup_group *memory, const char *proc, const char *directory)
{
    struct cgroup_group top;

    for (int i = 0; i < N_HIERARCHIES; i++)
        if (cgroup_find_named(&top, proc, hierarchies[i], "/", PROCESSES) &&
            is_below(directory, top.path)) {
            const char *name = directory + strlen(top.path);

            return cgroup_find_named(memory, proc, NULL, name, cgroup_usage_files[1]) ||
                   cgroup_find_named(memory, proc, "memory", name, cgroup_usage_files[0]);
        }
    return false;
}

int watch_group_find(struct watch_group *group, const char *proc, const struct watch_target *target)
{
    const int failed = target->kind == WATCH_UNIT ? find_unit(group->directory, proc, target->name)
                                                  : find_path(group->directory, proc, target->name);

    group->has_memory = !failed && find_memory(&group->memory, proc, group->directory);
    return failed;
}
