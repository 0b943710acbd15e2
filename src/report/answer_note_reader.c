/* SPDX-License-Identifier: MIT
 * answer_note_reader: see report/answer_note_reader.h. */
#include "report/answer_note_reader.h"

#include "report/answer_kinds.h"
#include "report/result.h"

const char *answer_note_read(char text[ANSWER_NOTE_BYTES], const struct json_object *result,
                             enum answer_note_kind kind)
{
    struct answer_counts counts = {.over_udp = result_find(result, "udp") != NULL};
    struct answer_kinds kinds = {0};

    answer_kinds_add(&kinds, result);
    for (size_t i = 0; i < kinds.n; i++)
        answer_counts_add(&counts, kinds.items[i].name, kinds.items[i].n_answers);
    (void)result_double(result, "answers.truncated", &counts.n_truncated);
    return answer_note(text, &counts, kind);
}
