/* SPDX-License-Identifier: MIT
 * profile: see config/profile.h. */
#include "config/profile.h"

#include <string.h>

/* Source addresses depend on the host, so no profile has any. */
static const struct profile profiles[] = {
    {"connscale-200k",
     "connscale's largest run: 200,000 connections, one ping per 20 s on each",
     {"protocol = ping\n"
      "connections = 200000\n"
      "interval = 20s\n"
      "timeout = 20s\n"
      "duration = 60s\n",
      "protocol = ping\n"
      "max-connections = 200000\n"
      "backlog = 512\n"}},
    {"tcpscaler-300k",
     "the highest rate of the original tcpscaler: 300,000 DNS queries/s over 5 connections",
     {"protocol = dns\n"
      "connections = 5\n"
      "rate = 300000\n"
      "duration = 60s\n",
      "protocol = echo\n"}},
    {"subscribers-200k",
     "the rate of the 12-million benchmark: 200,000 messages/s of 512 bytes to 200,000 subscribers",
     {"protocol = listen\n"
      "connections = 200000\n"
      "settle = 5s\n"
      "duration = 30s\n",
      "push = 200000\n"
      "push-size = 512\n"
      "max-connections = 200000\n"}},
};

enum { N_PROFILES = sizeof profiles / sizeof *profiles, NAME_COLUMNS = 18 };

const struct profile *profile_find(const char *name)
{
    for (size_t i = 0; i < N_PROFILES; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return &profiles[i];
    return NULL;
}

void profile_list(FILE *out)
{
    for (size_t i = 0; i < N_PROFILES; i++)
        fprintf(out, "%-*s%s\n", NAME_COLUMNS, profiles[i].name, profiles[i].summary);
}

void profile_names(char *text, size_t n_bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < N_PROFILES && n < n_bytes; i++)
        n += (size_t)snprintf(text + n, n_bytes - n, "%s%s", i > 0 ? ", " : "", profiles[i].name);
}
