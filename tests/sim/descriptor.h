/* SPDX-License-Identifier: MIT
 * descriptor: the simulated file descriptors, in the tables of the threads.
 *
 * Their numbers start at DESCRIPTOR_FIRST; lower ones are the kernel's. A free number is used again
 * at once.  A thread may have a table of its own, as after unshare(CLONE_FILES): a descriptor is
 * open while one table has it.  A number means the same in all tables. */
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
    DESCRIPTOR_PIPE, /* of libevent's signals; nothing is ever written to it */
    DESCRIPTOR_NULL  /* /dev/null, or a copy of any other */
};

struct descriptor {
    uint8_t kind;
    bool listed;       /* readiness: it is in its watcher's list of descriptors that may be ready */
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
    uint32_t serial; /* counts the uses of the number */
    uint64_t tables; /* bit set of the tables that have it */
    int creator;     /* the first of these tables */
};

void descriptor_begin(void);

/* Returns the lowest free number, or -1 with errno if the limit of the scenario is reached. */
int descriptor_new(enum descriptor_kind kind);

/* Returns NULL if the descriptor is not simulated, or not open. */
struct descriptor *descriptor_of(int fd);

static inline bool descriptor_is_simulated(int fd)
{
    return fd >= DESCRIPTOR_FIRST;
}

/* Closes a descriptor in the table of the running thread.  If no other table has it, its connection
 * is closed, too, and it leaves its epoll. */
void descriptor_close(int fd);

/* --- tables --- */

/* Gives the running thread a table of its own, a copy. */
void descriptor_unshare(void);

/* Closes the descriptors of a range in the table of the running thread. */
void descriptor_close_range(int first, int last);

/* The thread ends, and so does its own table.  No descriptor that it has opened may be left in it.
 */
void descriptor_drop_table(void);

/* Whether the table of the running thread has this open descriptor. */
bool descriptor_is_in_table(int fd);

/* Return whether the table of the running thread is full, and how many more descriptors fit into
 * all tables except that of fiber 0. */
bool descriptor_is_full(void);
uint64_t descriptor_room(void);

/* Return how many descriptors are open, and how many numbers have been used, from DESCRIPTOR_FIRST
 * on. */
uint32_t descriptor_n_open(void);
uint32_t descriptor_n_used(void);

#endif
