/* SPDX-License-Identifier: MIT
 * cgroup_find: see host/watch/cgroup_find.h. */
#include "host/watch/cgroup_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4096, MOST_GENERATIONS = 64 };

static bool has_item(const char *list, const char *item)
{
    const size_t length = strlen(item);

    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, item, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Parses a line of mountinfo, proc_pid_mountinfo(5); false: not a mount of this hierarchy. */
static bool parse_mount(char *line, const char *controller, bool is_v2, char *root, char *point)
{
    char type[32], options[LINE_BYTES];
    const char *rest = strstr(line, " - ");

    return rest != NULL && sscanf(line, "%*s %*s %*s %511s %511s", root, point) == 2 &&
           sscanf(rest, " - %31s %*s %4095s", type, options) == 2 &&
           strcmp(type, is_v2 ? "cgroup2" : "cgroup") == 0 &&
           (is_v2 || has_item(options, controller));
}

/* The part of a group's name below the mount: a container may see only a subtree. */
static const char *below(const char *name, const char *root)
{
    const size_t length = strlen(root);

    if (strcmp(root, "/") == 0)
        return strcmp(name, "/") == 0 ? "" : name;
    if (strncmp(name, root, length) == 0 && (name[length] == '/' || name[length] == '\0'))
        return name + length;
    return "";
}

static FILE *open_proc(const char *proc, const char *process, const char *name)
{
    char path[CGROUP_PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s/%s", proc, process, name);
    return fopen(path, "re");
}

/* Finds where a process has the hierarchy mounted; false: nowhere, or not visible. */
static bool find_mount(const char *proc, const char *process, const char *controller, bool is_v2,
                       char *root, char *point)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *f = open_proc(proc, process, "mountinfo");

    if (f == NULL)
        return false;
    while (!found && fgets(line, sizeof line, f) != NULL)
        found = parse_mount(line, controller, is_v2, root, point);
    fclose(f);
    return found;
}

/* 0: no parent, or not visible.  proc_pid_stat(5): the name in () may contain any character, a
 * newline included. */
static int parent_of(const char *proc, const char *process)
{
    char text[512];
    const char *end;
    int parent = 0;
    FILE *f = open_proc(proc, process, "stat");

    if (f == NULL)
        return 0;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    end = strrchr(text, ')');
    fclose(f);
    return end != NULL && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* Builds the directory of a group of this name.  Returns whether its hierarchy is readable. */
static bool find_directory(struct cgroup_group *group, const char *proc, const char *controller,
                           const char *name)
{
    char root[CGROUP_PATH_BYTES], point[CGROUP_PATH_BYTES], process[16] = "self", outside[64] = "";
    int pid;

    for (int i = 0; i < MOST_GENERATIONS; i++) {
        if (find_mount(proc, process, controller, group->is_v2, root, point)) {
            const int n = snprintf(group->path, sizeof group->path, "%s%s", outside, point);

            group->mount_length = (size_t)n;
            if (n < (int)sizeof group->path && access(group->path, R_OK) == 0)
                return snprintf(group->path, sizeof group->path, "%s%s%s", outside, point,
                                below(name, root)) < (int)sizeof group->path;
        }
        pid = parent_of(proc, process);
        if (pid == 0)
            return false;
        snprintf(process, sizeof process, "%d", pid);
        snprintf(outside, sizeof outside, "%.30s/%d/root", proc, pid);
    }
    return false;
}

/* Visits the own groups of a process. */
static void each_own(const char *proc, const char *process, const char *controller,
                     cgroup_on_group *on, void *context)
{
    char line[LINE_BYTES];
    FILE *f = open_proc(proc, process, "cgroup");

    if (f == NULL)
        return;
    while (fgets(line, sizeof line, f) != NULL) { /* "4:cpu,cpuacct:/a/b" or "0::/a/b" */
        char *rest = line, *controllers, *name;
        struct cgroup_group group;

        strsep(&rest, ":");
        controllers = strsep(&rest, ":");
        name = strsep(&rest, "\n");
        group.is_v2 = controllers != NULL && controllers[0] == '\0';
        if (name != NULL && (group.is_v2 || has_item(controllers, controller)) &&
            find_directory(&group, proc, controller, name))
            on(context, &group);
    }
    fclose(f);
}

struct visitor {
    cgroup_on_group *on;
    void *context;
};

/* The group itself, then its ancestors up to the mount point. */
static void walk_up(void *context, const struct cgroup_group *own)
{
    const struct visitor *visitor = context;
    struct cgroup_group group = *own;
    char *end;

    visitor->on(visitor->context, &group);
    while (strlen(group.path) > group.mount_length &&
           (end = strrchr(group.path + group.mount_length, '/')) != NULL) {
        *end = '\0';
        visitor->on(visitor->context, &group);
    }
}

void cgroup_find_each(const char *proc, const char *controller, cgroup_on_group *on, void *context)
{
    struct visitor visitor = {on, context};

    each_own(proc, "self", controller, walk_up, &visitor);
}

static bool has_file(const struct cgroup_group *group, const char *const files[2])
{
    char path[CGROUP_PATH_BYTES + 64];

    snprintf(path, sizeof path, "%s/%.60s", group->path, files[group->is_v2]);
    return access(path, R_OK) == 0;
}

struct search {
    const char *const *files;
    struct cgroup_group *found;
    bool is_found;
};

static void keep_first(void *context, const struct cgroup_group *group)
{
    struct search *search = context;

    if (search->is_found || !has_file(group, search->files))
        return;
    *search->found = *group;
    search->is_found = true;
}

bool cgroup_find_own(struct cgroup_group *group, const char *proc, const char *process,
                     const char *controller, const char *const files[2])
{
    struct search search = {files, group, false};

    each_own(proc, process, controller, keep_first, &search);
    return search.is_found;
}

bool cgroup_find_named(struct cgroup_group *group, const char *proc, const char *controller,
                       const char *name, const char *file)
{
    const char *const files[2] = {file, file};

    group->is_v2 = controller == NULL;
    return find_directory(group, proc, controller, name) && has_file(group, files);
}

bool cgroup_stat_find(const char *text, const char *name, uint64_t *value)
{
    const size_t length = strlen(name);

    for (const char *line = text; line != NULL; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ' ') {
            *value = strtoull(line + length, NULL, 10);
            return true;
        }
    return false;
}
