/* SPDX-License-Identifier: MIT
 * watch_file: joins the samples that tcpreport watch wrote on the server's host with the result of
 * a run, by time: assumes that the clocks of both hosts are synchronized. */
#ifndef TCPSCALER_REPORT_WATCH_FILE_H
#define TCPSCALER_REPORT_WATCH_FILE_H

struct json_object;

/* Sets the key `server_cost` of the result.  Assumes that queries are sent evenly during the
 * measurement.  Returns 0; or -1 after one line on stderr if the file cannot be read, is not such a
 * file, or has no samples from the time of the run, or if the result does not say when it was. */
int watch_file_join(struct json_object *result, const char *path);

#endif
