/* SPDX-License-Identifier: MIT
 * descriptor: the simulated file descriptors, in the tables of the threads.
 *
 * They have numbers from DESCRIPTOR_FIRST on; what lies below is the kernel's.  A number that is
 * free is used again at once.  A thread may have a table of its own, as after
 * unshare(CLONE_FILES): a descriptor is open while one table has it.  A number means the same in
 * all tables. */
#ifndef TCPSCALER_SIM_DESCRIPTOR_H
#define TCPSCALER_SIM_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

enum { DESCRIPTOR_FIRST = 1000 };

enum descriptor_kind {
    DESCRIPTOR_FREE,
    DESCRIPTOR_SOCKET,
    DESCRIPTOR_EPOLL,
    DESCRIPTOR_EVENT,
    DESCRIPTOR_SEMAPHORE, /* an eventfd(2) that several threads wait for */
    DESCRIPTOR_TIMER,
    DESCRIPTOR_PIPE, /* of libevent's signals; nothing ever passes */
    DESCRIPTOR_NULL  /* /dev/null, or a copy of any other */
};

struct descriptor {
    uint8_t kind;
    bool listed;       /* readiness: in the list of what may be ready, of its watcher */
    uint32_t interest; /* EPOLLIN and EPOLLOUT */
    int watcher;       /* epoll that watches it; -1: none */
    int previous, next;
    epoll_data_t data;
    union {
        uint64_t count; /* EVENT, SEMAPHORE; TIMER: the time of its expiry, 0: off */
        uint32_t tcp;   /* SOCKET */
        struct {        /* EPOLL */
            int head, tail;
            int sleeper; /* fiber; -1: none */
        };
    };
    bool expired;    /* TIMER */
    uint32_t serial; /* of the uses of the number */
    uint64_t tables; /* bit set of those that have it */
    int creator;     /* the first of them */
};

void descriptor_begin(void);

/* The lowest free number, or -1 with errno: the limit of the scenario. */
int descriptor_new(enum descriptor_kind kind);

/* NULL: none of ours, or not open. */
struct descriptor *descriptor_of(int fd);

static inline bool descriptor_is_simulated(int fd)
{
    return fd >= DESCRIPTOR_FIRST;
}

/* Of the table of the thread that runs.  Where no other table has it, it is closed with its
 * connection, also out of its epoll. */
void descriptor_close(int fd);

/* --- tables --- */

/* The thread that runs gets its own, a copy. */
void descriptor_unshare(void);

/* Closes those of a range in the table of the thread that runs. */
void descriptor_close_range(int first, int last);

/* The thread ends: its own table goes.  Nothing that it has opened may be left in it. */
void descriptor_drop_table(void);

/* Whether the table of the thread that runs has it, which is open. */
bool descriptor_is_in_table(int fd);

/* Whether the table of the thread that runs is full; and how many more fit into all tables but that
 * of fiber 0. */
bool descriptor_is_full(void);
uint64_t descriptor_room(void);

/* Open ones; and how many numbers have been used, from DESCRIPTOR_FIRST on. */
uint32_t descriptor_n_open(void);
uint32_t descriptor_n_used(void);

#endif
