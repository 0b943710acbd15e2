/* SPDX-License-Identifier: MIT
 * control_request: what a request to the control port asks for, and whether it may.
 *
 * Pure: texts in, a command or an HTTP status (RFC 9110) out.  The paths are the whole list: there
 * is no other one, and none has anything below it. */
#ifndef TCPSCALER_NET_CONTROL_REQUEST_H
#define TCPSCALER_NET_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONTROL_REQUEST_ERROR_BYTES 200

enum control_command {
    CONTROL_PATHS, /* the list of what there is */
    CONTROL_STATS,
    CONTROL_METRICS,
    CONTROL_START_CONNECTIONS,
    CONTROL_STOP_CONNECTIONS,
    CONTROL_RATE,
    CONTROL_PAUSE,
    CONTROL_RESUME,
    CONTROL_STOP
};

/* Sets of commands: those a program knows. */
#define CONTROL_BIT(command) (1u << (command))

enum control_status {
    CONTROL_OK = 200,
    CONTROL_BAD = 400,         /* a parameter */
    CONTROL_NO_TOKEN = 401,    /* missing or wrong */
    CONTROL_FOREIGN = 403,     /* from a page in a browser */
    CONTROL_UNKNOWN = 404,     /* no such path */
    CONTROL_NOT_ALLOWED = 405, /* another method */
    CONTROL_NOT_NOW = 409,     /* the state of the run does not admit it */
    CONTROL_TOO_OFTEN = 429,   /* more changes than can be kept apart */
    CONTROL_NO_MEMORY = 503
};

struct control_request {
    enum control_command command;
    uint64_t n; /* of START and STOP_CONNECTIONS: at least 1 */
    double qps; /* of RATE */
};

/* A method ("GET") and a request target ("/rate?qps=100").  Returns CONTROL_OK with *q filled, or
 * the status with one line in error (CONTROL_REQUEST_ERROR_BYTES) that says what is accepted. */
enum control_status control_request_parse(struct control_request *q, const char *method,
                                          const char *target, unsigned known, char *error);

/* The paths of the known commands as JSON, {"paths": ["GET /", "POST /rate?qps=QPS", ...]}.  Write
 * errors stay in the stream. */
void control_request_list(FILE *out, unsigned known);

/* The only method of a path, for the Allow field of a 405. */
const char *control_request_method(const char *target);

/* What the fields of a request say about who sent it; NULL: no such field. */
struct control_sender {
    const char *origin;        /* Origin: set by browsers for what a page asks */
    const char *host;          /* Host */
    const char *authorization; /* Authorization */
};

/* The token as "Bearer TOKEN", compared in a time that tells nothing of where they differ.  With no
 * token (NULL) anyone on this machine may ask who is not a page in a browser: neither one that says
 * so nor one whose host name was made to resolve to here (its Host is that name, not localhost or a
 * loopback address; any_host: it is a unix socket, which no page can reach).  Returns as above. */
enum control_status control_request_check(const struct control_sender *from, const char *token,
                                          bool any_host, char *error);

#endif
