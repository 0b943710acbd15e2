/* SPDX-License-Identifier: MIT
 * floor: the least work a program on kernel sockets can do, for comparison: one thread, epoll, no
 * library, no connection state beyond a few counters; it counts bytes to count answers.
 *
 *   floor server [PORT]
 *       echoes; prints its port
 *   floor client PORT MESSAGE N RATE SECONDS
 *       RATE messages/s over N connections, open loop
 *   floor flood PORT MESSAGE N SECONDS BATCH WINDOW
 *       as fast as possible: BATCH messages per send(2), at most WINDOW unanswered per connection
 *   floor connects PORT MESSAGE|none SECONDS
 *       connects, sends MESSAGE, waits for the first bytes, resets
 *
 * MESSAGE: dns, echo (6 bytes) or http; every answer must be as long as the first.  The clients
 * print one JSON object. */
#include "floor_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void raise_fd_limit(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int usage(void)
{
    fputs("usage: floor server [PORT]\n"
          "       floor client PORT MESSAGE N RATE SECONDS\n"
          "       floor flood PORT MESSAGE N SECONDS BATCH WINDOW\n"
          "       floor connects PORT MESSAGE|none SECONDS\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static struct client c;
    const char *role = argc > 1 ? argv[1] : "";
    const bool load = strcmp(role, "client") == 0 && argc == 7;
    const bool flood = strcmp(role, "flood") == 0 && argc == 8;
    const bool connects = strcmp(role, "connects") == 0 && argc == 5;

    raise_fd_limit();
    if (strcmp(role, "server") == 0)
        return floor_server(argc > 2 ? atoi(argv[2]) : 0);
    if (!load && !flood && !connects)
        return usage();
    if (connects && strcmp(argv[3], "none") == 0)
        c.to = loopback(atoi(argv[2]));
    else
        client_prepare(&c, atoi(argv[2]), argv[3]);
    if (connects) {
        floor_connects(&c, atof(argv[4]));
        return 0;
    }
    client_learn_answer(&c);
    if (load)
        floor_load(&c, (uint32_t)atoi(argv[4]), atof(argv[5]), atof(argv[6]));
    else
        floor_flood(&c, (uint32_t)atoi(argv[4]), atof(argv[5]), (uint32_t)atoi(argv[6]),
                    (uint32_t)atoi(argv[7]));
    return 0;
}
