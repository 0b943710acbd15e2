/* SPDX-License-Identifier: MIT
 * client_summary: see client/summary.h. */
#include "client/summary.h"

#include "base/log.h"
#include "base/messages.h"

#include <stdio.h>
#include <stdlib.h>

void client_summary_begin(struct client_summary *s, const struct report_about *about,
                          const struct client_result *result)
{
    FILE *out;

    *s = (struct client_summary){.text = NULL};
    out = open_memstream(&s->text, &s->n_bytes);
    if (out != NULL)
        report_text(out, about, result);
    if (out == NULL || fclose(out) != 0) {
        log_error("out of memory: no summary");
        s->n_bytes = 0;
    }
    s->n_shown = s->n_bytes > 0 ? messages_offer(s->text, s->n_bytes) : 0;
}

void client_summary_end(struct client_summary *s)
{
    messages_set_patience(MESSAGES_UNTIL_SHUTDOWN);
    if (s->n_shown < s->n_bytes)
        fwrite(s->text + s->n_shown, 1, s->n_bytes - s->n_shown, log_stream());
    free(s->text);
}
