/* SPDX-License-Identifier: MIT
 * answer_note: see measure/answer_note.h. */
#include "measure/answer_note.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *check;
} errors[ANSWER_N_ERRORS] = {
    [ANSWER_FORMERR] = {"FORMERR", "check whether it supports the queries' EDNS options"},
    [ANSWER_SERVFAIL] = {"SERVFAIL", "check whether its zones are loaded or, if it is a resolver, "
                                     "whether it reaches other servers"},
    [ANSWER_NOTIMP] = {"NOTIMP", "check the types of the queries"},
    [ANSWER_REFUSED] = {"REFUSED", "check its access list, its zones and the names of the queries"},
};

void answer_counts_add(struct answer_counts *c, const char *kind, double n_answers)
{
    c->n_answers += n_answers;
    for (int i = 0; i < ANSWER_N_ERRORS; i++)
        if (strcmp(kind, errors[i].name) == 0)
            c->errors[i] += n_answers;
}

static bool are_many(const struct answer_counts *c, double n)
{
    return n > ANSWER_NOTE_SHARE * c->n_answers;
}

/* Rounded down to a tenth: 100 % means all of them. */
static double percent_of(const struct answer_counts *c, double n)
{
    return floor(1000 * n / c->n_answers) / 10;
}

static const char *note_errors(char *text, const struct answer_counts *c)
{
    double n = 0;
    int most = 0;

    for (int i = 0; i < ANSWER_N_ERRORS; i++) {
        n += c->errors[i];
        if (c->errors[i] > c->errors[most])
            most = i;
    }
    if (!are_many(c, n))
        return NULL;
    snprintf(
        text, ANSWER_NOTE_BYTES,
        "%.4g %% of the answers were %s%s, which may cost the server less than other answers: %s",
        percent_of(c, n), c->errors[most] < n ? "errors, most often " : "", errors[most].name,
        errors[most].check);
    return text;
}

static const char *note_truncated(char *text, const struct answer_counts *c)
{
    if (!c->over_udp || !are_many(c, c->n_truncated))
        return NULL;
    snprintf(text, ANSWER_NOTE_BYTES,
             "%.4g %% of the answers were truncated: a resolver would repeat these queries over "
             "TCP; check --edns and the server's rate limit",
             percent_of(c, c->n_truncated));
    return text;
}

const char *answer_note(char text[ANSWER_NOTE_BYTES], const struct answer_counts *c,
                        enum answer_note_kind kind)
{
    return kind == ANSWER_NOTE_ERRORS ? note_errors(text, c) : note_truncated(text, c);
}
