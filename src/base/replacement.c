/* SPDX-License-Identifier: MIT
 * replacement: see base/replacement.h. */
#include "base/replacement.h"

#include "base/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SUFFIX ".tmp"

/* --- where it is --- */

/* The path of a file that need not exist, in a directory that does.  Returns NULL on failure. */
static char *path_of_new(const char *name)
{
    const char *slash = strrchr(name, '/');
    const size_t n = slash != NULL ? (size_t)(slash - name) + 1 : 0;
    char parent[PATH_MAX] = ".", *directory, *path = NULL;

    if (n >= sizeof parent)
        return NULL;
    memcpy(parent, n > 0 ? name : ".", n > 0 ? n : 1);
    directory = realpath(parent, NULL);
    if (directory != NULL &&
        asprintf(&path, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name + n) < 0)
        path = NULL;
    free(directory);
    return path;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the file is a standard stream: others write to it, too. */
static bool is_standard_stream(const struct stat *file)
{
    struct stat status;

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &status) == 0 && is_same(file, &status))
            return true;
    return false;
}

/* Whether the name stands for a descriptor: /dev/stdout, /dev/fd/N, /proc/self/fd/N. */
static bool is_in_dev_or_proc(const char *name)
{
    char *path = path_of_new(name);
    const bool is =
        path != NULL && (strncmp(path, "/proc/", 6) == 0 ||
                         (strncmp(path, "/dev/", 5) == 0 && strrchr(path, '/') == path + 4));

    free(path);
    return is;
}

/* The directory of an absolute path.  Returns NULL if out of memory. */
static char *directory_of(const char *path)
{
    const size_t n = (size_t)(strrchr(path, '/') - path);

    return n > 0 ? strndup(path, n) : strdup("/");
}

/* 0: unknown.  By syscall: musl before 1.2.5 has no statx(). */
static uint64_t mount_of(const char *path)
{
    struct statx status;

    return syscall(SYS_statx, AT_FDCWD, path, 0, STATX_MNT_ID, &status) == 0 &&
                   (status.stx_mask & STATX_MNT_ID) != 0
               ? status.stx_mnt_id
               : 0;
}

/* Whether rename(2) and unlink(2) would fail: another file is mounted there, as in a container; or
 * the directory is one like /tmp (sticky), and neither it nor the file is this user's. */
static bool is_protected(const char *path)
{
    char *directory = directory_of(path);
    struct stat file, parent;
    bool is = true;

    if (directory != NULL && lstat(path, &file) == 0 && stat(directory, &parent) == 0)
        is = mount_of(path) != mount_of(directory) ||
             ((parent.st_mode & S_ISVTX) != 0 && geteuid() != 0 && file.st_uid != geteuid() &&
              parent.st_uid != geteuid());
    free(directory);
    return is;
}

static bool may_be_replaced(const char *path, const struct stat *status)
{
    return S_ISREG(status->st_mode) && !is_standard_stream(status) && !is_protected(path) &&
           faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* Returns the path of a file that may be replaced; NULL: none. */
static char *path_of(const char *name)
{
    struct stat status;
    char *path;

    if (name[0] == '\0' || name[strlen(name) - 1] == '/' || is_in_dev_or_proc(name))
        return NULL;
    if (stat(name, &status) != 0) /* a link to nothing is written in place */
        return errno == ENOENT && lstat(name, &status) != 0 ? path_of_new(name) : NULL;
    path = realpath(name, NULL);
    if (path != NULL && may_be_replaced(path, &status))
        return path;
    free(path);
    return NULL;
}

/* Tries to create the temporary file.  One that another program is using, or has left, can be
 * removed later. */
static bool try_to_create(const char *temporary)
{
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat own, status;

    if (fd < 0)
        return errno == EEXIST && lstat(temporary, &status) == 0 && !S_ISDIR(status.st_mode) &&
               !is_protected(temporary);
    /* another program may have replaced it with its own */
    if (fstat(fd, &own) == 0 && lstat(temporary, &status) == 0 && is_same(&own, &status))
        unlink(temporary);
    close(fd);
    return true;
}

struct replacement *replacement_of(const char *name)
{
    struct replacement *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    r->file = path_of(name);
    if (r->file != NULL && asprintf(&r->temporary, "%s" SUFFIX, r->file) < 0)
        r->temporary = NULL;
    if (r->temporary != NULL && try_to_create(r->temporary))
        return r;
    replacement_free(r);
    return NULL;
}

void replacement_free(struct replacement *r)
{
    if (r == NULL)
        return;
    free(r->file);
    free(r->temporary);
    free(r);
}

bool replacement_has(const struct replacement *r, const char *name)
{
    char *path = path_of_new(name);
    const bool has =
        path != NULL && (strcmp(path, r->file) == 0 || strcmp(path, r->temporary) == 0);

    free(path);
    return has;
}

bool replacement_overwrites_input(const char *name)
{
    struct replacement *r;
    bool overwrites;

    if (inputs_have_file(name))
        return true;
    r = replacement_of(name);
    overwrites = r != NULL && inputs_have_file(r->temporary);
    replacement_free(r);
    return overwrites;
}

/* --- replacing --- */

/* Mode and owner; the owner changes first, since that clears bits of the mode. */
static void copy_status(const struct replacement *r, int fd)
{
    struct stat old;

    if (stat(r->file, &old) != 0)
        return;
    if (fchown(fd, old.st_uid, old.st_gid) != 0)
        errno = 0; /* not permitted: the new file belongs to this user */
    (void)fchmod(fd, old.st_mode & 0777);
}

int replacement_begin(const struct replacement *r)
{
    int fd;

    (void)unlink(r->temporary); /* left by a program that was killed */
    fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0)
        copy_status(r, fd);
    return fd;
}

static void remove_temporary(const struct replacement *r)
{
    const int error = errno;

    (void)unlink(r->temporary);
    errno = error;
}

static int close_and_rename(const struct replacement *r, int fd)
{
    if (close(fd) == 0 && rename(r->temporary, r->file) == 0)
        return 0;
    remove_temporary(r);
    return -1;
}

int replacement_end(const struct replacement *r, int fd)
{
    struct stat own, temporary;

    if (fstat(fd, &own) == 0 && lstat(r->temporary, &temporary) == 0 && is_same(&own, &temporary))
        return close_and_rename(r, fd);
    close(fd);
    errno = EBUSY;
    return -1;
}

void replacement_cancel(const struct replacement *r, int fd)
{
    remove_temporary(r);
    close(fd);
}
