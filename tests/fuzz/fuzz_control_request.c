/* SPDX-License-Identifier: MIT
 * fuzz_control_request: arbitrary requests to the control port: one line each for the method, the
 * target, and the header fields Origin, Host and Authorization; an empty line for an absent one.  A
 * request is rejected with an error, or is the command that the target names and the sender is
 * allowed to send. */
#include "net/control_request.h"
#include "text.h"

#include <strings.h>

enum { N_COMMANDS = CONTROL_STOP + 1, TARGET_BYTES = 64 };
enum { METHOD, TARGET, ORIGIN, HOST, AUTHORIZATION, N_LINES };

#define TOKEN  "0123456789abcdef"
#define BEARER "Bearer "
#define HTTP   "http://"

static const char *const targets[N_COMMANDS] = {
    "/",      "/stats",  "/metrics", "/connections/start", "/connections/stop", "/rate",
    "/pause", "/resume", "/stop"};

/* A command, written out again, is the same request; one that the program does not support is
 * rejected. */
static void require_again(const struct control_request *q, const char *method)
{
    char error[CONTROL_REQUEST_ERROR_BYTES] = "", target[TARGET_BYTES];
    const char *name = targets[q->command];
    struct control_request again;

    if (q->command == CONTROL_START_CONNECTIONS || q->command == CONTROL_STOP_CONNECTIONS)
        snprintf(target, sizeof target, "%s?n=%llu", name, (unsigned long long)q->n);
    else
        snprintf(target, sizeof target, "%s%s", name, q->command == CONTROL_RATE ? "?qps=7" : "");
    REQUIRE(control_request_parse(&again, method, target, ~0u, error) == CONTROL_OK);
    REQUIRE(again.command == q->command && again.n == q->n);
    REQUIRE(control_request_parse(&again, method, target, ~CONTROL_BIT(q->command), error) ==
            CONTROL_UNKNOWN);
}

/* Returns the part of an absolute target that follows its host. */
static const char *path_of(const char *target)
{
    const char *path = target;

    if (strncasecmp(target, HTTP, strlen(HTTP)) == 0)
        path = strpbrk(target + strlen(HTTP), "/?");
    return path != NULL ? path : "/";
}

static void take_target(const char *method, const char *target)
{
    char error[CONTROL_REQUEST_ERROR_BYTES] = "";
    struct control_request q = {.command = CONTROL_STATS};
    const enum control_status status = control_request_parse(&q, method, target, ~0u, error);

    if (status != CONTROL_OK) {
        REQUIRE(status == CONTROL_BAD || status == CONTROL_UNKNOWN ||
                status == CONTROL_NOT_ALLOWED);
        fuzz_require_error(error, sizeof error);
        REQUIRE((status == CONTROL_UNKNOWN) == (*control_request_method(target) == '\0'));
        return;
    }
    REQUIRE(strcmp(method, control_request_method(target)) == 0);
    REQUIRE(strncmp(path_of(target), targets[q.command], strlen(targets[q.command])) == 0);
    if (q.command == CONTROL_START_CONNECTIONS || q.command == CONTROL_STOP_CONNECTIONS)
        REQUIRE(q.n >= 1);
    if (q.command == CONTROL_RATE)
        REQUIRE(q.qps >= 0 && q.qps <= 1e9);
    require_again(&q, method);
}

static bool has_token(const char *authorization)
{
    return authorization != NULL && strncasecmp(authorization, BEARER, strlen(BEARER)) == 0 &&
           strcmp(authorization + strlen(BEARER), TOKEN) == 0;
}

/* Only localhost and loopback addresses are this machine, possibly with brackets or a port. */
static bool is_here(const char *host)
{
    size_t n = 0;

    host += *host == '[';
    if (strncasecmp(host, "localhost", 9) == 0)
        n = 9;
    else if (strncmp(host, "::1", 3) == 0)
        n = 3;
    else if (strncmp(host, "127.", 4) == 0)
        n = strspn(host, "0123456789.");
    return n > 0 && strchr(":]", host[n]) != NULL;
}

/* Permission: with a token, all who send it; without one, this machine; never a web page. */
static void take_sender(const struct control_sender *from)
{
    char error[CONTROL_REQUEST_ERROR_BYTES] = "";
    const enum control_status with = control_request_check(from, TOKEN, false, error);
    const enum control_status without = control_request_check(from, NULL, false, error);

    REQUIRE((with == CONTROL_OK) == (from->origin == NULL && has_token(from->authorization)));
    REQUIRE(with == control_request_check(from, TOKEN, true, error));
    REQUIRE((control_request_check(from, NULL, true, error) == CONTROL_OK) ==
            (from->origin == NULL));
    if (without != CONTROL_OK) {
        REQUIRE(without == CONTROL_FOREIGN && error[0] != '\0');
        return;
    }
    REQUIRE(from->origin == NULL);
    REQUIRE(from->host == NULL || is_here(from->host));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *text = fuzz_text(data, n_bytes), *rest = text;
    const char *lines[N_LINES] = {"", "", NULL, NULL, NULL};

    if (text == NULL)
        return 0;
    for (int i = 0; i < N_LINES && rest != NULL; i++) {
        const char *line = strsep(&rest, "\n");

        lines[i] = i >= ORIGIN && *line == '\0' ? NULL : line;
    }
    take_target(lines[METHOD], lines[TARGET]);
    take_sender(&(struct control_sender){
        .origin = lines[ORIGIN], .host = lines[HOST], .authorization = lines[AUTHORIZATION]});
    free(text);
    return 0;
}
