/* SPDX-License-Identifier: MIT
 * report_inputs: see report/inputs.h. */
#include "report/inputs.h"

#include "base/log.h"
#include "base/output.h"
#include "report/opts.h"

#include <stddef.h>

static int refuse(const char *option, const char *name)
{
    return log_error("--%s: '%s' is one of the input files", option, name);
}

/* NULL: no such output. */
static int check_output(const struct report_opts *o, const char *option, const char *name)
{
    if (name == NULL)
        return 0;
    if (o->watch != NULL && output_overwrites(name, o->watch))
        return refuse(option, name);
    for (int i = 0; i < o->n_files; i++)
        if (output_overwrites(name, o->files[i]))
            return refuse(option, name);
    for (int i = 0; i < o->n_others; i++)
        if (output_overwrites(name, o->others[i]))
            return refuse(option, name);
    return 0;
}

int report_inputs_check(const struct report_opts *o)
{
    return check_output(o, "json", o->json) != 0 || check_output(o, "hlog", o->hlog) != 0 ||
                   check_output(o, "output", o->output) != 0
               ? -1
               : 0;
}
