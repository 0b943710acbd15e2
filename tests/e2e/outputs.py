# SPDX-License-Identifier: MIT
"""Outputs that nobody reads, that are full, closed or shared; and SIGINT works whatever the program waits for."""

import contextlib
import fcntl
import pty
import socket
import threading

from harness import *

ENDS_WITHIN_S = 8  # generous: what is tested is that it ends though nobody reads; it takes some tenths of a second


def full_pipe():
    """Its two ends; nothing more fits in."""
    reading, writing = os.pipe()
    flags = fcntl.fcntl(writing, fcntl.F_GETFL)
    fcntl.fcntl(writing, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    fcntl.fcntl(writing, fcntl.F_SETFL, flags)
    return reading, writing


def full_fifo():
    """Its path and its reading end."""
    path = temp_path("fifo")
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writing = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.close(writing)
    return path, reading


def established(pid, port):
    return any(s.state == ESTABLISHED and s.remote_port == port for s in tcp_sockets(pid))


def sleeps(pid):
    """Whether the main thread waits in the kernel."""
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0] == "S"


def interrupt_and_wait(process, what, number=signal.SIGINT):
    process.send_signal(number)
    begin = time.monotonic()
    try:
        code = process.wait(ENDS_WITHIN_S)
        print(f"     {what}: ended after {time.monotonic() - begin:.2f} s")
        return code
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{what}: goes on {ENDS_WITHIN_S} s after SIGINT") from None


def check_interrupted(code, what):
    check(code in (130, -signal.SIGINT), f"{what}: exit code {code}")


# --- SIGINT: phases ---

def silent_listener(backlog=16):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(backlog)
    return s


def start_client(*arguments, **options):
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, **options}
    return spawn([TCPCLIENT, *[str(a) for a in arguments]], **options)


def test_sigint_ends_every_phase():
    gate = temp_path("gate")
    gate_fifo = temp_path("gate-fifo")
    os.mkfifo(gate_fifo)
    with Server() as server, silent_listener() as silent, silent_listener() as frozen_control:
        mute = silent.getsockname()[1]
        target, silent_target = f"127.0.0.1:{server.port}", f"127.0.0.1:{mute}"
        control = f"127.0.0.1:{frozen_control.getsockname()[1]}"
        ready = temp_path("ready")
        for phase, arguments, port in (
                ("opening a FIFO without a reader", ["--hlog", gate_fifo, target], None),
                ("connecting", ["-c", 5000, "-n", 5, target], server.port),
                ("proving", ["-c", 5, "--timeout", "1m", silent_target], mute),
                ("TLS", ["-c", 5, "--tls", "--tls-insecure", silent_target], mute),
                ("settling", ["-c", 5, "-r", 5, "--settle", "1m", target], server.port),
                ("--start-at", ["-c", 5, "-r", 5, "--start-at", int(time.time()) + 1000, target], server.port),
                ("--start-file", ["-c", 5, "-r", 5, "--start-file", gate, target], server.port),
                ("--start-file that is a FIFO", ["-c", 5, "-r", 5, "--start-file", gate_fifo, target], server.port),
                ("load", ["-c", 5, "-r", 5, target], server.port),
                ("holding", ["-c", 5, target], server.port),
                ("drain", ["-c", 5, "--prove", "no", "-r", 50, "-t", "0.2", "--timeout", "1m", silent_target], mute),
                ("asking a server", ["-c", 5, "--server-control", control, target], None)):
            client = start_client(*arguments)
            if port is None:
                wait_for(lambda: sleeps(client.pid), f"the client to wait, {phase}")
            else:
                wait_for(lambda: established(client.pid, port), f"connections, {phase}")
            time.sleep(0.5)  # well into the phase
            check_equal(client.poll(), None, f"exit code before SIGINT, {phase}")
            check_interrupted(interrupt_and_wait(client, phase), phase)


def answer_once_then_drip(listener, metrics):
    """The first request is answered, further ones get a byte now and then."""
    connection, _ = listener.accept()
    connection.recv(1000)
    connection.sendall(metrics)
    connection.close()
    connection, _ = listener.accept()
    with contextlib.suppress(OSError):
        while True:
            connection.sendall(b"x")
            time.sleep(0.1)


def test_sigint_ends_a_run_whose_servers_control_port_drips():
    control = temp_path("control")
    with Server("--control", f"unix:{control}") as server, silent_listener() as listener:
        metrics = subprocess.run(["curl", "-si", "--unix-socket", control, "http://localhost/metrics"],
                                 capture_output=True, check=True, timeout=30).stdout
        threading.Thread(target=answer_once_then_drip, args=(listener, metrics), daemon=True).start()
        json_path = temp_path("client.json")
        client = start_client("-c", 5, "-r", 100, "--server-control", f"127.0.0.1:{listener.getsockname()[1]}",
                              "--json", json_path, f"127.0.0.1:{server.port}")
        wait_for(lambda: established(client.pid, server.port), "connections")
        time.sleep(0.5)
        check_equal(interrupt_and_wait(client, "dripping control port"), 130, "exit code")
        with open(json_path) as f:
            check(json.load(f)["interrupted"], "the report")


# --- SIGINT: outputs that nobody reads ---

def blocked_outputs():
    """What is blocked, arguments, streams."""
    for name in ("-R", "--json -", "stderr", "--hlog", "--connections-out", "--hgrm", "--json", "-o", "all"):
        ends, streams, arguments = [], {}, []
        if name in ("-R", "--json -", "all"):
            ends += full_pipe()
            streams["stdout"] = ends[1]
            arguments += ["--json", "-"] if name == "--json -" else ["-R", "--raw-full", "block"]
        if name in ("stderr", "all"):
            ends += full_pipe()
            streams["stderr"] = ends[-1]
        for option in ("--hlog", "--connections-out", "--hgrm", "--json", "-o"):
            if name == option or name == "all" and option != "-o":
                path, reading = full_fifo()
                ends.append(reading)
                arguments += [option, path]
        yield name, arguments, streams
        for end in ends:
            os.close(end)


def test_sigint_ends_a_run_whatever_output_nobody_reads():
    with Server() as server:
        for name, arguments, streams in blocked_outputs():
            client = start_client("-c", 5, "-r", 5000, "--stats-interval", "100ms", *arguments,
                                  f"127.0.0.1:{server.port}", **streams)
            wait_for(lambda: established(client.pid, server.port), f"connections, {name}")
            time.sleep(2.5)  # intervals and rows come to be written
            check_equal(client.poll(), None, f"exit code before SIGINT, {name}")
            check_equal(interrupt_and_wait(client, name), 130, f"exit code, {name}")


def test_sigint_ends_the_writing_of_reports_that_nobody_reads():
    with Server() as server:
        for name, arguments, streams in blocked_outputs():
            client = start_client("-c", 5, "-r", 500, "-t", "0.5", "--stats-interval", "100ms", *arguments,
                                  f"127.0.0.1:{server.port}", **streams)
            wait_for(lambda: established(client.pid, server.port), f"connections, {name}")
            wait_for(lambda: not established(client.pid, server.port), f"the end of the run, {name}")
            time.sleep(0.3)
            check_equal(client.poll(), None, f"exit code before SIGINT: it waits for its reader, {name}")
            check_equal(interrupt_and_wait(client, name), 130, f"exit code, {name}")


def test_a_stderr_that_nobody_reads_does_not_hold_up_the_run():
    reading, writing = full_pipe()
    json_path = temp_path("client.json")
    with Server() as server:
        client = start_client("-c", 5, "-r", 500, "-t", 1, "--stats-interval", "10ms", "--json", json_path,
                              f"127.0.0.1:{server.port}", stderr=writing)
        os.close(writing)
        wait_for(lambda: established(client.pid, server.port), "connections")
        wait_for(lambda: not established(client.pid, server.port), "the end of the run")
        text, summary = b"x", b""
        while text:  # the reader comes for the summary, which has waited
            text = os.read(reading, 65536)
            summary += text
        check_equal(client.wait(20) in (0, 3), True, "exit code")
        check(b"Verdict" in summary, f"the summary: {summary!r}")
    with open(json_path) as f:
        check_equal(json.load(f)["rate"]["duration_s"], 1, "duration")


def test_sigint_ends_a_terminal_that_is_stopped():
    master, slave = pty.openpty()
    with Server() as server:
        client = start_client("-c", 5, "-r", 500, f"127.0.0.1:{server.port}", stderr=slave)
        os.read(master, 100)
        os.write(master, b"\x13")  # ^S
        time.sleep(2.5)
        check_equal(interrupt_and_wait(client, "stopped terminal"), 130, "exit code")
    os.close(master)
    os.close(slave)


def test_sigint_ends_the_server_whatever_output_nobody_reads():
    for name in ("stderr", "--json -", "--json"):
        ends, streams, arguments = [], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}, []
        if name == "--json":
            path, reading = full_fifo()
            ends, arguments = [reading], ["--json", path]
        else:
            ends = full_pipe()
            streams["stdout" if name == "--json -" else "stderr"] = ends[1]
            arguments = ["--json", "-"] if name == "--json -" else []
        port = free_port()
        server = spawn([TCPSERVER, "--stats-interval", "50ms", *arguments, str(port)], **streams)
        wait_for(lambda: listens(port), f"the listener, {name}")
        time.sleep(1)
        code = interrupt_and_wait(server, name)
        check(code in (0, 1), f"exit code {code}, {name}")
        for end in ends:
            os.close(end)


# --- outputs that are closed ---

def run_closed(program, closed, *arguments):
    """Through the shell: started with this stream closed."""
    command = " ".join([program, *[f"'{a}'" for a in arguments], closed])
    return subprocess.run(["sh", "-c", f"exec {command}"], capture_output=True, text=True, timeout=60)


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
                                   (TCPSERVER, ["--json", "-", "0"]), (TCPREPORT, ["show", client.json_path]),
                                   (TCPREPORT, ["merge", "--json", "-", client.json_path]), (TCPREPORT, ["--help"])):
            r = run_closed(program, ">&-", *arguments)
            check_equal(r.returncode, 2, f"exit code, {arguments}; stderr: {r.stderr}")
            check("stdout" in r.stderr, f"{arguments}: {r.stderr}")


def test_a_closed_stdin_is_refused():
    for option in ("--stdin", "--query-file=-"):
        r = run_closed(TCPCLIENT, "<&-", option, "127.0.0.1:1")
        check_equal(r.returncode, 2, f"exit code, {option}; stderr: {r.stderr}")
        check(option.partition("=")[0] in r.stderr and "Bad file descriptor" in r.stderr, r.stderr)


# --- outputs that are one file ---

def test_two_outputs_into_one_file_are_refused():
    path, symlink = temp_path("out"), temp_path("symlink")
    with open(path, "w") as f:
        f.write("precious")
    link = path + ".link"
    os.link(path, link)
    os.symlink(path, symlink)
    with Server() as server:
        for arguments in (["--json", path, "-o", path], ["--hlog", path, "--hgrm", link],
                          ["--connections-out", symlink, "--json", link], ["-R", "-o", "-", "--json", "-"],
                          ["-R", "--json", "/dev/stdout"], ["-R", "--hlog", "/proc/self/fd/1"],
                          ["--json", "-", "--hgrm", "-"],
                          ["--json", path, "-o", os.path.join(os.path.dirname(path), ".", "out")]):
            r = subprocess.run([TCPCLIENT, "-c", "1", "-t", "0.1", *arguments, f"127.0.0.1:{server.port}"],
                               capture_output=True, text=True, timeout=30)
            check_equal(r.returncode, 2, f"exit code, {arguments}; stderr: {r.stderr}")
            check_equal(len(r.stderr.splitlines()), 1, f"lines, {arguments}: {r.stderr}")
            check("expected a different file for each" in r.stderr, r.stderr)
        with open(path) as f:
            check_equal(f.read(), "precious", "what the file had")
        r = subprocess.run([TCPCLIENT, "-R", "--json", path, "-c", "1", "-t", "0.1", f"127.0.0.1:{server.port}"],
                           stdout=open(link, "a"), stderr=subprocess.PIPE, text=True, timeout=30)
        check_equal(r.returncode, 2, f"exit code with stdout redirected there; stderr: {r.stderr}")


def test_dev_null_may_be_shared():
    """The control of the test above."""
    with Server() as server:
        r = subprocess.run([TCPCLIENT, "-c", "1", "-r", "10", "-t", "0.3", "-q", "-R", "--json", "/dev/null", "--hlog",
                            "/dev/null", "--hgrm", "/dev/null", f"127.0.0.1:{server.port}"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=30)
    check(r.returncode in (0, 3), f"exit code {r.returncode}; stderr: {r.stderr}")


def test_tcpreport_does_not_write_over_what_it_reads():
    with Server() as server:
        r = run_client("-c", 2, "-r", 50, "-t", "0.3", f"127.0.0.1:{server.port}")
    path = temp_path("result.json")
    with open(path, "w") as f:
        json.dump(r.json, f)
    for arguments in (["--json", path, path], ["--json", path + ".new", "--hlog", path + ".new", path]):
        m = subprocess.run([TCPREPORT, "merge", *arguments], capture_output=True, text=True, timeout=30)
        check_equal(m.returncode, 2, f"exit code, {arguments}; stderr: {m.stderr}")
    with open(path) as f:
        check_equal(json.load(f), r.json, "the result")


# --- outputs that are full ---

def test_a_full_disk_under_stdout_is_said():
    with open("/dev/full", "w") as full:
        for program in (TCPCLIENT, TCPSERVER, TCPREPORT):
            for arguments in (["--help"], ["--version"]) + \
                    (() if program == TCPREPORT else (["--print-config"], ["--profile", "list"],
                                                      ["--plan", "--json", "-"], ["--plan"])):
                arguments = arguments + (["127.0.0.1"] if arguments[0] == "--plan" and program == TCPCLIENT else [])
                r = subprocess.run([program, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
                check_equal(r.returncode, 2, f"exit code, {program} {arguments}")
                check("No space left on device" in r.stderr, f"{program} {arguments}: {r.stderr}")
                check_equal(len(r.stderr.splitlines()), 1, f"lines: {r.stderr}")


def test_a_full_disk_under_a_picture_is_said():
    """gnuplot itself ends with 0 then."""
    need_program("gnuplot")
    log = temp_path("run.hlog")
    with Server() as server:
        run_client("-c", 2, "-r", 500, "-t", 1, "--hlog", log, f"127.0.0.1:{server.port}")
    picture = temp_path("picture.png")
    os.symlink("/dev/full", picture)
    for arguments in (["--term"], ["-o", picture]):
        with open("/dev/full", "w") as full:
            r = subprocess.run([TCPREPORT, "plot", *arguments, log], stdout=full, stderr=subprocess.PIPE, text=True,
                               timeout=60)
        check_equal(r.returncode, 2, f"exit code, {arguments}")
        check("No space left on device" in r.stderr, f"{arguments}: {r.stderr}")


def test_errors_are_named_by_the_kernels_word():
    with Server() as server:
        target = f"127.0.0.1:{server.port}"
        for option in ("--json", "--hlog", "--hgrm", "--connections-out"):
            r = subprocess.run([TCPCLIENT, "-c", "2", "-r", "50", "-t", "0.3", option, "/dev/full", target],
                               capture_output=True, text=True, timeout=30)
            check_equal(r.returncode, 3, f"exit code, {option}; stderr: {r.stderr}")
            check(f"{option}: could not write '/dev/full': No space left on device" in r.stderr, r.stderr)
        r = run_client("-c", 2, "-r", 50, "-t", "0.3", "-o", "/dev/full", target)
        check("missing: No space left on device" in r.err and "too slow" not in r.err, r.err)
        reading, writing = os.pipe()
        os.close(reading)
        r = run_client("-c", 2, "-r", 50, "-t", "0.3", "-R", target, stdout=writing)
        os.close(writing)
        check("missing: Broken pipe" in r.err and "too slow" not in r.err, r.err)


def test_a_result_that_does_not_fit_is_no_part_of_one():
    """On a file system of one page: a truncated result is left empty, not cut off."""
    need_root()
    directory = os.path.dirname(temp_path("x"))
    m = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", directory], capture_output=True)
    if m.returncode != 0:
        skip("cannot mount a tmpfs")
    try:
        with Server() as server:
            for option in ("--json", "--connections-out"):
                path = os.path.join(directory, "result" + option)
                r = subprocess.run([TCPCLIENT, "-c", "200", "-r", "50", "-t", "0.3", option, path,
                                    f"127.0.0.1:{server.port}"], capture_output=True, text=True, timeout=30)
                check_equal(r.returncode, 3, f"exit code; stderr: {r.stderr}")
                check("No space left on device" in r.stderr, r.stderr)
                check_equal(os.path.getsize(path), 0, f"bytes of {option}")
                os.unlink(path)
    finally:
        subprocess.run(["umount", directory], check=True)


# --- what is said ---

def test_quiet_says_why_it_is_not_valid():
    with Server() as server:
        r = run_client("-q", "-c", 2, "-r", 50, "-t", "0.3", "-o", "/dev/full", f"127.0.0.1:{server.port}")
        check_code(r, 3)
        check_equal(r.err.splitlines(), [f"tcpclient: SUSPECT: {', '.join(r.json['reasons'])}"], "stderr")
        r = run_client("-q", "-c", 2, "-r", 50, "-t", "0.3", f"127.0.0.1:{server.port}")
    check_equal(r.err == "", not r.json["reasons"], f"nothing is said of a valid run: {r.err}")


def terminal_output(term):
    """What a client shows on a terminal of this kind."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": term}
    if not term:
        del environment["TERM"]
    with Server() as server:
        client = start_client("-c", 5, "-r", 100, "-t", "2.5", "--stats-interval", "1s", f"127.0.0.1:{server.port}",
                              stderr=slave, env=environment)
        os.close(slave)
        text = b""
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while chunk := os.read(master, 65536):
                text += chunk
        client.wait(30)
    os.close(master)
    return text


def test_a_dumb_terminal_gets_no_escape_sequences():
    for term in ("dumb", ""):
        text = terminal_output(term)
        check(b"\x1b" not in text, f"TERM={term}: {text!r}")
        check(b"running" in text and b"Verdict" in text, f"TERM={term}: progress and summary: {text!r}")
    check(b"\x1b[K" in terminal_output("xterm"), "the control: another terminal gets them")


if __name__ == "__main__":
    main()
