/* SPDX-License-Identifier: MIT
 * fingerprint: whether two results are comparable: same settings and same host.  Outputs, sources,
 * seeds, goals and the target are ignored, so that two servers can be compared.  Pure. */
#ifndef TCPSCALER_REPORT_FINGERPRINT_H
#define TCPSCALER_REPORT_FINGERPRINT_H

#define FINGERPRINT_TEXT_BYTES 400

struct json_object;

/* Number of settings that differ; the text names them, "rate 100 and 200, ...", as far as they fit.
 * An option that only one of them has, as the other is of an earlier version, is a difference
 * unless it is false or null. */
unsigned fingerprint_settings(const struct json_object *a, const struct json_object *b,
                              char text[FINGERPRINT_TEXT_BYTES]);

/* Likewise for kernel, CPUs, threads, their fd tables and pacing. */
unsigned fingerprint_host(const struct json_object *a, const struct json_object *b,
                          char text[FINGERPRINT_TEXT_BYTES]);

/* Likewise for the program, libevent and its backend. */
unsigned fingerprint_program(const struct json_object *a, const struct json_object *b,
                             char text[FINGERPRINT_TEXT_BYTES]);

#endif
