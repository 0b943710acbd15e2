/* SPDX-License-Identifier: MIT
 * answer_note: whether the DNS answers of a run are those of a server that did its work.  An answer
 * counts whatever its response code, and an error may cost the server less than the records of a
 * zone: without a note, a server that refuses every query has a valid capacity.  Pure. */
#ifndef TCPSCALER_MEASURE_ANSWER_NOTE_H
#define TCPSCALER_MEASURE_ANSWER_NOTE_H

#include <stdbool.h>

/* The response codes that say that the server did not do its work.  NXDOMAIN is none of them. */
enum answer_error {
    ANSWER_FORMERR,
    ANSWER_SERVFAIL,
    ANSWER_NOTIMP,
    ANSWER_REFUSED,
    ANSWER_N_ERRORS
};

/* There is a note if more than this share of the answers is of its kind: then p90 may be the time
 * of such an answer.  tcpreport compare has the same limit (report/answer_kinds.h); a resolver
 * answers a few percent of real queries with SERVFAIL. */
#define ANSWER_NOTE_SHARE 0.1

/* Answers to measured queries.  Zero-initialize.  Sums of counts that another program wrote do not
 * overflow a double. */
struct answer_counts {
    double n_answers; /* of any kind */
    double errors[ANSWER_N_ERRORS];
    double n_truncated;
    bool over_udp;
};

/* Adds answers of a kind: the name of a response code (protocol/dns_rcode.h), or "echoed". */
void answer_counts_add(struct answer_counts *c, const char *kind, double n_answers);

enum answer_note_kind {
    ANSWER_NOTE_ERRORS,
    ANSWER_NOTE_TRUNCATED, /* over UDP only */
    ANSWER_N_NOTES
};

/* Returns the note, without a full stop, in `text`: "100 % of the answers were REFUSED, ..."
 * (scripts/nightly.sh searches for these words).  NULL if it does not apply. */
#define ANSWER_NOTE_BYTES 256
const char *answer_note(char text[ANSWER_NOTE_BYTES], const struct answer_counts *c,
                        enum answer_note_kind kind);

#endif
