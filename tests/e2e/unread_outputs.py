# SPDX-License-Identifier: MIT
"""SIGINT ends every phase of a run, whatever the program waits for and whichever of its outputs nobody reads."""

import contextlib
import fcntl
import pty
import socket
import threading

from control_api import control_path, stats
from harness import *

ENDS_WITHIN_S = 60  # generous: it must end although nobody reads; that takes some tenths of a second
LONG = "10m"  # no phase ends by itself


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


def catches(pid, number):
    """Whether the process has a handler for this signal."""
    with open(f"/proc/{pid}/status") as f:
        caught = re.search(r"^SigCgt:\s*(\w+)$", f.read(), re.M)[1]
    return int(caught, 16) >> (number - 1) & 1


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


def fifo():
    path = temp_path("fifo")
    os.mkfifo(path)
    return path


def test_sigint_ends_every_phase():
    with contextlib.ExitStack() as servers:
        def port_of(silent=False):
            """A server of its own for each phase: all its connections are those of one client."""
            if silent:
                return servers.enter_context(silent_listener()).getsockname()[1]
            return servers.enter_context(Server("--threads", 1)).port

        load = ["-c", 5, "-r", 5]
        started = []
        for phase, arguments, port, sleeps_alone in (
                ("opening a FIFO without a reader", ["--hlog", fifo()], port_of(), True),
                ("connecting", ["-c", 5000, "-n", 5], port_of(), False),
                ("proving", ["-c", 5, "--timeout", LONG], port_of(silent=True), False),
                ("TLS", ["-c", 5, "--tls", "--tls-insecure", "--connect-timeout", LONG], port_of(silent=True), False),
                ("settling", [*load, "--settle", LONG], port_of(), False),
                ("--start-at", [*load, "--start-at", int(time.time()) + 1000], port_of(), False),
                ("--start-file", [*load, "--start-file", temp_path("gate")], port_of(), False),
                ("--start-file that is a FIFO", [*load, "--start-file", fifo()], port_of(), False),
                ("load", load, port_of(), False),
                ("holding", ["-c", 5], port_of(), False),
                ("drain", ["-c", 5, "--prove", "no", "-r", 50, "--arrival", "constant", "-t", "0.2", "--timeout", LONG],
                 port_of(silent=True), False)):
            started.append((phase, start_client(*arguments, f"127.0.0.1:{port}"), port, sleeps_alone))
        for phase, client, port, sleeps_alone in started:
            if sleeps_alone:
                wait_for(lambda: sleeps(client.pid), f"the client to wait, {phase}")
            else:
                wait_for(lambda: established(client.pid, port), f"connections, {phase}")
        time.sleep(0.5)  # well into each phase
        for phase, client, _, sleeps_alone in started:
            check_equal(client.poll(), None, f"exit code before SIGINT, {phase}")
            code = interrupt_and_wait(client, phase)
            if sleeps_alone:  # before the run there is nothing to report
                check_interrupted(code, phase)
            else:
                check_equal(code, 130, f"exit code, {phase}")


def test_sigint_ends_a_run_that_asks_a_silent_server():
    """Not beside the others: it waits for an answer for some seconds only."""
    with Server() as server, silent_listener() as silent:
        client = start_client("-c", 5, "--server-control", f"127.0.0.1:{silent.getsockname()[1]}", f"127.0.0.1:{server.port}")
        connection, _ = silent.accept()
        with connection:  # open: its end would be an answer
            code = interrupt_and_wait(client, "asking a server")
    with stall_may_spoil():
        check_interrupted(code, "asking a server")


def answer_once(listener, metrics):
    """The first request is answered. Returns the connection of the second."""
    connection, _ = listener.accept()
    connection.recv(1000)
    connection.sendall(metrics)
    connection.close()
    return listener.accept()[0]


def answer_once_then_drip(listener, metrics):
    """The second request gets a byte now and then."""
    connection = answer_once(listener, metrics)
    with contextlib.suppress(OSError):
        while True:
            connection.sendall(b"x")
            time.sleep(0.1)


def test_sigint_ends_a_run_whose_servers_control_port_drips():
    control = temp_path("control")
    with Server("--control", f"unix:{control}") as server, silent_listener() as listener:
        metrics = subprocess.run(["curl", "-si", "--unix-socket", control, "http://localhost/metrics"],
                                 capture_output=True, check=True, timeout=100).stdout
        threading.Thread(target=answer_once_then_drip, args=(listener, metrics), daemon=True).start()
        json_path = temp_path("client.json")
        client = start_client("-c", 5, "-r", 100, "--server-control", f"127.0.0.1:{listener.getsockname()[1]}",
                              "--json", json_path, f"127.0.0.1:{server.port}")
        wait_for(lambda: client.poll() is not None or established(client.pid, server.port), "connections")
        time.sleep(0.5)
        code = interrupt_and_wait(client, "dripping control port")
        with stall_may_spoil():  # it waits for the first answer for some seconds only
            check_equal(code, 130, "exit code")
        with open(json_path) as f:
            check(json.load(f)["interrupted"], "the report")


def test_sigint_shortens_the_wait_for_a_server_that_hangs_at_the_end():
    control = temp_path("control")
    asked = []  # open: its end would be an answer
    with Server("--control", f"unix:{control}") as server, silent_listener() as listener:
        metrics = subprocess.run(["curl", "-si", "--unix-socket", control, "http://localhost/metrics"],
                                 capture_output=True, check=True, timeout=100).stdout
        threading.Thread(target=lambda: asked.append(answer_once(listener, metrics)), daemon=True).start()
        client = start_client("-c", 5, "-r", 100, "-t", 0.5, "--server-control", f"127.0.0.1:{listener.getsockname()[1]}",
                              f"127.0.0.1:{server.port}")
        wait_for(lambda: client.poll() is not None or asked, "the second request")
        begin = time.monotonic()
        code = interrupt_and_wait(client, "server that hangs at the end")
        with stall_may_spoil():  # it waits for the answer for 3 s
            check_equal(code, 130, "exit code")
            check(time.monotonic() - begin < 2, "an end soon after SIGINT")
        asked[0].close()


# --- SIGINT: outputs that nobody reads ---

# Rows are the last: after a run they wait for their reader for 10 s only (ROWS_PATIENCE_NS), then the program ends.
ROWS = ("-R", "-o")
BLOCKED = ("--json -", "stderr", "--hlog", "--connections-out", "--hgrm", "--json", "all", *ROWS)


@contextlib.contextmanager
def client_with_blocked(name, *arguments):
    """A client of a server of its own whose output `name`, or all of them, nobody reads: (client, the server's control
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


def test_sigint_ends_a_run_whatever_output_nobody_reads():
    with contextlib.ExitStack() as stack:
        clients = clients_with_blocked_outputs(stack, "-r", 1000)
        time.sleep(2.5)  # intervals and rows come to be written
        interrupt_all(clients)


def test_sigint_ends_the_writing_of_reports_that_nobody_reads():
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
        check_equal(client.wait(60) in (0, 3), True, "exit code")
        check(b"Verdict" in summary, f"the summary: {summary!r}")
        check(re.search(rb"tcpclient: lines lost because nobody read stderr: \d+\n", summary), f"lost lines: {summary!r}")
    with open(json_path) as f:
        check_equal(json.load(f)["rate"]["duration_s"], 1, "duration")


def test_a_message_before_the_run_is_lost_rather_than_waited_for():
    json_path = temp_path("server.json")
    for argv, code in (([TCPCLIENT, "--no-such-option"], 2), ([TCPSERVER, "--no-such-option"], 2), ([TCPREPORT, "nothing"], 2),
                       ([TCPREPORT, "show", json_path], 2), ([TCPSERVER, "--bind", "192.0.2.1", "0"], 2)):
        reading, writing = full_pipe()
        process = spawn(argv, stderr=writing)
        os.close(writing)
        check_equal(process.wait(ENDS_WITHIN_S), code, f"exit code of {argv}")
        os.close(reading)


def test_sigint_ends_a_terminal_that_is_stopped():
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


# --- the server serves on ---

@contextlib.contextmanager
def server_with_unread(option):
    """A server with a control port that writes into a full FIFO: (server, the FIFO's reading end)."""
    path, reading = full_fifo()
    control, err = control_path(), temp_path("server.err")
    with open(err, "w") as f:
        server = spawn([TCPSERVER, "--control", control, "--threads", "1", option, path, "0"], stderr=f)
    server.control = control
    server.err = lambda: open(err).read()
    try:
        wait_for(lambda: "listening on" in server.err(), "the listening line")
        server.port = int(re.search(r"listening on \S*:(\d+),", server.err())[1])
        yield server, reading
    finally:
        os.close(reading)


def read_text(fd, is_whole):
    """What a FIFO has behind what filled it, once that is whole."""
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


def test_a_server_serves_on_when_nobody_reads_its_connections():
    n = 5000  # more rows than stdio's buffer and a pipe have room for
    with server_with_unread("--connections-out") as (server, reading):
        for _ in range(2):
            connect_through(server, n)
        code = interrupt_and_wait(server, "rows that nobody reads", signal.SIGTERM)
        check_equal(code, 1, f"exit code: {server.err()}")
        lost = re.search(r"--connections-out: could not write .*: the reader has stalled; (\d+) lines are missing", server.err())
        check_equal(int(lost[1]), 2 * n + 1, "lines missing, the header's included")


def test_rows_of_connections_wait_for_a_reader_who_comes_later():
    n = 5000
    with server_with_unread("--connections-out") as (server, reading):
        connect_through(server, n)
        lines = read_text(reading, lambda text: text.count("\n") == n + 1).splitlines()
        server.send_signal(signal.SIGTERM)
        check_equal(server.wait(ENDS_WITHIN_S), 0, f"exit code: {server.err()}")
    check_equal(lines[0], "source,source_port,identity,identity_port", "header")
    check_equal([line for line in lines if line.count(",") != 3], [], "torn lines")


def test_a_server_serves_on_when_nobody_reads_its_snapshots():
    with server_with_unread("--json") as (server, reading):
        for _ in range(3):
            server.send_signal(signal.SIGUSR1)
            wait_for(lambda: stats(server.control)["state"] == "running", "an answer")
        wait_for(lambda: "has not read the last result" in server.err(), "what it says of it")
        connect_through(server, 10)
        code = interrupt_and_wait(server, "snapshots that nobody reads", signal.SIGTERM)
        check_equal(code, 1, f"exit code: {server.err()}")


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


if __name__ == "__main__":
    main()
