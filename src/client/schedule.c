/* SPDX-License-Identifier: MIT
 * client_schedule: see client/schedule.h. */
#include "client/schedule.h"

#include "base/inputs.h"
#include "base/log.h"
#include "base/textfile.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT_BYTES = 1 << 16 };

/* Reads all of stdin or of a file; the caller frees it.  Returns NULL after one line on stderr. */
static char *read_text(const char *option, const char *name)
{
    size_t n_bytes;
    char *text = textfile_read(name, MOST_TEXT_BYTES, &n_bytes);

    if (name != NULL)
        inputs_add(name);
    if (text != NULL && memchr(text, 0, n_bytes) == NULL)
        return text;
    log_error("--%s: cannot read '%s': %s", option, name != NULL ? name : "stdin",
              text != NULL ? "not a text file" : strerror(errno));
    free(text);
    return NULL;
}

/* Reads steps in the syntax of --schedule, or from @FILE. */
static int read_steps(struct schedule *s, const char *option, const char *steps)
{
    char error[SCHEDULE_ERROR_BYTES], *text = NULL;
    int failed;

    if (steps[0] == '@' && (text = read_text(option, steps + 1)) == NULL)
        return -1;
    failed = schedule_parse(s, text != NULL ? text : steps, error);
    free(text);
    if (failed && steps[0] == '@')
        return log_error("--%s: '%s': %s", option, steps + 1, error);
    return failed ? log_error("--%s: %s", option, error) : 0;
}

int client_schedule_read(struct schedule *s, const struct client_opts *o)
{
    const char *option = o->slopes_from_stdin ? "stdin-rateslope" : "stdin";
    char error[SCHEDULE_ERROR_BYTES], *text;
    int failed;

    if (o->schedule != NULL)
        return read_steps(s, "schedule", o->schedule);
    text = read_text(option, NULL);
    if (text == NULL)
        return -1;
    failed = o->slopes_from_stdin ? schedule_parse_slopes(s, text, o->rate_qps, error)
                                  : schedule_parse_steps(s, text, error);
    free(text);
    return failed ? log_error("--%s: %s", option, error) : 0;
}

int client_schedule_read_connections(struct schedule *s, const struct client_opts *o)
{
    char given[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];
    double peak;

    if (read_steps(s, "conn-schedule", o->conn_schedule) != 0)
        return -1;
    peak = schedule_peak_qps(s);
    if (peak < 1 || peak > CLIENT_OPTS_MOST_CONNECTIONS)
        return log_error("--conn-schedule: invalid peak of %s connections: expected 1 to %s",
                         units_format_decimal(given, peak),
                         units_format_count(most, CLIENT_OPTS_MOST_CONNECTIONS));
    return 0;
}
