/* SPDX-License-Identifier: MIT
 * tree: a temporary directory with the files of a made-up host. */
#ifndef TCPSCALER_TEST_TREE_H
#define TCPSCALER_TEST_TREE_H

#include "directory_steps.h"

#include <assert.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The path of a name in the tree; valid until the fourth call after it. */
static inline const char *tree_path(const char *name)
{
    static char paths[4][256];
    static unsigned n;
    char *path = paths[n++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

/* Creates a file, and its parent directories. */
static inline void tree_put(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    f = fopen(path, "w");
    assert(f != NULL);
    fputs(text, f);
    fclose(f);
}

static inline int tree_remove_one(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
    (void)s;
    (void)kind;
    (void)ftw;
    return remove(path);
}

/* Removes a file, or a directory with all it has. */
static inline void tree_remove(const char *name)
{
    nftw(tree_path(name), tree_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int remove_tree(void **state)
{
    (void)state;
    return nftw(directory, tree_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A process in "proc": its CPU time is in ticks of user and system mode. */
static inline void tree_put_process(int pid, int parent, unsigned started, unsigned user,
                                    unsigned system)
{
    char name[32], text[200];

    snprintf(name, sizeof name, "proc/%d/stat", pid);
    snprintf(text, sizeof text,
             "%d (server %d) S %d 1 1 0 -1 4194560 1 2 3 4 %u %u 0 0 20 0 1 0 %u 5 6 7\n", pid, pid,
             parent, user, system, started);
    tree_put(name, text);
}

#endif
