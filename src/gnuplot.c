/* SPDX-License-Identifier: MIT
 * gnuplot: see gnuplot.h. */
#include "gnuplot.h"

#include "complain.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int spawn(pid_t *pid, int in_fd, int out_fd)
{
    char *const argv[] = {(char *)"gnuplot", NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int gnuplot_open(struct gnuplot *g, int out_fd)
{
    int ends[2], error;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return complain("cannot make a pipe: %s", strerror(errno));
    error = spawn(&g->pid, ends[0], out_fd);
    close(ends[0]);
    g->script = error == 0 ? fdopen(ends[1], "w") : NULL;
    if (g->script != NULL)
        return 0;
    close(ends[1]);
    if (error == ENOENT)
        return complain("gnuplot is not installed (Debian: gnuplot-nox)");
    return complain("cannot start gnuplot: %s", strerror(error != 0 ? error : errno));
}

int gnuplot_close(struct gnuplot *g)
{
    bool failed = ferror(g->script) != 0;
    int status = 0;

    failed |= fclose(g->script) != 0;
    failed |= waitpid(g->pid, &status, 0) != g->pid;
    if (failed)
        return complain("gnuplot ended early");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return complain("gnuplot failed");
    return 0;
}
