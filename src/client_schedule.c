/* SPDX-License-Identifier: MIT
 * client_schedule: see client_schedule.h. */
#include "client_schedule.h"

#include "complain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT_BYTES = 1 << 16 };

/* All of stdin or of a file; the caller frees it.  NULL after one line on stderr. */
static char *read_text(const char *option, const char *name)
{
    FILE *in = name != NULL ? fopen(name, "re") : stdin;
    char *text = calloc(1, MOST_TEXT_BYTES + 1);
    size_t n = 0;

    if (in != NULL && text != NULL)
        n = fread(text, 1, MOST_TEXT_BYTES, in);
    if (in == NULL || text == NULL || ferror(in) || n == MOST_TEXT_BYTES ||
        memchr(text, 0, n) != NULL) {
        complain("--%s: cannot read %s: %s", option, name != NULL ? name : "stdin",
                 n > 0 ? "it is too long or no text" : strerror(errno));
        free(text);
        text = NULL;
    }
    if (in != NULL && in != stdin)
        fclose(in);
    return text;
}

int client_schedule_read(struct schedule *s, const struct client_opts *o)
{
    const char *option = o->schedule != NULL    ? "schedule"
                         : o->slopes_from_stdin ? "stdin-rateslope"
                                                : "stdin";
    char error[SCHEDULE_ERROR_BYTES], *text;
    int failed;

    if (o->schedule != NULL && o->schedule[0] != '@')
        return schedule_parse(s, o->schedule, error) != 0 ? complain("--schedule: %s", error) : 0;
    text = read_text(option, o->schedule != NULL ? o->schedule + 1 : NULL);
    if (text == NULL)
        return -1;
    failed = o->schedule != NULL    ? schedule_parse(s, text, error)
             : o->slopes_from_stdin ? schedule_parse_slopes(s, text, o->rate_qps, error)
                                    : schedule_parse_steps(s, text, error);
    free(text);
    return failed ? complain("--%s: %s", option, error) : 0;
}
