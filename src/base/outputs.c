/* SPDX-License-Identifier: MIT
 * outputs: see base/outputs.h. */
#include "base/outputs.h"

#include "base/inputs.h"
#include "base/log.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OUTPUTS = 12 };

static const struct output *opened[MOST_OUTPUTS];

static bool is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Two outputs mix only in a terminal, not in other character devices. */
static bool do_mix(const struct stat *one, const struct stat *other, int fd)
{
    return is_same_file(one, other) && (!S_ISCHR(one->st_mode) || isatty(fd) == 1);
}

bool outputs_is_stdout(const struct output *o)
{
    struct stat own, out;

    if (o->fd < 0)
        return false;
    return output_is_named_stdout(o) ||
           (fstat(o->fd, &own) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
            do_mix(&own, &out, o->fd));
}

/* The file that it writes or will replace. */
static int status_of(const struct output *o, struct stat *status)
{
    return o->replacement != NULL ? stat(o->replacement->file, status) : fstat(o->fd, status);
}

static bool is_same_output(const struct output *a, const struct output *b)
{
    struct stat one, other;

    if (a->replacement != NULL && b->replacement != NULL &&
        strcmp(a->replacement->file, b->replacement->file) == 0)
        return true;
    return status_of(a, &one) == 0 && status_of(b, &other) == 0 && do_mix(&one, &other, a->fd);
}

/* Whether the temporary file of one is the other's file. */
static bool is_temporary(const struct output *of, const struct output *other)
{
    const char *temporary = of->replacement != NULL ? of->replacement->temporary : NULL;
    struct stat one, two;

    if (temporary == NULL)
        return false;
    if (other->replacement != NULL && strcmp(temporary, other->replacement->file) == 0)
        return true;
    return stat(temporary, &one) == 0 && status_of(other, &two) == 0 && is_same_file(&one, &two);
}

/* Whether it, or its temporary file, is an input. */
static bool is_input(const struct output *o)
{
    struct stat status;

    return (status_of(o, &status) == 0 && inputs_have(&status)) ||
           (o->replacement != NULL && inputs_have_file(o->replacement->temporary));
}

const struct output *outputs_find(const char *name)
{
    struct stat named, other;
    const bool exists = stat(name, &named) == 0;

    for (size_t i = 0; i < MOST_OUTPUTS && opened[i] != NULL; i++) {
        const struct output *o = opened[i];

        if ((o->replacement != NULL && replacement_has(o->replacement, name)) ||
            (exists && status_of(o, &other) == 0 && do_mix(&named, &other, o->fd)))
            return o;
    }
    return NULL;
}

int outputs_add(const struct output *o)
{
    size_t i = 0;

    if (is_input(o))
        return log_error("--%s: '%s' is one of the input files", o->option, o->name);
    for (; i < MOST_OUTPUTS && opened[i] != NULL; i++) {
        if (is_same_output(opened[i], o))
            return log_error(
                "--%s: '%s' is also the file of --%s: expected a different file for each",
                o->option, output_shown_name(o), opened[i]->option);
        if (is_temporary(opened[i], o) || is_temporary(o, opened[i]))
            return log_error("--%s: '%s' conflicts with --%s '%s': one is the temporary file of "
                             "the other",
                             o->option, o->name, opened[i]->option, opened[i]->name);
    }
    if (i < MOST_OUTPUTS)
        opened[i] = o;
    return 0;
}

void outputs_remove(const struct output *o)
{
    size_t n = 0;

    for (size_t i = 0; i < MOST_OUTPUTS; i++)
        if (opened[i] != NULL && opened[i] != o)
            opened[n++] = opened[i];
    while (n < MOST_OUTPUTS)
        opened[n++] = NULL;
}
