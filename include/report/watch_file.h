/* SPDX-License-Identifier: MIT
 * watch_file: joins the samples that tcpreport watch wrote on the server's host with the result of
 * a run, by time: the clocks of both hosts are taken to be synchronized. */
#ifndef TCPSCALER_REPORT_WATCH_FILE_H
#define TCPSCALER_REPORT_WATCH_FILE_H

struct json_object;

/* Sets the key `server_cost` of the result.  Queries are taken to be sent evenly during the
 * measurement.  Returns 0; or -1 after a line: the file is not readable or not such a file, or has
 * no samples of the time of the run. */
int watch_file_join(struct json_object *result, const char *path);

#endif
