/* SPDX-License-Identifier: MIT
 * test_start_gate_files: which files --start-file refuses, and which it leaves alone. */
#include "client/start_gate.h"

#include "base/inputs.h"
#include "base/output.h"
#include "start_gate_steps.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* It would wait forever: mv(1) puts the file with the time into the directory. */
static void a_directory_is_no_start_file(void **state)
{
    char directory[] = "/tmp/test_start_gate_XXXXXX";
    struct start_gate_settings settings = {.file = directory};

    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(start_gate_prepare(&settings), -1);
    assert_int_equal(rmdir(directory), 0);
    assert_int_equal(start_gate_prepare(&settings), 0);
}

/* It may be that of --control, which the file with the time would replace. */
static void a_socket_is_no_start_file(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct start_files p = make_start_files();
    const struct start_gate_settings settings = {.file = p.start};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    assert_true(fd >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", p.start);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(start_gate_prepare(&settings), -1);
    assert_int_equal(unlink(p.start), 0);
    assert_int_equal(start_gate_prepare(&settings), 0);
    assert_int_equal(close(fd), 0);
    remove_start_files(&p);
}

/* In a directory that others may write to, one of them may have made it. */
static void a_link_in_place_of_the_ready_file_is_not_followed(void **state)
{
    const struct start_files p = make_start_files();
    const struct start_gate_settings settings = {.file = p.start};
    FILE *other = fopen(p.other, "w");
    struct stat status;

    (void)state;
    assert_non_null(other);
    fputs("other", other);
    assert_int_equal(fclose(other), 0);
    assert_int_equal(symlink(p.other, p.new), 0);
    assert_int_equal(start_gate_prepare(&settings), 0);
    assert_int_equal(stat(p.other, &status), 0);
    assert_int_equal(status.st_size, 5);
    remove_start_files(&p);
}

/* Without a reader, opening it would wait for one. */
static void a_fifo_in_place_of_the_ready_file_is_refused(void **state)
{
    const struct start_files p = make_start_files();
    const struct start_gate_settings settings = {.file = p.start};
    int reader;

    (void)state;
    assert_int_equal(mkfifo(p.new, 0600), 0);
    reader = open(p.new, O_RDONLY | O_NONBLOCK);
    assert_int_equal(start_gate_prepare(&settings), -1);
    close(reader);
    remove_start_files(&p);
}

static void a_file_of_an_output_is_refused(void **state)
{
    const struct start_files p = make_start_files();
    const struct start_gate_settings settings = {.file = p.start};
    const char *const names[] = {p.start, p.ready, p.new};
    struct output output;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(output_open_document(&output, "json", names[i]), 0);
        assert_int_equal(start_gate_prepare(&settings), -1);
        output_withdraw(&output);
        assert_int_equal(start_gate_prepare(&settings), 0);
    }
    remove_start_files(&p);
}

/* The file with the time is only read. */
static void a_ready_file_does_not_overwrite_an_input(void **state)
{
    const struct start_files p = make_start_files();
    const struct start_gate_settings settings = {.file = p.start};
    const char *const names[] = {p.ready, p.new};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_text(names[i], "");
        inputs_add(names[i]);
        assert_int_equal(start_gate_prepare(&settings), -1);
        assert_int_equal(access(names[i], F_OK), 0);
        assert_int_equal(unlink(names[i]), 0);
    }
    remove_start_files(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_is_no_start_file),
        cmocka_unit_test(a_socket_is_no_start_file),
        cmocka_unit_test(a_link_in_place_of_the_ready_file_is_not_followed),
        cmocka_unit_test(a_fifo_in_place_of_the_ready_file_is_refused),
        cmocka_unit_test(a_file_of_an_output_is_refused),
        /* the last one: a later file may get the inode of an input */
        cmocka_unit_test(a_ready_file_does_not_overwrite_an_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
