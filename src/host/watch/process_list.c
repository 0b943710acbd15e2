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
    if (l->n == PROCESS_LIST_MOST || process_list_has(l, p->pid))
        return;
    l->items[l->n++] = *p;
    l->user_us += p->user_us;
    l->system_us += p->system_us;
}

struct cpu_time {
    uint64_t user_us, system_us;
};

static struct cpu_time sum_of(const struct process_list *l)
{
    struct cpu_time sum = {0};

    for (size_t i = 0; i < l->n; i++) {
        sum.user_us += l->items[i].user_us;
        sum.system_us += l->items[i].system_us;
    }
    return sum;
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

/* When a process ends, its CPU time moves to the parent that waits for it or, if there is none in
 * the list, is lost: a sum that shrinks has lost some, which stays counted. */
void process_list_read(struct process_list *l, const char *proc)
{
    const struct cpu_time before = sum_of(l);
    struct cpu_time after;
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (refresh(&l->items[i], proc))
            l->items[n++] = l->items[i];
    l->n = n;
    after = sum_of(l);
    l->user_us += growth(before.user_us, after.user_us);
    l->system_us += growth(before.system_us, after.system_us);
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
