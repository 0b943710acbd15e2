/* SPDX-License-Identifier: MIT
 * compare_report: see report/compare_report.h. */
#include "report/compare_report.h"

#include "base/log.h"
#include "base/units.h"
#include "report/cmd.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *compare_report_verdict(int code)
{
    static const char *const verdicts[] = {
        [CMD_OK] = "PASS", [CMD_WORSE] = "REGRESSION", [CMD_USAGE] = "INCONCLUSIVE"};

    return verdicts[code];
}

const char *compare_report_finding(enum comparison_finding finding)
{
    static const char *const findings[] = {
        [COMPARISON_SAME] = "same", [COMPARISON_WORSE] = "worse", [COMPARISON_BETTER] = "better"};

    return findings[finding];
}

void compare_report_value(const struct run_metric *row, double value)
{
    char text[UNITS_TEXT_BYTES];

    if (row->percentile != NULL)
        printf("%11s", units_format_duration(text, (uint64_t)(value + 0.5)));
    else
        printf("%9.4f %%", 100 * value);
}

void compare_report_not_judged(const bool is_judged[RUN_METRICS])
{
    const char *separator = "; not judged: ";

    for (int i = 0; i < RUN_METRICS; i++) {
        if (is_judged[i])
            continue;
        printf("%s%s", separator, run_metrics[i].name);
        separator = ", ";
    }
}

int compare_report_json_begin(struct json *j, const char *path, int code, const char *reason)
{
    FILE *out = fopen(path, "we");

    if (out == NULL)
        return log_error("--json: %s: %s", path, strerror(errno));
    json_init(j, out);
    json_object_begin(j, NULL);
    json_string(j, "verdict", compare_report_verdict(code));
    json_string(j, "reason", code == CMD_USAGE ? reason : NULL);
    return 0;
}

int compare_report_json_end(struct json *j, const char *path, const bool is_judged[RUN_METRICS])
{
    bool failed;

    json_array_begin(j, "not_judged");
    for (int i = 0; i < RUN_METRICS; i++)
        if (!is_judged[i])
            json_string(j, NULL, run_metrics[i].name);
    json_array_end(j);
    json_object_end(j);
    failed = ferror(j->out) != 0;
    if ((fclose(j->out) != 0) | failed)
        return log_error("--json: %s: %s", path, strerror(errno));
    return 0;
}
