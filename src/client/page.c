/* SPDX-License-Identifier: MIT
 * client_page: see client/page.h. */
#include "client/page.h"

#include "base/log.h"
#include "base/shutdown.h"
#include "measure/hlog.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define RESULT      "run.json"
#define LOG         "run.hlog"
#define CONNECTIONS "run.csv"

enum { N_INPUTS = 3, MOST_ARGUMENTS = 8 };

/* --- programs --- */

void client_page_find_tcpreport(char path[PATH_MAX], const char *self)
{
    static const char plain[] = "tcpclient";
    const size_t n = strlen(self), n_plain = sizeof plain - 1;
    const char *end = strrchr(self, '/');
    size_t before = end != NULL ? (size_t)(end - self) + 1 : 0;

    if (n >= before + n_plain && strcmp(self + n - n_plain, plain) == 0)
        before = n - n_plain;
    snprintf(path, PATH_MAX, "%.*stcpreport", (int)before, self);
}

/* Returns 0, or -1 after one line on stderr. */
static int find_tcpreport(char path[PATH_MAX])
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n < 0)
        return log_error("--report: cannot find this program: %s", strerror(errno));
    self[n] = '\0';
    client_page_find_tcpreport(path, self);
    if (access(path, X_OK) != 0)
        return log_error("--report: requires '%s': %s", path, strerror(errno));
    return 0;
}

static bool is_in_path(const char *program)
{
    const char *list = getenv("PATH");
    char path[PATH_MAX];
    size_t length;

    for (; list != NULL && *list != '\0'; list += length + (list[length] == ':')) {
        length = strcspn(list, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)length, list, program) < (int)sizeof path &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* --- input files --- */

/* The path of an input file. */
static void input_path(const struct client_page *p, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.4000s/%s", p->directory, name);
}

/* Whether the output can be read again: it is neither stdout nor a pipe. */
static bool is_kept(const char *file)
{
    struct stat st;

    return strcmp(file, "-") != 0 && (stat(file, &st) != 0 || S_ISREG(st.st_mode));
}

/* Makes the file of an option an input.  Returns 0, or -1 after one line on stderr. */
static int link_input(const struct client_page *p, const char *option, const char *file,
                      const char *name)
{
    char path[PATH_MAX] = "", link[PATH_MAX];

    if (!is_kept(file))
        return log_error("--report: cannot read '%s' of %s again: expected a regular file", file,
                         option);
    if (file[0] != '/' && getcwd(path, sizeof path / 2) == NULL)
        return log_error("--report: cannot find this directory: %s", strerror(errno));
    snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", file);
    input_path(p, name, link);
    if (symlink(path, link) != 0)
        return log_error("--report: cannot create '%s': %s", link, strerror(errno));
    return 0;
}

static int make_directory(struct client_page *p)
{
    const char *parent = getenv("TMPDIR");

    snprintf(p->directory, sizeof p->directory, "%.3900s/tcpclient.XXXXXX",
             parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (mkdtemp(p->directory) != NULL)
        return 0;
    log_error("--report: cannot create '%s': %s", p->directory, strerror(errno));
    p->directory[0] = '\0';
    return -1;
}

int client_page_prepare(struct client_page *p, const char *page, const char *hlog,
                        const char *connections)
{
    p->name = page;
    if (find_tcpreport(p->tcpreport) != 0)
        return -1;
    if (!is_in_path("gnuplot"))
        return log_error("--report: gnuplot is not installed (Debian: gnuplot-nox)");
    if (make_directory(p) != 0)
        return -1;
    if (hlog != NULL && link_input(p, "--hlog", hlog, LOG) != 0)
        return -1;
    if (hlog == NULL && hlog_is_available())
        input_path(p, LOG, p->log);
    return connections != NULL ? link_input(p, "--connections-out", connections, CONNECTIONS) : 0;
}

void client_page_free(struct client_page *p)
{
    static const char *const names[N_INPUTS] = {RESULT, LOG, CONNECTIONS};
    char path[PATH_MAX];

    if (p->directory[0] == '\0')
        return;
    for (int i = 0; i < N_INPUTS; i++) {
        input_path(p, names[i], path);
        (void)unlink(path);
    }
    (void)rmdir(p->directory);
    p->directory[0] = '\0';
}

/* --- page --- */

static int write_result(const struct client_page *p, const struct report_about *about,
                        const struct client_result *result)
{
    char path[PATH_MAX];
    FILE *out;

    input_path(p, RESULT, path);
    out = fopen(path, "we");
    if (out == NULL)
        return log_error("--report: cannot write '%s': %s", path, strerror(errno));
    report_json(out, about, result);
    if (fclose(out) != 0)
        return log_error("--report: cannot write '%s': %s", path, strerror(errno));
    return 0;
}

/* Returns 0 or an error number. */
static int spawn(const struct client_page *p, pid_t *pid, char *const *arguments, int fd)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn(pid, p->tcpreport, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Whether an input can be read again; stat() follows the link. */
static bool is_file(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0;
}

/* Waits for tcpreport to end; a request to stop kills it, but not the one that ended the run.
 * Returns 0, or -1 with errno. */
static int await(pid_t pid, bool was_requested, int *status)
{
    static const struct timespec pause = {.tv_nsec = 10 * 1000000L};
    pid_t ended;

    while ((ended = waitpid(pid, status, WNOHANG)) != pid) {
        if (ended < 0 && errno != EINTR)
            return -1;
        if (!was_requested && shutdown_was_requested())
            kill(pid, SIGTERM);
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int run_tcpreport(const struct client_page *p, int fd, bool was_requested)
{
    static const char *const names[N_INPUTS] = {RESULT, LOG, CONNECTIONS};
    char paths[N_INPUTS][PATH_MAX];
    char *arguments[MOST_ARGUMENTS] = {(char *)p->tcpreport, (char *)"html", (char *)"--output",
                                       (char *)"-"};
    int n = 4, status = 0, error;
    pid_t pid;

    for (int i = 0; i < N_INPUTS; i++) {
        input_path(p, names[i], paths[i]);
        if (is_file(paths[i]))
            arguments[n++] = paths[i];
    }
    error = spawn(p, &pid, arguments, fd);
    if (error != 0)
        return log_error("--report: cannot start '%s': %s", p->tcpreport, strerror(error));
    if (await(pid, was_requested, &status) != 0)
        return log_error("--report: cannot wait for tcpreport: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return log_error("--report: could not write '%s': tcpreport failed", p->name);
    return 0;
}

int client_page_write(const struct client_page *p, int fd, const struct report_about *about,
                      const struct client_result *result, bool was_requested)
{
    return write_result(p, about, result) == 0 ? run_tcpreport(p, fd, was_requested) : -1;
}
