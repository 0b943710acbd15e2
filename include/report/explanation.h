/* SPDX-License-Identifier: MIT
 * explanation: why a result is in doubt: its explanations, or its reasons if it has none.  Pure. */
#ifndef TCPSCALER_REPORT_EXPLANATION_H
#define TCPSCALER_REPORT_EXPLANATION_H

#define EXPLANATION_INSTANCES_BYTES 1024

struct json_object;

/* Explanation i of a result; NULL: there is no such explanation.  Owned by the result. */
const char *explanation(const struct json_object *result, unsigned i);

/* Which of several merged instances gave it: "c1, c2: ", or "c1, c2 and 7 others: ".  Returns
 * names, of EXPLANATION_INSTANCES_BYTES; empty: not a merged result, or unknown. */
const char *explanation_instances(char *names, const struct json_object *result, unsigned i);

#endif
