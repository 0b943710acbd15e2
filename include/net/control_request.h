/* SPDX-License-Identifier: MIT
 * control_request: parses a request to the control API and checks whether it is allowed.  Pure:
 * text in, a command or an HTTP status (RFC 9110) out.  The list of paths is complete: no path has
 * subpaths. */
#ifndef TCPSCALER_NET_CONTROL_REQUEST_H
#define TCPSCALER_NET_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CONTROL_REQUEST_ERROR_BYTES 200

enum control_command {
    CONTROL_PATHS, /* the list of all paths */
    CONTROL_STATS,
    CONTROL_METRICS,
    CONTROL_START_CONNECTIONS,
    CONTROL_STOP_CONNECTIONS,
    CONTROL_RATE,
    CONTROL_PAUSE,
    CONTROL_RESUME,
    CONTROL_STOP
};

/* Sets of the commands that a program supports. */
#define CONTROL_BIT(command) (1u << (command))

enum control_status {
    CONTROL_OK = 200,
    CONTROL_BAD = 400,         /* a parameter */
    CONTROL_NO_TOKEN = 401,    /* missing or wrong */
    CONTROL_FOREIGN = 403,     /* from a web page */
    CONTROL_UNKNOWN = 404,     /* no such path */
    CONTROL_NOT_ALLOWED = 405, /* another method */
    CONTROL_NOT_NOW = 409,     /* not possible in the current state of the run */
    CONTROL_TOO_OFTEN = 429,   /* too many changes in a short time */
    CONTROL_NO_MEMORY = 503
};

struct control_request {
    enum control_command command;
    uint64_t n; /* for START and STOP_CONNECTIONS: at least 1 */
    double qps; /* of RATE */
};

/* Parses a method ("GET") and a request target ("/rate?qps=100").  known: the set of commands that
 * the program supports; the paths of others are CONTROL_UNKNOWN.  Returns CONTROL_OK with *q
 * filled, or the status with one line in error (CONTROL_REQUEST_ERROR_BYTES) that says what is
 * expected. */
enum control_status control_request_parse(struct control_request *q, const char *method,
                                          const char *target, unsigned known, char *error);

/* The paths of the known commands as JSON, {"paths": ["GET /", "POST /rate?qps=QPS", ...]}.  Write
 * errors stay in the stream. */
void control_request_list(FILE *out, unsigned known);

/* The only method of a path, for the Allow field of a 405; "" for an unknown path. */
const char *control_request_method(const char *target);

/* The header fields that identify the sender of a request; NULL: absent. */
struct control_sender {
    const char *origin;        /* Origin: set by browsers for requests of a page */
    const char *host;          /* Host */
    const char *authorization; /* Authorization */
};

/* Refuses requests with Origin: they come from a web page.  Checks the token, "Bearer TOKEN", in a
 * time that depends only on the length of what was sent.  Without a token (NULL), any process on
 * this host is allowed, but no web page whose host name was rebound to this host: its Host is that
 * name, not localhost or a loopback address. any_host: the port is a unix socket, which web pages
 * cannot reach.  Returns as above. */
enum control_status control_request_check(const struct control_sender *from, const char *token,
                                          bool any_host, char *error);

#endif
