/* SPDX-License-Identifier: MIT
 * preflight_report: see host/preflight_report.h. */
#include "host/preflight_report.h"

#include "base/json.h"
#include "base/log.h"
#include "base/output.h"
#include "base/units.h"

/* buffer: UNITS_TEXT_BYTES. */
static const char *number(char *buffer, uint64_t value)
{
    return value == HOST_LIMITS_UNKNOWN ? "-" : units_format_count(buffer, value);
}

void preflight_report_text(FILE *out, const char *title, const struct preflight *p)
{
    static const char *const verdicts[] = {
        "It fits.",
        "It fits, with warnings.",
        "It does not fit: raise the limits marked stop, or use --force to try anyway.",
    };
    char available[UNITS_TEXT_BYTES], needed[UNITS_TEXT_BYTES];

    fprintf(out, "%s\n\n%-36s %17s %17s\n", title, "limit", "available", "needed");
    for (unsigned i = 0; i < p->n_lines; i++) {
        const struct preflight_line *line = &p->lines[i];

        fprintf(out, "%-36s %17s %17s  %s\n", line->name, number(available, line->available),
                number(needed, line->needed), preflight_level_name(line->level));
        if (line->fix[0] != '\0')
            fprintf(out, "    -> %s\n", line->fix);
    }
    fprintf(out, "\n%s\n", verdicts[preflight_worst(p)]);
}

static void put_lines(struct json *j, const struct preflight *p)
{
    json_array_begin(j, "plan");
    for (unsigned i = 0; i < p->n_lines; i++) {
        const struct preflight_line *line = &p->lines[i];

        json_object_begin(j, NULL);
        json_string(j, "limit", line->name);
        json_known_u64(j, "is", line->available);
        json_known_u64(j, "needed", line->needed);
        json_string(j, "level", preflight_level_name(line->level));
        json_string(j, "fix", line->fix[0] != '\0' ? line->fix : NULL);
        json_object_end(j);
    }
    json_array_end(j);
}

int preflight_report_plan(struct output *json, const char *program, const char *title,
                          const struct preflight *p)
{
    struct json j;

    if (json->stream == NULL) {
        preflight_report_text(stdout, title, p);
    } else {
        json_init(&j, json->stream);
        json_object_begin(&j, NULL);
        json_u64(&j, "schema", 1);
        json_string(&j, "program", program);
        json_string(&j, "title", title);
        json_string(&j, "level", preflight_level_name(preflight_worst(p)));
        put_lines(&j, p);
        json_object_end(&j);
    }
    return output_close(json) != 0 || output_flush_stdout() != 0 ? -1 : 0;
}

void preflight_report_log(const struct preflight *p, const char *subject,
                          enum preflight_level least)
{
    char available[UNITS_TEXT_BYTES], needed[UNITS_TEXT_BYTES];

    for (unsigned i = 0; i < p->n_lines; i++) {
        const struct preflight_line *line = &p->lines[i];

        if (line->level >= least)
            log_error("%s: %s: %s: available %s, needed %s: %s",
                      line->level == PREFLIGHT_WARN ? "warning" : preflight_level_name(line->level),
                      subject, line->name, number(available, line->available),
                      number(needed, line->needed), line->fix);
    }
}
