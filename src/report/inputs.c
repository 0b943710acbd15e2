/* SPDX-License-Identifier: MIT
 * report_inputs: see report/inputs.h. */
#include "report/inputs.h"

#include "base/inputs.h"
#include "base/log.h"
#include "base/replacement.h"
#include "report/opts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct input {
    const char *name;
    struct stat status;
};

static int by_file(const void *a, const void *b)
{
    const struct input *one = a, *other = b;

    if (one->status.st_dev != other->status.st_dev)
        return one->status.st_dev < other->status.st_dev ? -1 : 1;
    if (one->status.st_ino != other->status.st_ino)
        return one->status.st_ino < other->status.st_ino ? -1 : 1;
    return 0;
}

/* Only regular files have the same content when they are read again.  Returns their number. */
static size_t find_regular(struct input *inputs, char *const *names, int n_names)
{
    size_t n = 0;

    for (int i = 0; i < n_names; i++) {
        inputs[n].name = names[i];
        n += stat(names[i], &inputs[n].status) == 0 && S_ISREG(inputs[n].status.st_mode);
    }
    return n;
}

/* A file given twice would be counted twice. */
static int check_side(char *const *names, int n_names)
{
    struct input *inputs = calloc((size_t)n_names + 1, sizeof *inputs);
    size_t n;
    int status = 0;

    if (inputs == NULL)
        return log_error("out of memory");
    for (int i = 0; i < n_names; i++)
        inputs_add(names[i]);
    n = find_regular(inputs, names, n_names);
    qsort(inputs, n, sizeof *inputs, by_file);
    for (size_t i = 1; i < n && status == 0; i++)
        if (by_file(&inputs[i - 1], &inputs[i]) == 0)
            status = log_error("'%s' and '%s' are the same file: expected each file once",
                               inputs[i - 1].name, inputs[i].name);
    free(inputs);
    return status;
}

/* Warns about the first file that is on both sides, where it hides differences between them. */
static int compare_sides(const struct report_opts *o)
{
    struct input *before = calloc((size_t)o->n_files + 1, sizeof *before);
    struct input *now = calloc((size_t)o->n_others + 1, sizeof *now);
    const struct input *both = NULL;
    size_t n_before, n_now;

    if (before != NULL && now != NULL) {
        n_before = find_regular(before, o->files, o->n_files);
        n_now = find_regular(now, o->others, o->n_others);
        qsort(before, n_before, sizeof *before, by_file);
        for (size_t i = 0; i < n_now && both == NULL; i++)
            both = bsearch(&now[i], before, n_before, sizeof *before, by_file);
    }
    if (both != NULL)
        log_error("warning: '%s' is on both sides of --", both->name);
    free(before);
    free(now);
    return before != NULL && now != NULL ? 0 : log_error("out of memory");
}

/* name NULL: no such output. */
static int check_output(const char *option, const char *name)
{
    if (name == NULL || strcmp(name, "-") == 0 || !replacement_overwrites_input(name))
        return 0;
    return log_error("--%s: '%s' is one of the input files", option, name);
}

int report_inputs_check(const struct report_opts *o)
{
    if (check_side(o->files, o->n_files) != 0 || check_side(o->others, o->n_others) != 0 ||
        compare_sides(o) != 0)
        return -1;
    if (o->watch != NULL)
        inputs_add(o->watch);
    return check_output("json", o->json) != 0 || check_output("hlog", o->hlog) != 0 ||
                   check_output("output", o->output) != 0
               ? -1
               : 0;
}
