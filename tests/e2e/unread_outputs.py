# SPDX-License-Identifier: MIT
"""Outputs that are not read: SIGINT still ends the program, and until then it keeps running."""

import contextlib
import fcntl
import pty

from helpers.control_api import ask, control_path, stats
from helpers.interrupts import *


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


# --- SIGINT: outputs that are not read ---

# Rows are the last: after a run they wait for their reader for 10 s only (ROWS_TIMEOUT_NS), then the program ends.
ROWS = ("-R", "-o")
BLOCKED = ("--json -", "stderr", "--hlog", "--connections-out", "--hgrm", "--json", "all", *ROWS)


@contextlib.contextmanager
def client_with_blocked(name, *arguments):
    """A client, with a server of its own, whose output `name`, or all of whose outputs, are not read: (client, the server's control
    port)."""
    control = control_path()
    with Server("--threads", 1, "--control", control) as server, contextlib.ExitStack() as ends:
        streams, arguments = {}, [*arguments]

        def open_pipe():
            pipe = full_pipe()
            for end in pipe:
                ends.callback(os.close, end)
            return pipe[1]

        if name in ("-R", "--json -", "all"):
            streams["stdout"] = open_pipe()
            arguments += ["--json", "-"] if name == "--json -" else ["-R", "--raw-full", "block"]
        if name in ("stderr", "all"):
            streams["stderr"] = open_pipe()
        for option in ("--hlog", "--connections-out", "--hgrm", "--json", "-o"):
            if name == option or name == "all" and option != "-o":
                path, reading = full_fifo()
                ends.callback(os.close, reading)
                arguments += [option, path]
        yield start_client(*arguments, f"127.0.0.1:{server.port}", **streams), control


def clients_with_blocked_outputs(stack, *arguments):
    """One for each output, side by side, connected: [(output, client, control port of its server)]."""
    clients = []
    for name in BLOCKED:
        client, control = stack.enter_context(client_with_blocked(name, "-c", 5, "--stats-interval", "100ms", *arguments))
        clients.append((name, client, control))
    for name, _, control in clients:
        wait_for(lambda: stats(control)["accepted"] >= 5, f"connections, {name}")
    return clients


def interrupt_all(clients):
    """The last first."""
    for name, client, _ in reversed(clients):
        with stall_may_spoil() if name in ROWS else contextlib.nullcontext():
            check_equal(client.poll(), None, f"exit code before SIGINT, {name}")
        check_equal(interrupt_and_wait(client, name), 130, f"exit code, {name}")


@covered_by_others
def test_sigint_ends_a_run_whatever_output_nobody_reads():
    with contextlib.ExitStack() as stack:
        clients = clients_with_blocked_outputs(stack, "-r", 1000)
        time.sleep(2.5)  # intervals and rows come to be written
        interrupt_all(clients)


def test_sigint_ends_the_writing_of_unread_reports():
    with contextlib.ExitStack() as stack:
        clients = clients_with_blocked_outputs(stack, "-r", 500, "-t", 1)
        for name, _, control in clients:
            wait_for(lambda: stats(control)["active"] == 0, f"the end of the run, {name}")
        time.sleep(0.3)
        interrupt_all(clients)


def test_a_stderr_that_nobody_reads_does_not_hold_up_the_run():
    reading, writing = full_pipe()
    json_path, control = temp_path("client.json"), control_path()
    with Server("--control", control) as server:
        client = start_client("-c", 5, "-r", 500, "-t", 1, "--stats-interval", "10ms", "--json", json_path,
                              f"127.0.0.1:{server.port}", stderr=writing)
        os.close(writing)
        wait_for(lambda: stats(control)["accepted"] >= 5, "connections")
        wait_for(lambda: stats(control)["active"] == 0, "the end of the run")
        wait_for(lambda: os.path.exists(json_path), "the result, though nobody has read the summary")
        text, summary = b"x", b""
        while text:  # the reader comes for the summary, which has waited
            text = os.read(reading, 65536)
            summary += text
        check_equal(client.wait(HANGS_S) in (0, 3), True, "exit code")
        check(b"Verdict" in summary, f"the summary: {summary!r}")
        check(re.search(rb"tcpclient: lines lost because nobody read stderr: \d+\n", summary), f"lost lines: {summary!r}")
    check_equal(read_json(json_path)["rate"]["duration_s"], 1, "duration")


def test_a_message_before_the_run_is_lost_rather_than_waited_for():
    json_path = temp_path("server.json")
    for argv, code in (([TCPCLIENT, "--no-such-option"], 2), ([TCPSERVER, "--no-such-option"], 2), ([TCPREPORT, "nothing"], 2),
                       ([TCPREPORT, "show", json_path], 2), ([TCPSERVER, "--bind", "192.0.2.1", "0"], 2)):
        if not argv[0]:
            continue  # tcpreport was not built
        reading, writing = full_pipe()
        process = spawn(argv, stderr=writing)
        os.close(writing)
        check_equal(process.wait(ENDS_WITHIN_S), code, f"exit code of {argv}")
        os.close(reading)


@covered_by_others
def test_sigint_ends_a_run_on_a_stopped_terminal():
    master, slave = pty.openpty()
    with Server() as server:
        client = start_client("-c", 5, "-r", 500, f"127.0.0.1:{server.port}", stderr=slave)
        os.read(master, 100)
        wait_for(lambda: established(client.pid, server.port), "connections")
        os.write(master, b"\x13")  # ^S
        time.sleep(2.5)
        check_equal(interrupt_and_wait(client, "stopped terminal"), 130, "exit code")
    os.close(master)
    os.close(slave)


# --- the server keeps serving ---

@contextlib.contextmanager
def server_with_unread(option):
    """A server with a control port that writes into a full FIFO: (server, the FIFO's reading end)."""
    path, reading = full_fifo()
    control, err = control_path(), temp_path("server.err")
    with open(err, "w") as f:
        server = spawn([TCPSERVER, "--control", control, "--threads", "1", option, path, "0"], stderr=f)
    server.control = control
    server.err = lambda: read_text(err)
    try:
        wait_for(lambda: "listening on" in server.err(), "the listening line")
        server.port = int(re.search(r"listening on \S*:(\d+),", server.err())[1])
        yield server, reading
    finally:
        os.close(reading)


def read_fifo(fd, is_whole):
    """What a FIFO contains after the text that filled it, once that is complete."""
    text = ""

    def read():
        nonlocal text
        with contextlib.suppress(BlockingIOError):
            text += os.read(fd, 1 << 20).decode().lstrip("x")
        return is_whole(text)
    wait_for(read, "all that is written into the FIFO")
    return text


def connect_through(server, n):
    """n connections, and waits until the main thread of the server has counted them."""
    before = stats(server.control)["accepted"]
    r = run_client("-c", n, "--prove", "no", "--close", "rst", "-t", "0.1", f"127.0.0.1:{server.port}")
    check_equal(r.json["connections"]["connected"], n, "connections")
    wait_for(lambda: stats(server.control)["accepted"] == before + n, "the server to accept them all")


@covered_by_others
def test_a_server_keeps_serving_when_nobody_reads_its_connections():
    n = 5000  # more rows than stdio's buffer and a pipe have room for
    with server_with_unread("--connections-out") as (server, reading):
        for _ in range(2):
            connect_through(server, n)
        code = interrupt_and_wait(server, "rows that nobody reads", signal.SIGTERM)
        check_equal(code, 1, f"exit code: {server.err()}")
        lost = re.search(r"--connections-out: could not write .*: the reader has stalled; (\d+) lines are missing", server.err())
        check_equal(int(lost[1]), 2 * n + 1, "lines missing, the header's included")


def test_rows_of_connections_wait_for_a_late_reader():
    n = 5000
    with server_with_unread("--connections-out") as (server, reading):
        connect_through(server, n)
        lines = read_fifo(reading, lambda text: text.count("\n") == n + 1).splitlines()
        server.send_signal(signal.SIGTERM)
        check_equal(server.wait(ENDS_WITHIN_S), 0, f"exit code: {server.err()}")
    check_equal(lines[0], "source,source_port,identity,identity_port", "header")
    check_equal([line for line in lines if line.count(",") != 3], [], "torn lines")


def test_a_server_keeps_serving_when_nobody_reads_its_snapshots():
    with server_with_unread("--json") as (server, reading):
        for _ in range(3):
            server.send_signal(signal.SIGUSR1)
            wait_for(lambda: stats(server.control)["state"] == "running", "an answer")
        wait_for(lambda: "has not read the last result" in server.err(), "what it says of it")
        connect_through(server, 10)
        code = interrupt_and_wait(server, "snapshots that nobody reads", signal.SIGTERM)
        check_equal(code, 1, f"exit code: {server.err()}")


@covered_by_others
def test_sigint_ends_the_server_whatever_output_nobody_reads():
    started = []
    with contextlib.ExitStack() as ends:
        for name in ("stderr", "--json -", "--json", "--connections-out"):
            streams, arguments = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}, []
            if name in ("--json", "--connections-out"):
                path, reading = full_fifo()
                ends.callback(os.close, reading)
                arguments = [name, path]
            else:
                reading, writing = full_pipe()
                ends.callback(os.close, reading)
                ends.callback(os.close, writing)
                streams["stdout" if name == "--json -" else "stderr"] = writing
                arguments = ["--json", "-"] if name == "--json -" else []
            port = free_port()
            started.append((name, port, spawn([TCPSERVER, "--stats-interval", "50ms", *arguments, str(port)], **streams)))
        for name, port, server in started:
            wait_for(lambda: listens(port) and catches(server.pid, signal.SIGINT), f"the listener, {name}")
        time.sleep(1)  # progress lines come to be written
        for name, _, server in started:
            code = interrupt_and_wait(server, name)
            check(code in (0, 1), f"exit code {code}, {name}")


@covered_by_others
def test_a_request_ends_the_server_whatever_output_nobody_reads():
    for option in ("--connections-out", "--json"):
        with server_with_unread(option) as (server, reading):
            connect_through(server, 10)
            ask(server.control, "/stop")
            check_equal(server.wait(ENDS_WITHIN_S), 1, f"exit code, {option}: {server.err()}")


if __name__ == "__main__":
    main()
