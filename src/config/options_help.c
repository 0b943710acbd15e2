/* SPDX-License-Identifier: MIT
 * options_help: see config/options_help.h. */
#include "config/options_help.h"

enum { HELP_COLUMN = 30 };

static void print_row(const struct option_row *row, FILE *out)
{
    int n = row->letter != 0 ? fprintf(out, "  -%c, ", row->letter) : fprintf(out, "      ");

    n += fprintf(out, "--%s", row->name);
    if (row->argument != NULL)
        n += fprintf(out, " %s", row->argument);
    if (n + 2 > HELP_COLUMN) {
        fputc('\n', out);
        n = 0;
    }
    fprintf(out, "%*s%s\n", HELP_COLUMN - n, "", row->help);
}

static bool has(const struct options *o, enum option_kind kind)
{
    for (size_t i = 0; i < o->n_rows; i++)
        if (o->rows[i].kind == kind)
            return true;
    return false;
}

static void print_units(const struct options *o, FILE *out)
{
    if (!has(o, OPTION_DURATION))
        return;
    fputs("\nTimes take units (250ms, 5s, 2m; a bare number is seconds).\n", out);
    if (has(o, OPTION_BYTES))
        fputs("Counts take k, M and G, sizes also KiB, MiB and GiB.\n", out);
}

void options_print_help(const struct options *o, FILE *out)
{
    fprintf(out, "Usage: %s %s\n%s\n", o->program, o->usage, o->summary);
    if (o->n_rows > 0 && options_is_option(&o->rows[0]))
        fputs("\nOptions\n", out);
    for (size_t i = 0; i < o->n_rows; i++) {
        if (options_is_option(&o->rows[i]))
            print_row(&o->rows[i], out);
        else
            fprintf(out, "\n%s\n", o->rows[i].name);
    }
    print_units(o, out);
}
