/* SPDX-License-Identifier: MIT
 * fiber: see fiber.h. */
#include "fiber.h"

#include "descriptor.h"
#include "memory.h"
#include "violation.h"
#include "world.h"

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#if defined __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 512 * 1024 };

struct fiber {
    ucontext_t context;
    void *stack; /* NULL: fiber 0's, or none yet */
    void *(*run)(void *);
    void *arg;
    uint64_t wake_ns;
    bool exists, done;
    void *fake_stack; /* AddressSanitizer's */
    const void *bottom;
    size_t size;
};

static struct fiber fibers[FIBER_MOST];
static int current, n_fibers;
uint64_t fiber_clock_ns[FIBER_MOST];
uint32_t fiber_read_from[FIBER_MOST];
uint64_t fiber_n_refusals[FIBER_MOST];

void fiber_begin(void)
{
    for (int i = 0; i < FIBER_MOST; i++) {
        fibers[i].exists = i == 0;
        fibers[i].done = false;
        fiber_clock_ns[i] = fiber_n_refusals[i] = 0;
    }
    n_fibers = 1;
    current = 0;
}

int fiber_current(void)
{
    return current;
}

bool fiber_is_done(int fiber)
{
    return fibers[fiber].done;
}

/* --- switching --- */

static void leave_stack(struct fiber *from, const struct fiber *to)
{
#if defined __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(from->done ? NULL : &from->fake_stack, to->bottom, to->size);
#else
    (void)from, (void)to;
#endif
}

/* came_from: reveals where fiber 0's stack is. */
static void enter_stack(struct fiber *self, struct fiber *came_from)
{
#if defined __SANITIZE_ADDRESS__
    const void *bottom;
    size_t size;

    __sanitizer_finish_switch_fiber(self->fake_stack, &bottom, &size);
    if (came_from != NULL && came_from->stack == NULL) {
        came_from->bottom = bottom;
        came_from->size = size;
    }
#else
    (void)self, (void)came_from;
#endif
}

static struct fiber *previous;

static void switch_to(int next)
{
    struct fiber *self = &fibers[current], *to = &fibers[next];

    world_trace("run", current, next, 0);
    previous = self;
    current = next;
    leave_stack(self, to);
    swapcontext(&self->context, &to->context);
    enter_stack(self, previous);
}

/* --- who is next --- */

/* Returns the fiber that wakes first; of several at the same time, a random one. */
static int choose(void)
{
    uint64_t first_ns = WORLD_NEVER;
    uint32_t n_first = 0;
    int chosen = -1;

    for (int i = 0; i < n_fibers; i++) {
        const struct fiber *f = &fibers[i];

        if (!f->exists || f->done || f->wake_ns == WORLD_NEVER || f->wake_ns > first_ns)
            continue;
        n_first = f->wake_ns < first_ns ? 1 : n_first + 1;
        first_ns = f->wake_ns;
        if (n_first == 1 || rng_below(&world.dice, n_first) == 0)
            chosen = i;
    }
    return chosen;
}

/* Lets events happen until a fiber is due to run, and returns its number. */
static int await_fiber(void)
{
    for (;;) {
        const int next = choose();
        const uint64_t wake_ns = next >= 0 ? fibers[next].wake_ns : WORLD_NEVER;
        const uint64_t event_ns = world_next_ns();

        LAW(wake_ns != WORLD_NEVER || event_ns != WORLD_NEVER,
            "all threads sleep, and nothing will wake them");
        if (event_ns > wake_ns || event_ns == WORLD_NEVER) {
            if (wake_ns > world.now_ns)
                world.now_ns = wake_ns;
            return next;
        }
        world_happen();
    }
}

void fiber_sleep(uint64_t until_ns)
{
    int next;

    fibers[current].wake_ns = until_ns > world.now_ns ? until_ns : world.now_ns;
    next = await_fiber();
    if (next != current)
        switch_to(next);
}

void fiber_wake(int fiber)
{
    struct fiber *f = &fibers[fiber];
    const uint64_t at_ns = world.now_ns + world_up_to(world.scenario.wakeup_us * 1000);

    if (at_ns < f->wake_ns)
        f->wake_ns = at_ns;
}

void fiber_yield(void)
{
    int next;

    fibers[current].wake_ns = world.now_ns;
    next = choose();
    if (n_fibers > 1 && next >= 0 && next != current && fibers[next].wake_ns <= world.now_ns)
        fiber_sleep(world.now_ns);
}

/* --- begin and end --- */

static void begin(void)
{
    struct fiber *self = &fibers[current];

    enter_stack(self, previous);
    self->run(self->arg);
    descriptor_drop_table();
    self->done = true;
    fiber_wake(0);
    switch_to(await_fiber());
    violation("a thread goes on after its end");
}

int fiber_new(void *(*run)(void *), void *arg)
{
    int i = 1;

    while (i < FIBER_MOST && fibers[i].exists)
        i++;
    LAW(i < FIBER_MOST, "too many threads");
    if (fibers[i].stack == NULL)
        fibers[i].stack = memory_own(NULL, STACK_BYTES);
    fibers[i].run = run;
    fibers[i].arg = arg;
    fibers[i].wake_ns = world.now_ns;
    fibers[i].exists = true;
    fibers[i].done = false;
    fibers[i].fake_stack = NULL;
    fibers[i].bottom = fibers[i].stack;
    fibers[i].size = STACK_BYTES;
    if (i >= n_fibers)
        n_fibers = i + 1;
    getcontext(&fibers[i].context);
    fibers[i].context.uc_stack.ss_sp = fibers[i].stack;
    fibers[i].context.uc_stack.ss_size = STACK_BYTES;
    fibers[i].context.uc_link = NULL;
    sigemptyset(&fibers[i].context.uc_sigmask); /* a run that hangs is ended by SIGPROF */
    makecontext(&fibers[i].context, begin, 0);
    return i;
}

void fiber_forget(int fiber)
{
    fibers[fiber].exists = false;
}
