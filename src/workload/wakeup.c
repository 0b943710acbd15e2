/* SPDX-License-Identifier: MIT
 * wakeup: see workload/wakeup.h. */
#include "workload/wakeup.h"

/* The estimate settles where upward and downward steps balance: where a share UP / (UP + DOWN) of
 * the wake-ups is earlier.  From WAKEUP_FIRST_NS down to 60 us takes 188 wake-ups, up to 250 us 19.
 */
#define STEP_UP_NS   5520.0
#define STEP_DOWN_NS 480.0

void wakeup_init(struct wakeup *w, double share, uint64_t now_ns)
{
    *w = (struct wakeup){.share = share, .lateness_ns = WAKEUP_FIRST_NS, .counted_ns = now_ns};
}

uint64_t wakeup_ahead_ns(struct wakeup *w, uint64_t now_ns)
{
    if (w->share >= 1)
        return (uint64_t)w->lateness_ns;
    w->saved_ns += w->share * (double)(now_ns - w->counted_ns);
    w->counted_ns = now_ns;
    if (w->saved_ns > WAKEUP_SAVED_NS)
        w->saved_ns = WAKEUP_SAVED_NS;
    return w->saved_ns >= w->lateness_ns ? (uint64_t)w->lateness_ns : 0;
}

void wakeup_woke(struct wakeup *w, uint64_t wanted_ns, uint64_t woke_ns)
{
    const double late_ns = woke_ns > wanted_ns ? (double)(woke_ns - wanted_ns) : 0;

    w->lateness_ns += late_ns > w->lateness_ns ? STEP_UP_NS : -STEP_DOWN_NS;
    if (w->lateness_ns < WAKEUP_LEAST_NS)
        w->lateness_ns = WAKEUP_LEAST_NS;
    if (w->lateness_ns > WAKEUP_MOST_NS)
        w->lateness_ns = WAKEUP_MOST_NS;
}

void wakeup_waited(struct wakeup *w, uint64_t waited_ns)
{
    w->saved_ns -= (double)waited_ns;
}
