# SPDX-License-Identifier: MIT
"""Outputs that are closed, one file, or full."""

import fcntl

from helpers.reports import *


# --- outputs that are closed ---

def run_closed(program, closed, *arguments):
    """Through the shell: started with this stream closed."""
    command = " ".join([program, *[f"'{a}'" for a in arguments], closed])
    return run_command(["sh", "-c", f"exec {command}"])


def test_a_closed_stdout_is_refused():
    result = temp_path("result.json")
    with Server() as server:
        target = f"127.0.0.1:{server.port}"
        client = Client("-c", 2, "-r", 50, "-t", "0.5", target)
        client.wait()
        for arguments, text in ((["-R"], "--raw"), (["--json", "-"], "--json"), (["-o", "-"], "--output"),
                                (["--hgrm", "-"], "--hgrm")):
            r = run_closed(TCPCLIENT, ">&-", "-c", 2, "-r", 50, "-t", "0.5", *arguments, "--hlog", result, target)
            check_equal(r.returncode, 2, f"exit code, {arguments}; stderr: {r.stderr}")
            check(f"{text}: stdout is closed" in r.stderr, r.stderr)
        for program, arguments in ((TCPCLIENT, ["--plan", target]), (TCPCLIENT, ["--help"]), (TCPSERVER, ["--version"]),
                                   (TCPSERVER, ["--json", "-", "0"]),
                                   (TCPREPORT, ["merge", "--json", "-", client.json_path]), (TCPREPORT, ["--help"])):
            if not program:
                continue  # tcpreport was not built
            r = run_closed(program, ">&-", *arguments)
            check_equal(r.returncode, 2, f"exit code, {arguments}; stderr: {r.stderr}")
            check("stdout" in r.stderr, f"{arguments}: {r.stderr}")
        if TCPREPORT:
            r = run_closed(TCPREPORT, ">&-", "show", client.json_path)
            check_equal((r.returncode, r.stderr), (3, "tcpreport: cannot write to stdout: Bad file descriptor\n"), "of show")


def test_a_closed_stdin_is_refused():
    for option in ("--stdin", "--query-file=-"):
        r = run_closed(TCPCLIENT, "<&-", option, "127.0.0.1:1")
        check_equal(r.returncode, 2, f"exit code, {option}; stderr: {r.stderr}")
        check(option.partition("=")[0] in r.stderr and "Bad file descriptor" in r.stderr, r.stderr)


@covered_by_others
def test_a_closed_stderr_puts_no_messages_into_files():
    """If stderr is closed at the start, the result file must not get descriptor 2: the summary would be written to it."""
    with Server() as server:
        result = temp_path("result.json")
        r = subprocess.run(["sh", "-c", f"exec {TCPCLIENT} {' '.join(LONG_TIMEOUTS)} -p {server.port} -c 5 -r 100 -t 1 "
                            f"--json {result} 127.0.0.1 2>&-"], timeout=HANGS_S)
    check(r.returncode in (0, 3), f"exit code {r.returncode}")
    check_equal(read_json(result)["connections"]["proven"], 5, "the result is JSON")


# --- outputs that are one file ---

def test_two_outputs_to_the_same_file_are_refused():
    path, symlink = temp_path("out"), temp_path("symlink")
    write_text(path, "precious")
    link = path + ".link"
    os.link(path, link)
    os.symlink(path, symlink)
    with Server() as server:
        for arguments in (["--json", path, "-o", path], ["--hlog", path, "--hgrm", link],
                          ["--connections-out", symlink, "--json", link], ["-R", "-o", "-", "--json", "-"],
                          ["-R", "--json", "/dev/stdout"], ["-R", "--hlog", "/proc/self/fd/1"],
                          ["--json", "-", "--hgrm", "-"],
                          ["--json", path, "-o", os.path.join(os.path.dirname(path), ".", "out")]):
            r = run_command([TCPCLIENT, "-c", "1", "-t", "0.1", *arguments, f"127.0.0.1:{server.port}"])
            check_equal(r.returncode, 2, f"exit code, {arguments}; stderr: {r.stderr}")
            check_equal(len(r.stderr.splitlines()), 1, f"lines, {arguments}: {r.stderr}")
            check("expected a different file for each" in r.stderr, r.stderr)
        check_equal(read_text(path), "precious", "what the file had")
        r = subprocess.run([TCPCLIENT, "-R", "--json", path, "-c", "1", "-t", "0.1", f"127.0.0.1:{server.port}"],
                           stdout=open(link, "a"), stderr=subprocess.PIPE, text=True, timeout=HANGS_S)
        check_equal(r.returncode, 2, f"exit code with stdout redirected there; stderr: {r.stderr}")


def test_outputs_must_not_be_the_files_of_a_start_file():
    """FILE.ready, which the client writes, and its temporary file; FILE itself is no output."""
    directory = temp_directory()
    start, ready, new, out = (os.path.join(directory, name) for name in ("start", "start.ready", "start.ready.new", "out"))
    os.symlink(ready, os.path.join(directory, "link"))
    with Server() as server:
        for files, arguments, words in (
                ([ready], ["--query-file", ready], f"'{ready}' is one of the input files"),
                ([new], ["--config", new], f"'{new}' is one of the input files"),
                ([], ["--output", ready], f"'{ready}' is also used by --output: expected a different file for each"),
                ([], ["--hgrm", ready], f"'{ready}' is also used by --hgrm"),
                ([ready], ["--hgrm", os.path.join(directory, "link")], f"'{ready}' is also used by --hgrm"),
                ([], ["--json", out, "--hlog", new], f"'{new}' is also used by --hlog"),
                ([], ["--json", start], f"'{start}' is also used by --json")):
            write_text(start, "1\n")  # before the boot: a run that is not refused has missed it
            for path in files:
                write_text(path, "#\n" if path == new else "a.example A\n")
            before = [read_text(path) for path in files]
            r = run_command([TCPCLIENT, "-q", "-c", "1", "-t", "0.1", "--start-file", start, *arguments,
                             f"127.0.0.1:{server.port}"])
            check_equal((r.returncode, r.stderr.count("\n")), (2, 1), f"exit code and lines, {arguments}: {r.stderr}")
            check(f"--start-file: {words}" in r.stderr, f"{arguments}: {r.stderr}")
            check_equal([read_text(path) for path in files], before, f"content after {arguments}")
            check_equal(read_text(start), "1\n", f"the start file after {arguments}")
            for path in {start, ready, new} & {os.path.join(directory, name) for name in os.listdir(directory)}:
                os.unlink(path)


def test_the_socket_of_the_control_api_is_no_file_of_another_option():
    start, path = temp_path("start"), temp_path("path")
    with Server() as server:
        target = ["-q", "-c", "1", "-t", "0.1", f"127.0.0.1:{server.port}"]
        for program, arguments, words in (
                (TCPSERVER, ["--json", path, "0"], f"--control: 'unix:{path}' is also used by --json"),
                (TCPCLIENT, ["--json", path, *target], f"--control: 'unix:{path}' is also used by --json"),
                (TCPCLIENT, ["--hlog", path, *target], f"--control: 'unix:{path}' is also used by --hlog"),
                (TCPCLIENT, ["--start-file", start, *target], f"--start-file: cannot write '{start}.ready': File exists")):
            write_text(start, "1\n")  # before the boot: a run that is not refused has missed it
            socket_path = start + ".ready" if "--start-file" in arguments else path
            r = run_command([program, "--control", f"unix:{socket_path}", *arguments])
            check_equal((r.returncode, r.stderr.count("\n")), (2, 1), f"exit code and lines, {arguments}: {r.stderr}")
            check(words in r.stderr, f"{arguments}: {r.stderr}")


@covered_by_others
def test_dev_null_may_be_shared():
    """The control: only outputs that replace each other are refused."""
    with Server() as server:
        r = subprocess.run([TCPCLIENT, "-c", "1", "-r", "10", "-t", "0.3", "-q", "-R", "--json", "/dev/null", "--hlog",
                            "/dev/null", "--hgrm", "/dev/null", f"127.0.0.1:{server.port}"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=HANGS_S)
    check(r.returncode in (0, 3), f"exit code {r.returncode}; stderr: {r.stderr}")


def test_tcpreport_does_not_overwrite_its_input():
    need_tcpreport()
    with Server() as server:
        r = run_client("-c", 2, "-r", 50, "-t", "0.3", f"127.0.0.1:{server.port}")
    path = temp_path("result.json")
    write_json(path, r.json)
    for arguments in (["--json", path, path], ["--json", path + ".new", "--hlog", path + ".new", path]):
        m = run_command([TCPREPORT, "merge", *arguments])
        check_equal(m.returncode, 2, f"exit code, {arguments}; stderr: {m.stderr}")
    check_equal(read_json(path), r.json, "the result")


# --- outputs that are full ---

def test_a_full_disk_under_stdout_is_reported():
    with open("/dev/full", "w") as full:
        for program in filter(None, (TCPCLIENT, TCPSERVER, TCPREPORT)):
            for arguments in (["--help"], ["--version"]) + \
                    (() if program == TCPREPORT else (["--print-config"], ["--profile", "list"],
                                                      ["--plan", "--json", "-"], ["--plan"])):
                arguments = arguments + (["127.0.0.1"] if arguments[0] == "--plan" and program == TCPCLIENT else [])
                r = subprocess.run([program, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=HANGS_S)
                check_equal(r.returncode, 2, f"exit code, {program} {arguments}")
                check("No space left on device" in r.stderr, f"{program} {arguments}: {r.stderr}")
                check_equal(len(r.stderr.splitlines()), 1, f"lines: {r.stderr}")


def test_a_full_disk_under_the_result_is_reported():
    with Server() as server:
        r = run_command([TCPCLIENT, "-c", "2", "-r", "10", "-t", "1", "--json", "/dev/full", f"127.0.0.1:{server.port}"])
    check_equal(r.returncode, 3, f"exit code; stderr: {r.stderr}")
    check("--json: could not write '/dev/full'" in r.stderr, r.stderr)


def test_a_full_disk_under_a_picture_is_reported():
    """gnuplot itself exits with 0 then."""
    need_tcpreport()
    need_program("gnuplot")
    log = temp_path("run.hlog")
    with Server() as server:
        run_client("-c", 2, "-r", 500, "-t", 1, "--hlog", log, f"127.0.0.1:{server.port}")
    picture = temp_path("picture.png")
    os.symlink("/dev/full", picture)
    for arguments in (["--term"], ["-o", picture]):
        with open("/dev/full", "w") as full:
            r = subprocess.run([TCPREPORT, "plot", *arguments, log], stdout=full, stderr=subprocess.PIPE, text=True,
                               timeout=HANGS_S)
        check_equal(r.returncode, 3, f"exit code, {arguments}")
        check("No space left on device" in r.stderr, f"{arguments}: {r.stderr}")


def test_tcpreport_exits_with_3_if_an_output_is_full():
    """The command line and the files are fine."""
    need_tcpreport()
    result = temp_path("run.json")
    with Server() as server:
        run = run_client("-c", 2, "-r", 50, "-t", "0.3", f"127.0.0.1:{server.port}")
        write_json(result, {**run.json, "verdict": "VALID", "reasons": []})
        compare = ["compare", "--min-runs", "1"]
        both = [result, "--", result]
        watch = ["watch", "--port", str(server.port), "--duration", "1s", "--json"]
        for arguments in (["show", result], ["merge", result], [*compare, *both], [*compare, "--nights", *both],
                          ["merge", "--json", "-", result], [*compare, "--json", "-", *both],
                          ["html", "-o", "-", result], [*watch, "-", str(server.pid)],
                          ["merge", "--json", "/dev/full", result], [*compare, "--json", "/dev/full", *both],
                          ["html", "-o", "/dev/full", result], [*watch, "/dev/full", str(server.pid)]):
            with open("/dev/null" if "/dev/full" in arguments else "/dev/full", "w") as out:
                r = subprocess.run([TCPREPORT, *arguments], stdout=out, stderr=subprocess.PIPE, text=True, timeout=HANGS_S)
            check_equal(r.returncode, 3, f"exit code, {arguments}: {r.stderr}")
            check_equal(r.stderr.count("No space left on device"), 1, f"{arguments}: {r.stderr}")


def test_tcpreport_compare_keeps_a_file_that_it_cannot_empty():
    need_tcpreport()
    result = temp_path("run.json")
    with Server() as server:
        run = run_client("-c", 2, "-r", 50, "-t", "0.3", f"127.0.0.1:{server.port}")
    write_json(result, {**run.json, "verdict": "VALID", "reasons": []})
    sealed = os.memfd_create("sealed", os.MFD_ALLOW_SEALING)
    os.write(sealed, b"kept\n")
    fcntl.fcntl(sealed, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    for arguments in ([], ["--nights"]):
        r = run_command([TCPREPORT, "compare", "--min-runs", "1", *arguments, "--json", f"/dev/fd/{sealed}", result, "--", result],
                        pass_fds=[sealed])
        check_equal(r.returncode, 3, f"exit code, {arguments}: {r.stderr}")
        check(f"--json: cannot write '/dev/fd/{sealed}': " in r.stderr, r.stderr)
        check_equal(os.pread(sealed, 100, 0), b"kept\n", f"the file, {arguments}")
    os.close(sealed)


def check_rows_missing(result, why):
    """Checks that the summary says this about the rows, and not that their reader is too slow."""
    line = re.search(r"^Raw output .*", result.err, re.M)
    check(line and line[0].endswith(f" missing: {why}"), result.err)


@covered_by_others
def test_write_errors_are_named_as_by_the_kernel():
    with Server() as server:
        target = f"127.0.0.1:{server.port}"
        for option in ("--json", "--hlog", "--hgrm", "--connections-out"):
            r = run_command([TCPCLIENT, "-c", "2", "-r", "50", "-t", "0.3", option, "/dev/full", target])
            check_equal(r.returncode, 3, f"exit code, {option}; stderr: {r.stderr}")
            check(f"{option}: could not write '/dev/full': No space left on device" in r.stderr, r.stderr)
        r = run_client("-c", 2, "-r", 50, "-t", "0.3", "-o", "/dev/full", target)
        check_rows_missing(r, "No space left on device")
        reading, writing = os.pipe()
        os.close(reading)
        r = run_client("-c", 2, "-r", 50, "-t", "0.3", "-R", target, stdout=writing)
        os.close(writing)
        check_rows_missing(r, "Broken pipe")


if __name__ == "__main__":
    main()
