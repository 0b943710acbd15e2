/* SPDX-License-Identifier: MIT
 * fingerprint: whether two results are of the same kind: what was asked for, and of which machine.
 * Left out are outputs, sources, seeds, and the target: two servers are compared by the same load.
 * Pure. */
#ifndef TCPSCALER_REPORT_FINGERPRINT_H
#define TCPSCALER_REPORT_FINGERPRINT_H

#define FINGERPRINT_TEXT_BYTES 400

struct json_object;

/* In how many settings two results differ; the text names them, "rate 100 and 200, ...", as far as
 * it has room. */
unsigned fingerprint_settings(const struct json_object *a, const struct json_object *b,
                              char text[FINGERPRINT_TEXT_BYTES]);

/* Likewise kernel, CPUs, threads and pacing. */
unsigned fingerprint_host(const struct json_object *a, const struct json_object *b,
                          char text[FINGERPRINT_TEXT_BYTES]);

/* Likewise the program, libevent and its backend. */
unsigned fingerprint_program(const struct json_object *a, const struct json_object *b,
                             char text[FINGERPRINT_TEXT_BYTES]);

#endif
