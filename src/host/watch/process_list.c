/* SPDX-License-Identifier: MIT
 * process_list: see host/watch/process_list.h. */
#include "host/watch/process_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

bool process_list_has(const struct process_list *l, int pid)
{
    size_t i = 0;

    while (i < l->n && l->items[i].pid != pid)
        i++;
    return i < l->n;
}

void process_list_add(struct process_list *l, const struct process *p)
{
    if (process_list_has(l, p->pid))
        return;
    l->is_overfull |= l->n == PROCESS_LIST_MOST;
    if (l->n == PROCESS_LIST_MOST)
        return;
    l->items[l->n++] = *p;
    l->user_us += p->user_us;
    l->system_us += p->system_us;
}

/* Returns whether it still runs.  A temporary failure, such as EMFILE, is no end. */
static bool refresh(struct process *p, const char *proc)
{
    struct process now;

    if (process_read(&now, proc, p->pid) != 0)
        return errno != ENOENT && errno != ESRCH;
    if (!process_is(&now, p) || now.has_ended)
        return false;
    *p = now;
    return true;
}

static uint64_t growth(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

/* CPU time of one kind, since the list was read before. */
struct cpu_time {
    uint64_t growth_us, of_children_us;
};

static void add_growth(struct cpu_time *t, uint64_t growth_us, uint64_t of_children_us)
{
    t->growth_us += growth_us;
    t->of_children_us += of_children_us;
}

/* The CPU time of an ended process is added to that of the parent that waits for it, sooner or
 * later; if the parent is not in the list, it is lost. */
static void note_end(struct process_list *l, const struct process *p)
{
    if (!process_list_has(l, p->parent))
        return;
    l->user_ended_us += p->user_us;
    l->system_ended_us += p->system_us;
}

static void remove_ended(struct process_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (!l->items[i].has_ended)
            l->items[n++] = l->items[i];
    l->n = n;
}

/* Adds the growth, except the part that moved from ended processes to their parents, which was
 * counted before. */
static void count(uint64_t *sum_us, uint64_t *ended_us, const struct cpu_time *t)
{
    const uint64_t moved_us = t->of_children_us < *ended_us ? t->of_children_us : *ended_us;

    *sum_us += growth(moved_us, t->growth_us);
    *ended_us -= moved_us;
}

void process_list_read(struct process_list *l, const char *proc)
{
    struct cpu_time user = {0}, system = {0};

    for (size_t i = 0; i < l->n; i++) {
        struct process *p = &l->items[i];
        const struct process before = *p;

        p->has_ended = !refresh(p, proc);
        if (p->has_ended)
            note_end(l, p);
        add_growth(&user, growth(before.user_us, p->user_us),
                   growth(before.user_of_children_us, p->user_of_children_us));
        add_growth(&system, growth(before.system_us, p->system_us),
                   growth(before.system_of_children_us, p->system_of_children_us));
    }
    count(&l->user_us, &l->user_ended_us, &user);
    count(&l->system_us, &l->system_ended_us, &system);
    remove_ended(l);
}

/* --- children --- */

struct all {
    struct process *items;
    size_t n, room;
};

static int all_add(struct all *all, const struct process *p)
{
    if (all->n == all->room) {
        const size_t room = all->room == 0 ? 256 : 2 * all->room;
        struct process *items = realloc(all->items, room * sizeof *items);

        if (items == NULL)
            return -1;
        all->items = items;
        all->room = room;
    }
    all->items[all->n++] = *p;
    return 0;
}

static int read_all(struct all *all, const char *proc)
{
    DIR *directory = opendir(proc);
    const struct dirent *entry;
    struct process p;
    int failed = 0;

    if (directory == NULL)
        return -1;
    while (!failed && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            process_read(&p, proc, atoi(entry->d_name)) == 0 && !p.has_ended)
            failed = all_add(all, &p);
    closedir(directory);
    return failed;
}

int process_list_add_children(struct process_list *l, const char *proc)
{
    struct all all = {0};
    size_t n_before;
    int failed = read_all(&all, proc);

    if (!failed)
        do {
            n_before = l->n;
            for (size_t i = 0; i < all.n; i++)
                if (process_list_has(l, all.items[i].parent))
                    process_list_add(l, &all.items[i]);
        } while (l->n > n_before);
    free(all.items);
    return failed;
}
