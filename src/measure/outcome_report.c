/* SPDX-License-Identifier: MIT
 * outcome_report: see measure/outcome_report.h. */
#include "measure/outcome_report.h"

#include "base/json.h"
#include "base/log.h"
#include "base/units.h"
#include "measure/openmetrics.h"

enum { NAME_BYTES = 64 };

/* Returns whether a remedy was printed. */
static bool print_line(FILE *out, struct outcome o, uint64_t n, bool with_remedy)
{
    char text[UNITS_TEXT_BYTES];
    const char *remedy = with_remedy ? outcome_remedy(o.reason) : NULL;

    fprintf(out, "%12s  %s: %s\n", units_format_count(text, n), outcome_phase_name(o.phase),
            outcome_reason_name(o.reason));
    if (remedy != NULL)
        fprintf(out, "              -> %s\n", remedy);
    return remedy != NULL;
}

void outcome_report_text(FILE *out, const char *title,
                         const tally_count counts[OUTCOME_N_PHASES][OUTCOME_N_REASONS],
                         bool with_remedies)
{
    bool titled = false, remedied = false;

    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        for (int r = 0; r < OUTCOME_N_REASONS; r++) {
            const uint64_t n = tally_get(&counts[p][r]);

            if (n == 0)
                continue;
            if (!titled)
                fprintf(out, "\n%s\n", title);
            titled = true;
            remedied |=
                print_line(out, (struct outcome){(enum outcome_phase)p, (enum outcome_reason)r}, n,
                           with_remedies);
        }
    if (remedied)
        fputs("              (docs/limits.md explains each reason)\n", out);
}

void outcome_report_log(const tally_count counts[OUTCOME_N_PHASES][OUTCOME_N_REASONS])
{
    char text[UNITS_TEXT_BYTES];

    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        for (int r = 0; r < OUTCOME_N_REASONS; r++) {
            const uint64_t n = tally_get(&counts[p][r]);
            const char *remedy = outcome_remedy((enum outcome_reason)r);

            if (n > 0 && remedy != NULL)
                log_error("%s %s: %s: %s: %s", units_format_count(text, n),
                          units_noun(n, "connection", "connections"),
                          outcome_phase_name((enum outcome_phase)p),
                          outcome_reason_name((enum outcome_reason)r), remedy);
        }
}

/* "phase/reason", NAME_BYTES. */
static const char *name_of(char *name, int phase, int reason)
{
    snprintf(name, NAME_BYTES, "%s/%s", outcome_phase_name((enum outcome_phase)phase),
             outcome_reason_name((enum outcome_reason)reason));
    return name;
}

void outcome_report_json(struct json *j, const char *key,
                         const tally_count counts[OUTCOME_N_PHASES][OUTCOME_N_REASONS])
{
    char name[NAME_BYTES];

    json_object_begin(j, key);
    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        for (int r = 0; r < OUTCOME_N_REASONS; r++)
            if (tally_get(&counts[p][r]) > 0)
                json_u64(j, name_of(name, p, r), tally_get(&counts[p][r]));
    json_object_end(j);
}

void outcome_report_metrics(struct openmetrics *m, const char *family, const char *help,
                            const tally_count counts[OUTCOME_N_PHASES][OUTCOME_N_REASONS])
{
    char name[NAME_BYTES];

    openmetrics_family(m, OPENMETRICS_COUNTER, family, help);
    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        for (int r = 0; r < OUTCOME_N_REASONS; r++)
            if (tally_get(&counts[p][r]) > 0)
                openmetrics_u64(m, "outcome", name_of(name, p, r), tally_get(&counts[p][r]));
}
