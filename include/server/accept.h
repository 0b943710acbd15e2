/* SPDX-License-Identifier: MIT
 * server_accept: takes connections from one listening socket, and rests when there is no room.
 *
 * At EMFILE, ENFILE, ENOBUFS or ENOMEM those who wait in the queue are refused (accepted and reset
 * with a spare fd, so that they learn of it), and the listener rests until a connection of this
 * worker ends or 100 ms have passed.  Existing connections are never touched and the loop does not
 * spin.  Used by its worker's thread only. */
#ifndef TCPSCALER_SERVER_ACCEPT_H
#define TCPSCALER_SERVER_ACCEPT_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>

struct server_worker;

struct server_accept {
    struct event listener_event;
    struct event resume_event;
    int spare_fd; /* given up for a moment to refuse a connection; -1: none to be had */
    bool paused;
    bool suspended; /* by request; then not paused */
    bool warned;
};

/* Takes over listener_fd.  Returns 0, or -1 with errno. */
int server_accept_start(struct server_worker *sw, int listener_fd);

/* A connection ended: there may be room again. */
void server_accept_resume(struct server_worker *sw);

/* Takes no connections until resumed by request; the kernel goes on completing handshakes, as many
 * as its queue holds. */
void server_accept_suspend(struct server_worker *sw, bool suspended);

/* Closes the listener and the spare fd; nothing if it was never started. */
void server_accept_stop(struct server_worker *sw);

#endif
