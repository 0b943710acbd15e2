/* SPDX-License-Identifier: MIT
 * control_request: see net/control_request.h. */
#include "net/control_request.h"

#include "base/endpoint.h"
#include "base/json.h"
#include "base/units.h"

#include <string.h>
#include <strings.h>

#define MAX_QPS 1e9
#define BEARER  "Bearer "
#define HTTP    "http://"

/* In the order of enum control_command. */
static const struct path {
    const char *path, *method, *parameter; /* NULL: no parameter */
    const char *value;                     /* describes the parameter */
} paths[] = {
    {"/", "GET", NULL, NULL},
    {"/stats", "GET", NULL, NULL},
    {"/metrics", "GET", NULL, NULL},
    {"/connections/start", "POST", "n", "N"},
    {"/connections/stop", "POST", "n", "N"},
    {"/rate", "POST", "qps", "QPS"},
    {"/pause", "POST", NULL, NULL},
    {"/resume", "POST", NULL, NULL},
    {"/stop", "POST", NULL, NULL},
};

enum { N_PATHS = sizeof paths / sizeof *paths };

#define REFUSE(status, ...)                                                                        \
    (snprintf(error, CONTROL_REQUEST_ERROR_BYTES, __VA_ARGS__), CONTROL_##status)

/* Returns the path of a target such as "/stats", or of its absolute form "http://127.0.0.1/stats"
 * (RFC 9112, 3.2.2). */
static const char *path_of(const char *target)
{
    if (strncasecmp(target, HTTP, strlen(HTTP)) != 0)
        return target;
    target += strlen(HTTP);
    target += strcspn(target, "/?");
    return *target != '\0' ? target : "/";
}

static const struct path *find(const char *target)
{
    const char *path = path_of(target);
    const size_t n = strcspn(path, "?");

    for (int i = 0; i < N_PATHS; i++)
        if (strlen(paths[i].path) == n && memcmp(paths[i].path, path, n) == 0)
            return &paths[i];
    return NULL;
}

const char *control_request_method(const char *target)
{
    const struct path *p = find(target);

    return p != NULL ? p->method : "";
}

void control_request_list(FILE *out, unsigned known)
{
    struct json j;
    char text[64];

    json_init(&j, out);
    json_object_begin(&j, NULL);
    json_array_begin(&j, "paths");
    for (int i = 0; i < N_PATHS; i++) {
        const struct path *p = &paths[i];

        if (p->parameter != NULL)
            snprintf(text, sizeof text, "%s %s?%s=%s", p->method, p->path, p->parameter, p->value);
        else
            snprintf(text, sizeof text, "%s %s", p->method, p->path);
        if ((known & CONTROL_BIT(i)) != 0)
            json_string(&j, NULL, text);
    }
    json_array_end(&j);
    json_object_end(&j);
}

static enum control_status parse_parameter(struct control_request *q, const struct path *p,
                                           const char *query, char *error)
{
    const size_t n_name = strlen(p->parameter);
    const char *value = query + n_name + 1;
    const bool named = strncmp(query, p->parameter, n_name) == 0 && query[n_name] == '=';

    if (q->command == CONTROL_RATE) {
        if (!named || units_parse_rate(value, &q->qps) != 0 || q->qps > MAX_QPS)
            return REFUSE(BAD, "invalid parameter: expected %s?qps=QPS, 0 to 1G per second",
                          p->path);
    } else if (!named || units_parse_count(value, &q->n) != 0 || q->n == 0) {
        return REFUSE(BAD, "invalid parameter: expected %s?n=N, at least 1", p->path);
    }
    return CONTROL_OK;
}

enum control_status control_request_parse(struct control_request *q, const char *method,
                                          const char *target, unsigned known, char *error)
{
    const struct path *p = find(target);
    const char *query = strchr(target, '?');

    if (p == NULL || (known & CONTROL_BIT(p - paths)) == 0)
        return REFUSE(UNKNOWN, "no such path: GET / lists all paths");
    if (strcmp(method, p->method) != 0)
        return REFUSE(NOT_ALLOWED, "%s accepts only %s", p->path, p->method);
    *q = (struct control_request){.command = (enum control_command)(p - paths)};
    if (p->parameter != NULL)
        return parse_parameter(q, p, query != NULL ? query + 1 : "", error);
    return query == NULL ? CONTROL_OK : REFUSE(BAD, "%s takes no parameter", p->path);
}

/* --- permission --- */

/* Takes a time that depends only on the length of the sent text. */
static bool is_token(const char *sent, const char *token)
{
    const size_t n_sent = strlen(sent), n = strlen(token);
    volatile unsigned char differs = n_sent != n;

    for (size_t i = 0; i < n_sent; i++)
        differs |= (unsigned char)(sent[i] ^ token[i % n]);
    return differs == 0;
}

static bool is_loopback(const char *host)
{
    struct endpoint e;
    size_t n_digits;

    if (endpoint_parse(host, &e) != 0)
        return false;
    n_digits = strspn(e.host, "0123456789.");
    return strcasecmp(e.host, "localhost") == 0 || strcmp(e.host, "::1") == 0 ||
           (strncmp(e.host, "127.", 4) == 0 && e.host[n_digits] == '\0');
}

enum control_status control_request_check(const struct control_sender *from, const char *token,
                                          bool any_host, char *error)
{
    const char *sent = from->authorization;

    if (from->origin != NULL)
        return REFUSE(FOREIGN, "requests from browsers are refused");
    if (token != NULL) {
        if (sent == NULL || strncasecmp(sent, BEARER, strlen(BEARER)) != 0 ||
            !is_token(sent + strlen(BEARER), token))
            return REFUSE(NO_TOKEN, "expected the header 'Authorization: Bearer TOKEN'");
        return CONTROL_OK;
    }
    if (!any_host && from->host != NULL && !is_loopback(from->host))
        return REFUSE(FOREIGN, "the Host header is not a loopback address");
    return CONTROL_OK;
}
