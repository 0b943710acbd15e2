# SPDX-License-Identifier: MIT
"""An existing file is replaced by a complete one, or stays as it is."""

from helpers.reports import *


def test_a_refused_run_keeps_the_old_files():
    """Also if the run is refused after the files were opened: the address is in use, the start time has passed."""
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
                os.unlink(path)
            r = run_client("-p", server.port, "-c", 1, "-t", 0.1, *outputs, *refused, "127.0.0.1")
            check_equal(r.code, 2, r.err)
            for path in paths.values():
                check(not os.path.lexists(path), f"{path} with {refused} is new")
        r = run_client("-p", server.port, "-c", 1, "-t", 0.1, *outputs, "127.0.0.1")
    for path in paths.values():  # the control
        check(not read_text(path).startswith("old"), f"{path} of a run")


def test_a_server_that_does_not_start_keeps_the_old_files():
    paths = {option: temp_path(f"old.{option[2:]}") for option in ("--json", "--connections-out")}
    outputs = [word for pair in paths.items() for word in pair]
    with Server() as server:
        for content in ("old", None):
            for path in paths.values():
                if content:
                    write_text(path, content)
            r = run_command([TCPSERVER, *outputs, "--control", f"127.0.0.1:{server.port}", "0"])
            check_equal((r.returncode, len(r.stderr.splitlines())), (2, 1), r.stderr)
            for path in paths.values():
                check_equal(read_text(path) if os.path.lexists(path) else None, content, path)
                if content:
                    os.unlink(path)


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


# No file that a program writes has more than 512 bytes.
SMALL_FILES = ["sh", "-c", 'ulimit -c 0; ulimit -f 1; exec "$@"', "sh"]


def killed_while_writing(path, argv):
    """The exit code of a program that the kernel kills when it first writes what is to replace the file."""
    return run_command(["strace", "-qq", "-o", "/dev/null", "-P", f"{path}.tmp", "-e", "inject=write:signal=KILL", *argv])


def test_tcpreport_keeps_the_old_file_if_it_cannot_write_the_new_one():
    need_tcpreport()
    need_program("gnuplot")
    need_program("strace")
    result, log, path = temp_path("run.json"), temp_path("run.hlog"), temp_path("result")
    with Server() as server:
        target = f"127.0.0.1:{server.port}"
        load = [TCPCLIENT, "-q", "-c", "100", "-r", "1000", "-t", "1"]
        r = subprocess.run([*load, "--json", result, "--hlog", log, target], capture_output=True, timeout=HANGS_S)
        check(r.returncode in (0, 3), f"exit code {r.returncode}; stderr: {r.stderr}")
    write_json(result, {**read_json(result), "verdict": "VALID", "reasons": []})
    for argv in (*([TCPREPORT, *command, path, result] for command in (["merge", "--json"], ["html", "-o"])),
                 [TCPREPORT, "merge", "--hlog", path, log],
                 [TCPREPORT, "compare", "--min-runs", "1", "--json", path, result, "--", result]):
        write_text(path, "old")
        r = killed_while_writing(path, argv)
        check_equal(r.returncode, -signal.SIGKILL, f"exit code of {argv}; stderr: {r.stderr}")
        check_equal(read_text(path), "old", f"after {argv} was killed")
        r = run_command([*SMALL_FILES, *argv])
        check_equal(r.returncode, 3, f"exit code of {argv}; stderr: {r.stderr}")
        check("File too large" in r.stderr, f"{argv}: {r.stderr}")
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
    """The next line that contains the words."""
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


if __name__ == "__main__":
    main()
