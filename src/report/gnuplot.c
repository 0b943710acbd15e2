/* SPDX-License-Identifier: MIT
 * gnuplot: see report/gnuplot.h. */
#include "report/gnuplot.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Lets the signals that this program ignores terminate gnuplot, which would otherwise go on after a
 * failed write and exit as if the picture were complete. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t ignored;
    int error;

    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    sigaddset(&ignored, SIGXFSZ);
    error = posix_spawnattr_setsigdefault(attributes, &ignored);
    return error != 0 ? error : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

static int set_environment(void)
{
    /* in the C locale, as under cron, it warns that it cannot convert a degree sign to UTF-8 */
    if (setenv("LC_ALL", "C.UTF-8", 1) != 0)
        return errno;
    /* the user's may name a terminal that this gnuplot lacks, and gnuplot would then skip commands
     */
    return setenv("GNUTERM", "unknown", 1) != 0 ? errno : 0;
}

static int spawn(pid_t *pid, int in_fd, int out_fd)
{
    char *const argv[] = {(char *)"gnuplot", (char *)"-d", NULL}; /* without ~/.gnuplot */
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    error = posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    if (error == 0)
        error = set_signals(&attributes);
    if (error == 0)
        error = set_environment();
    if (error == 0)
        error = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int gnuplot_open(struct gnuplot *g)
{
    int ends[2], error;

    g->picture_fd = memfd_create("picture", MFD_CLOEXEC);
    if (g->picture_fd < 0)
        return log_error("cannot create a temporary file: %s", strerror(errno));
    if (pipe2(ends, O_CLOEXEC) != 0) {
        close(g->picture_fd);
        return log_error("cannot create a pipe: %s", strerror(errno));
    }
    error = spawn(&g->pid, ends[0], g->picture_fd);
    close(ends[0]);
    g->script = error == 0 ? fdopen(ends[1], "w") : NULL;
    if (g->script != NULL)
        return 0;
    close(ends[1]);
    close(g->picture_fd);
    if (error == ENOENT)
        return log_error("gnuplot is not installed (Debian: gnuplot-nox)");
    return log_error("cannot start gnuplot: %s", strerror(error != 0 ? error : errno));
}

/* Returns 0, or -1 after one line on stderr. */
static int copy_picture(int fd, FILE *out)
{
    char bytes[1 << 13];
    ssize_t n = lseek(fd, 0, SEEK_SET);
    bool any = false;

    while (n >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0) {
        fwrite(bytes, 1, (size_t)n, out); /* its owner notices errors */
        any = true;
    }
    if (n < 0)
        return log_error("cannot read the picture: %s", strerror(errno));
    return any ? 0 : log_error("gnuplot drew no picture");
}

int gnuplot_close(struct gnuplot *g, FILE *out)
{
    bool failed = ferror(g->script) != 0;
    int status = 0, copied = 0;

    failed |= fclose(g->script) != 0;
    failed |= waitpid(g->pid, &status, 0) != g->pid;
    if (!failed && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        copied = copy_picture(g->picture_fd, out);
    close(g->picture_fd);
    if (failed)
        return log_error("gnuplot exited early");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return log_error("gnuplot failed");
    return copied;
}
