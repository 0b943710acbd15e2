/* SPDX-License-Identifier: MIT
 * answer_note_reader: whether the DNS answers of a result are those of a server that did its work.
 * Pure. */
#ifndef TCPSCALER_REPORT_ANSWER_NOTE_READER_H
#define TCPSCALER_REPORT_ANSWER_NOTE_READER_H

#include "measure/answer_note.h"

struct json_object;

/* Returns the note, as tcpclient printed it, in `text`; NULL if it does not apply, as to a run
 * without DNS answers. */
const char *answer_note_read(char text[ANSWER_NOTE_BYTES], const struct json_object *result,
                             enum answer_note_kind kind);

#endif
