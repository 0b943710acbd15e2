/* SPDX-License-Identifier: MIT
 * goal_line: the goals of tcpclient --assert in words. */
#ifndef TCPSCALER_REPORT_GOAL_LINE_H
#define TCPSCALER_REPORT_GOAL_LINE_H

#define GOAL_LINE_BYTES 1024

struct json_object;

/* Goal i of a result, in the words of tcpclient's summary: "p99<5ms missed: 1,204 of 100,827
 * queries took longer or were lost".  Returns text, of GOAL_LINE_BYTES, without control characters;
 * NULL: there is no such goal. */
const char *goal_line(char *text, const struct json_object *result, unsigned i);

#endif
