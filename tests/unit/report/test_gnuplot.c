/* SPDX-License-Identifier: MIT
 * test_gnuplot: pictures of a program that takes gnuplot's place.  Linked with --wrap=read. */
#include "report/gnuplot.h"

#include "base/log.h"
#include "base/standard_streams.h"
#include "print_steps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/tcpscaler_gnuplot.XXXXXX";
static bool is_unreadable;

ssize_t __real_read(int fd, void *bytes, size_t n_bytes);
ssize_t __wrap_read(int fd, void *bytes, size_t n_bytes);

ssize_t __wrap_read(int fd, void *bytes, size_t n_bytes)
{
    if (!is_unreadable)
        return __real_read(fd, bytes, n_bytes);
    errno = EIO;
    return -1;
}

static int setup(void **state)
{
    char path[4096];

    (void)state;
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s:%s", directory, getenv("PATH"));
    return setenv("PATH", path, 1);
}

static const char *path_of_program(void)
{
    static char path[sizeof directory + 16];

    snprintf(path, sizeof path, "%s/gnuplot", directory);
    return path;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path_of_program());
    return rmdir(directory);
}

/* What gnuplot_close() returns if gnuplot runs these commands; *picture and *said are to be freed.
 */
static int draw(const char *commands, char **picture, char **said)
{
    FILE *program = fopen(path_of_program(), "w"), *log = tmpfile(), *out;
    struct gnuplot gnuplot;
    char line[256] = "";
    int status;

    assert_non_null(program);
    assert_non_null(log);
    fprintf(program, "#!/bin/sh\n%s\n", commands);
    assert_int_equal(fchmod(fileno(program), 0700), 0);
    fclose(program);
    log_set_stream(log);
    assert_int_equal(gnuplot_open(&gnuplot), 0);
    fputs("plot\n", gnuplot.script);
    out = print_open();
    status = gnuplot_close(&gnuplot, out);
    *picture = print_close();
    log_set_stream(NULL);
    rewind(log);
    (void)!fgets(line, sizeof line, log);
    fclose(log);
    *said = strdup(line);
    return status;
}

static void a_picture_is_copied(void **state)
{
    char *picture, *said;

    (void)state;
    assert_int_equal(draw("cat; echo picture", &picture, &said), 0);
    assert_string_equal(picture, "plot\npicture\n");
    assert_string_equal(said, "");
    free(picture);
    free(said);
}

static void assert_fails(const char *commands, const char *wanted)
{
    char *picture, *said;

    assert_int_equal(draw(commands, &picture, &said), -1);
    assert_has(said, wanted);
    free(picture);
    free(said);
}

static void no_picture_is_an_error(void **state)
{
    (void)state;
    assert_fails("cat > /dev/null", ": gnuplot drew no picture\n");
    assert_fails("cat; exit 1", ": gnuplot failed\n");
    is_unreadable = true;
    assert_fails("cat", ": cannot read the picture: Input/output error\n");
    is_unreadable = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_is_copied),
        cmocka_unit_test(no_picture_is_an_error),
    };

    standard_streams_open();
    return cmocka_run_group_tests(tests, setup, teardown);
}
