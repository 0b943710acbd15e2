/* SPDX-License-Identifier: MIT
 * trial: see trial.h. */
#include "trial.h"

#include "drive.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_S = 60, MOST_TRIALS = 2000, STDERR = 2 };

static int n_trials;

void trial_limit_time(void)
{
    const struct itimerval limit = {.it_value = {.tv_sec = MOST_S}};

    setitimer(ITIMER_PROF, &limit, NULL);
}

bool trial_fails(const struct scenario *s, bool prints_messages)
{
    struct drive_result result;
    int status;
    pid_t child;

    fflush(stdout);
    fflush(stderr);
    child = fork();
    if (child == 0) {
        if (!prints_messages)
            dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR);
        trial_limit_time();
        drive(s, &result);
        _exit(0);
    }
    if (child < 0) {
        perror("fork");
        _exit(1);
    }
    while (waitpid(child, &status, 0) != child)
        ;
    n_trials++;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Returns whether it was changed. */
static bool shrink_field(struct scenario *s, int i)
{
    const uint64_t simplest = scenario_simplest_of(i);
    uint64_t *value = scenario_field(s, i);
    const uint64_t before = *value;
    uint64_t tried = simplest;

    if (before == simplest)
        return false;
    while (tried != before && n_trials < MOST_TRIALS) {
        *value = tried;
        if (trial_fails(s, false))
            return true;
        /* half-way back */
        tried = before > tried ? before - (before - tried) / 2 : before + (tried - before) / 2;
        if (tried == *value)
            break;
    }
    *value = before;
    return false;
}

void trial_shrink(struct scenario *s)
{
    bool changed = true;

    n_trials = 0;
    while (changed && n_trials < MOST_TRIALS) {
        changed = false;
        for (int i = 0; i < SCENARIO_N_FIELDS; i++)
            changed |= shrink_field(s, i);
    }
}
