# SPDX-License-Identifier: MIT
"""Outputs that are full, closed or shared, and what is printed."""

import fcntl
import pty

from reports import *


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
            check(f"{text}: cannot write '-': stdout is closed" in r.stderr, r.stderr)
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


def test_a_closed_stderr_puts_no_messages_into_files():
    """If stderr is closed at the start, the result file must not get descriptor 2: the summary would be written to it."""
    with Server() as server:
        result = temp_path("result.json")
        r = subprocess.run(["sh", "-c", f"exec {TCPCLIENT} {' '.join(PATIENCE)} -p {server.port} -c 5 -r 100 -t 1 "
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


def test_a_refused_run_keeps_the_old_files():
    """Also if it is refused after they were opened: the address is in use, the start has passed."""
    paths = {option: temp_path(f"old.{option[2:]}") for option in ("--output", "--hlog", "--json", "--connections-out")}
    outputs = [word for pair in paths.items() for word in pair]
    with Server() as server:
        for refused in (["--control", f"127.0.0.1:{server.port}"], ["--start-at", "2020-01-01T00:00:00Z"]):
            for path in paths.values():
                write_text(path, "old")
            r = run_client("-p", server.port, "-c", 1, "-t", 0.1, *outputs, *refused, "127.0.0.1")
            check_equal((r.code, len(r.err.splitlines())), (2, 1), r.err)
            for path in paths.values():
                check_equal(read_text(path), "old", f"{path} with {refused}")
        r = run_client("-p", server.port, "-c", 1, "-t", 0.1, *outputs, "127.0.0.1")
    for path in paths.values():  # the control
        check(not read_text(path).startswith("old"), f"{path} of a run")


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
    """That the summary says this of the rows, and not that their reader is too slow."""
    line = re.search(r"^Raw output .*", result.err, re.M)
    check(line and line[0].endswith(f" missing: {why}"), result.err)


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


def test_a_result_that_does_not_fit_keeps_the_old_one():
    """On a file system of one page."""
    need_root()
    directory = temp_directory()
    m = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", directory], capture_output=True)
    if m.returncode != 0:
        skip("cannot mount a tmpfs")
    try:
        with Server() as server:
            for option in ("--json", "--connections-out"):
                path = os.path.join(directory, "result" + option)
                write_text(path, "old")
                r = run_command([TCPCLIENT, "-c", "200", "-r", "50", "-t", "0.3", option, path, f"127.0.0.1:{server.port}"])
                check_equal(r.returncode, 3, f"exit code; stderr: {r.stderr}")
                check("No space left on device" in r.stderr, r.stderr)
                check_equal(read_text(path), "old", f"content of {option}")
                check_equal(os.listdir(directory), [os.path.basename(path)], "files")
                os.unlink(path)
    finally:
        subprocess.run(["umount", directory], check=True)


# --- a program that is killed ---

# No file that a program writes has more than 512 bytes; SIGXFSZ ends tcpreport, the others ignore it.
SMALL_FILES = ["sh", "-c", 'ulimit -c 0; ulimit -f 1; exec "$@"', "sh"]


def test_a_program_killed_while_writing_keeps_the_old_result():
    need_tcpreport()
    need_program("gnuplot")
    result, log, path = temp_path("run.json"), temp_path("run.hlog"), temp_path("result")
    with Server() as server:
        target = f"127.0.0.1:{server.port}"
        load = [TCPCLIENT, "-q", "-c", "100", "-r", "1000", "-t", "1"]
        r = subprocess.run([*load, "--json", result, "--hlog", log, target], capture_output=True, timeout=HANGS_S)
        check(r.returncode in (0, 3), f"exit code {r.returncode}; stderr: {r.stderr}")
        valid = {**read_json(result), "verdict": "VALID", "reasons": []}
        write_json(result, valid)
        for argv in (*([TCPREPORT, *command, path, result] for command in (["merge", "--json"], ["html", "-o"])),
                     [TCPREPORT, "merge", "--hlog", path, log],
                     [TCPREPORT, "compare", "--min-runs", "1", "--json", path, result, "--", result]):
            write_text(path, "old")
            r = run_command([*SMALL_FILES, *argv])
            check_equal(r.returncode, -signal.SIGXFSZ, f"exit code of {argv}; stderr: {r.stderr}")
            check_equal(read_text(path), "old", f"after {argv}")


def test_a_file_beyond_the_size_limit_ends_no_run():
    """'ulimit -f': the output fails as on a full disk, and the old result stays."""
    path = temp_path("result")
    with Server() as server:
        load = [TCPCLIENT, "-c", "100", "-r", "1000", "-t", "1", f"127.0.0.1:{server.port}"]
        for option in ("--json", "--hgrm", "--connections-out"):
            write_text(path, "old")
            r = run_command([*SMALL_FILES, *load, option, path])
            check_equal(r.returncode, 3, f"exit code, {option}; stderr: {r.stderr}")
            check(f"{option}: could not write '{path}': File too large" in r.stderr, r.stderr)
            check_equal(read_text(path), "old", f"after {option}")
        with open(temp_path("stderr"), "w+") as err:
            r = subprocess.run([*SMALL_FILES, *load, "--json", "-"], stdout=subprocess.PIPE, stderr=err, text=True,
                               timeout=HANGS_S)
            check(os.fstat(err.fileno()).st_size <= 1024, "the summary is cut off")
        check(r.returncode in (0, 3), f"exit code where stderr may not grow: {r.returncode}")
        check_equal(json.loads(r.stdout)["schema"], 1, "the result")


def next_line(stream, words):
    """The next one that has them."""
    for line in stream:
        if words in line:
            return line
    raise AssertionError(f"no line with '{words}'")


def test_a_server_whose_snapshot_is_too_large_keeps_serving():
    path = temp_path("result")
    write_text(path, "old")
    server = spawn([*SMALL_FILES, TCPSERVER, "--json", path, "0"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    port = re.search(r":(\d+),", next_line(server.stderr, "listening"))[1]
    server.send_signal(signal.SIGUSR1)
    check(f"--json: could not write '{path}'" in next_line(server.stderr, "File too large"), "what it says of the snapshot")
    check_equal(read_text(path), "old", "after the snapshot")
    r = run_client("-p", port, "-c", 10, "-r", 100, "-t", "0.2", "127.0.0.1")
    check_equal(r.json["connections"]["proven"], 10, "proven after the snapshot")
    server.send_signal(signal.SIGTERM)
    check_equal(server.wait(HANGS_S), 1, "exit code")
    check_equal(read_text(path), "old", "at the end")


def test_a_killed_run_keeps_the_previous_result():
    path = temp_path("result.json")
    with Server() as server:
        target = f"127.0.0.1:{server.port}"
        r = subprocess.run([TCPCLIENT, "-q", "-c", "2", "-t", "0.1", "--json", path, target], timeout=HANGS_S)
        check(r.returncode in (0, 3), f"exit code {r.returncode}")
        client = start_client("-c", 2, "-r", 100, "--json", path, target)
        wait_for(lambda: any(s.state == ESTABLISHED for s in tcp_sockets(client.pid)), "connections")
        client.kill()
        client.wait()
    check_equal(json.loads(read_text(path))["schema"], 1, "the earlier result")
    check_equal(sorted(os.listdir(os.path.dirname(path))), ["result.json"], "files")


def test_a_mounted_file_is_written_in_place():
    """As in a container: it cannot be replaced."""
    need_root()
    path, source = temp_path("result.json"), temp_path("mounted.json")
    for name in (path, source):
        write_text(name, "old")
    mounted = ["unshare", "-m", "sh", "-c", f'mount --bind {source} {path} && exec "$@"', "sh"]
    with Server() as server:
        r = run_command([*mounted, TCPCLIENT, "-q", "-c", "2", "-t", "0.1", "--json", path, f"127.0.0.1:{server.port}"])
    check(r.returncode in (0, 3), f"exit code {r.returncode}; stderr: {r.stderr}")
    check_equal(json.loads(read_text(source))["schema"], 1, "the mounted file's result")


# --- what is printed ---

def test_quiet_still_prints_why_a_run_is_not_valid():
    with Server() as server:
        r = run_client("-q", "-c", 2, "-r", 50, "-t", "0.3", "-o", "/dev/full", f"127.0.0.1:{server.port}")
        check_code(r, 3)
        lost = f"could not write '/dev/full': No space left on device; {r.json['output']['dropped_rows']} rows are missing"
        check_equal(r.err.splitlines(), [f"tcpclient: SUSPECT: {', '.join(r.json['reasons'])}", f"tcpclient: --output: {lost}"], "stderr")
        r = run_client("-q", "-c", 2, "-r", 50, "-t", "0.3", f"127.0.0.1:{server.port}")
    check_equal(r.err == "", not r.json["reasons"], f"nothing is said of a valid run: {r.err}")
    r = run_client("-q", "-c", 2, "-r", 50, "-t", "0.3", f"127.0.0.1:{server.port}")
    check_equal(r.err.splitlines(), [f"tcpclient: SUSPECT: {', '.join(r.json['reasons'])}",
                                     "tcpclient: 2 connections: nobody listens: " + r.json["diagnosis"][0]["evidence"]], "stderr")


def terminal_output(term):
    """What a client shows on a terminal of this kind, which is interrupted under load."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": term}
    if not term:
        del environment["TERM"]
    with Server() as server:
        client = start_client("-c", 5, "-r", 100, "--stats-interval", "1s", f"127.0.0.1:{server.port}", stderr=slave,
                              env=environment)
        os.close(slave)
        text, was_interrupted = b"", False
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while chunk := os.read(master, 65536):
                text += chunk
                if b"running" in text and not was_interrupted:
                    client.send_signal(signal.SIGINT)
                    was_interrupted = True
        client.wait(HANGS_S)
    os.close(master)
    return text


def test_a_dumb_terminal_gets_no_escape_sequences():
    for term in ("dumb", ""):
        text = terminal_output(term)
        check(b"\x1b" not in text, f"TERM={term}: {text!r}")
        check(b"running" in text and b"Verdict" in text, f"TERM={term}: progress and summary: {text!r}")
    check(b"\x1b[K" in terminal_output("xterm"), "the control: another terminal gets them")


@plain_build_only  # localedef(1) takes 2 s of CPU time, the client none
def test_numbers_do_not_depend_on_the_locale():
    environment = german()
    point = run_command([sys.executable, "-c", "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.str(1.5))"],
                        env=environment)
    check_equal(point.stdout, "1,5\n", f"the control: a program that obeys it; {point.stderr}")
    with Server() as server:
        r = run_command([TCPCLIENT, "-c", "2", "-r", "2.5", "-t", "1.5", "--json", "-",
                         f"127.0.0.1:{server.port}"], env=environment)
    check_equal(json.loads(r.stdout)["rate"]["duration_s"], 1.5, "duration")
    check("2.5 requested" in r.stderr, r.stderr)


if __name__ == "__main__":
    main()
