/* SPDX-License-Identifier: MIT
 * client_servers: see client/servers.h. */
#include "client/servers.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

#define REFUSE(...) (snprintf(error, CONTROL_SOCKET_ERROR_BYTES, __VA_ARGS__), -1)

static bool has(const struct client_servers *s, const char *address)
{
    for (unsigned i = 0; i < s->n; i++)
        if (strcmp(s->addresses[i], address) == 0)
            return true;
    return false;
}

int client_servers_parse(struct client_servers *s, const char *list, char *error)
{
    const char *at = list;
    size_t length;

    s->n = 0;
    do {
        char *address = s->addresses[s->n];

        if (s->n == CLIENT_SERVERS_MOST)
            return REFUSE("invalid value '%.150s': expected at most %d addresses", list,
                          CLIENT_SERVERS_MOST);
        length = strcspn(at, ",");
        if (length == 0 || length >= CLIENT_SERVERS_ADDRESS_BYTES)
            return REFUSE(
                "invalid value '%.150s': expected ADDRESS:PORT or unix:PATH, separated by "
                "commas",
                list);
        memcpy(address, at, length);
        address[length] = '\0';
        if (has(s, address))
            return REFUSE("invalid value '%.150s': expected different addresses", list);
        s->n++;
        at += length + 1;
    } while (at[-1] == ',');
    return 0;
}

/* A server given under two addresses would be counted twice. */
static int refuse_same(const struct client_servers *s, unsigned i, char *error)
{
    for (unsigned k = 0; k < i; k++)
        if (server_stats_same_server(&s->before[k], &s->before[i]))
            return REFUSE("'%.100s' and '%.100s' are the same tcpserver: give only one",
                          s->addresses[k], s->addresses[i]);
    return 0;
}

int client_servers_read_before(struct client_servers *s, const struct control_token *token,
                               int wait_ms, char *error)
{
    for (unsigned i = 0; i < s->n; i++)
        if (server_stats_read(&s->before[i], s->addresses[i], token, wait_ms, error) != 0 ||
            refuse_same(s, i, error) != 0)
            return -1;
    return 0;
}

void client_servers_read_after(struct client_servers *s, const struct control_token *token)
{
    char error[CONTROL_SOCKET_ERROR_BYTES];

    for (unsigned i = 0; i < s->n; i++)
        if (server_stats_read(&s->after[i], s->addresses[i], token, CONTROL_SOCKET_WAIT_MS,
                              error) != 0)
            log_error("--server-control: %s", error);
}

struct server_stats client_servers_stats(const struct client_servers *s, unsigned i)
{
    return server_stats_between(&s->before[i], &s->after[i]);
}

struct server_stats client_servers_sum(const struct client_servers *s)
{
    struct server_stats sum = {.is_known = false};

    for (unsigned i = 0; i < s->n; i++) {
        const struct server_stats one = client_servers_stats(s, i);

        sum = i == 0 ? one : server_stats_sum(&sum, &one);
    }
    return sum;
}
