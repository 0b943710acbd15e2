/* SPDX-License-Identifier: MIT
 * client_summary: see client/summary.h. */
#include "client/summary.h"

#include "base/log.h"
#include "base/messages.h"
#include "base/text_stream.h"

#include <stdio.h>
#include <stdlib.h>

void client_summary_begin(struct client_summary *s, const struct report_about *about,
                          const struct client_result *result)
{
    struct text_stream t;

    if (text_stream_open(&t) == 0)
        report_text(t.out, about, result);
    s->text = text_stream_close(&t, &s->n_bytes);
    if (s->text == NULL)
        log_error("out of memory: no summary");
    s->n_shown = s->n_bytes > 0 ? messages_offer(s->text, s->n_bytes) : 0;
}

void client_summary_end(struct client_summary *s)
{
    messages_set_wait(MESSAGES_UNTIL_SHUTDOWN);
    if (s->n_shown < s->n_bytes)
        fwrite(s->text + s->n_shown, 1, s->n_bytes - s->n_shown, log_stream());
    free(s->text);
}
