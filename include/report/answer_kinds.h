/* SPDX-License-Identifier: MIT
 * answer_kinds: which kinds of DNS answers runs got, to tell whether two groups of runs measured
 * the same.  A kind is a response code, or "echoed".  A server that refuses its clients answers
 * faster than one that serves them.  Pure. */
#ifndef TCPSCALER_REPORT_ANSWER_KINDS_H
#define TCPSCALER_REPORT_ANSWER_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#define ANSWER_KINDS_MOST       17 /* 16 response codes, and echoed */
#define ANSWER_KINDS_TEXT_BYTES 100

/* Groups differ if more than this share of their answers is of other kinds. */
#define ANSWER_KINDS_SHARE 0.1

struct json_object;

/* Zero-initialize.  Names belong to the results. */
struct answer_kinds {
    struct {
        const char *name;
        double n_answers;
    } items[ANSWER_KINDS_MOST];
    size_t n;
    double n_answers; /* of all kinds */
};

/* Adds the answers of a result; of a run without DNS answers, none. */
void answer_kinds_add(struct answer_kinds *kinds, const struct json_object *result);

/* Whether both got answers, of other kinds.  If so, the text is the kind that gained most, with its
 * share of both: "SERVFAIL 0.0 % and 100.0 %". */
bool answer_kinds_differ(const struct answer_kinds *a, const struct answer_kinds *b,
                         char text[ANSWER_KINDS_TEXT_BYTES]);

#endif
