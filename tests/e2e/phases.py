# SPDX-License-Identifier: MIT
"""SIGINT ends a run in every phase, whatever the program is waiting for."""

import contextlib
import socket
import threading

from helpers.control_api import control_path, stats
from helpers.interrupts import *

LONG = "1h"  # no phase ends by itself


def sleeps(pid):
    """Whether the main thread waits in the kernel."""
    return process_state(pid) == "S"


def check_interrupted(code, what):
    check(code in (130, -signal.SIGINT), f"{what}: exit code {code}")


def silent_listener():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(16)
    s.settimeout(HANGS_S)
    return s


def fifo():
    path = temp_path("fifo")
    os.mkfifo(path)
    return path


def listens_at(path):
    """Whether a unix socket listens at this path (__SO_ACCEPTCON)."""
    with open("/proc/net/unix") as f:
        return any(fields[3] == "00010000" and fields[-1] == path for fields in map(str.split, f))


def is_in(control, state):
    """Whether the client listens there and reports this state."""
    return listens_at(control.removeprefix("unix:")) and stats(control)["state"] == state


def test_sigint_ends_every_phase():
    with contextlib.ExitStack() as servers:
        def port_of(silent=False):
            """A server of its own for each phase: all its connections are those of one client."""
            if silent:
                return servers.enter_context(silent_listener()).getsockname()[1]
            return servers.enter_context(Server("--threads", 1)).port

        load = ["-c", 5, "-r", 5]
        started = []
        for phase, arguments, port, state in (
                ("opening a FIFO without a reader", ["--hlog", fifo()], port_of(), None),
                ("connecting", ["-c", 5000, "-n", 5], port_of(), "connecting"),
                ("proving", ["-c", 5, "--timeout", LONG], port_of(silent=True), "connecting"),
                ("TLS", ["-c", 5, "--tls", "--tls-insecure", "--connect-timeout", LONG], port_of(silent=True), "connecting"),
                ("settling", [*load, "--settle", LONG], port_of(), "running"),
                ("--start-at", [*load, "--start-at", int(time.time()) + 1000], port_of(), "connecting"),
                ("--start-file", [*load, "--start-file", temp_path("gate")], port_of(), "connecting"),
                ("--start-file that is a FIFO", [*load, "--start-file", fifo()], port_of(), "connecting"),
                ("load", load, port_of(), "running"),
                ("holding", ["-c", 5], port_of(), "running"),
                ("drain", ["-c", 5, "--prove", "no", "-r", 50, "--arrival", "constant", "-t", "0.2", "--timeout", LONG],
                 port_of(silent=True), "draining")):
            control = control_path()
            started.append((phase, start_client(*arguments, "--control", control, f"127.0.0.1:{port}"), port, state, control))
        for phase, client, port, state, control in started:
            if state is None:  # before the run; it never gets to its control port
                wait_for(lambda: sleeps(client.pid), f"the client to wait, {phase}")
            else:
                wait_for(lambda: established(client.pid, port) and is_in(control, state), f"{state}, {phase}")
        for phase, client, _, state, _ in started:
            check_equal(client.poll(), None, f"exit code before SIGINT, {phase}")
            code = interrupt_and_wait(client, phase)
            if state is None:  # there is nothing to report
                check_interrupted(code, phase)
            else:
                check_equal(code, 130, f"exit code, {phase}")


def test_sigint_ends_a_run_whose_servers_control_port_is_silent():
    """Not at the same time as the others: it waits for an answer for some seconds only."""
    with Server() as server, silent_listener() as silent:
        client = start_client("-c", 5, "--server-control", f"127.0.0.1:{silent.getsockname()[1]}", f"127.0.0.1:{server.port}")
        connection, _ = silent.accept()
        with connection:  # open: its end would be an answer
            code = interrupt_and_wait(client, "asking a server")
    with stall_may_spoil():
        check_interrupted(code, "asking a server")


def end_at_second_zoneinfo(argv, **options):
    """Runs a program that gets SIGTERM when it opens this file for the second time: after what it creates, before its event loop."""
    return run_command(["strace", "-qq", "-o", "/dev/null", "-P", "/proc/zoneinfo", "-e", "trace=openat",
                        "-e", "inject=openat:signal=TERM:when=2", *argv], **options)


@plain_build_only
def test_programs_that_are_ended_while_they_start_leave_nothing_behind():
    need_program("strace", "gnuplot")
    directory = temp_directory()
    control = f"unix:{directory}/control"
    r = end_at_second_zoneinfo([TCPSERVER, "--control", control, "0"])
    check_equal((r.returncode, os.listdir(directory)), (0, []), f"exit code of the server, and its socket: {r.stderr}")
    with Server() as server:
        r = end_at_second_zoneinfo([TCPCLIENT, "--control", control, "--report", temp_path("page.html"), f"127.0.0.1:{server.port}"],
                                   env={**os.environ, "TMPDIR": directory})
    check_equal((r.returncode, os.listdir(directory)), (130, []), f"exit code of the client, and what is left: {r.stderr}")


@covered_by_others
def test_a_client_that_is_interrupted_before_the_run_keeps_the_last_result_and_leaves_nothing_behind():
    need_program("gnuplot")
    directory, result = temp_directory(), temp_path("result.json")
    write_text(result, "of the last run\n")
    options = "-c", 5, "-r", 5, "--json", result, "--report", temp_path("page.html")
    with Server() as server, silent_listener() as silent:
        def start(*more):
            return start_client(*options, *more, f"127.0.0.1:{server.port}", env={**os.environ, "TMPDIR": directory})
        asking = start("--server-control", f"127.0.0.1:{silent.getsockname()[1]}")
        connection, _ = silent.accept()
        with connection:
            check_equal(interrupt_and_wait(asking, "asking a server"), 130, "exit code")
        opening = start("--hgrm", fifo())
        wait_for(lambda: os.listdir(directory) and sleeps(opening.pid), "the client to wait for a reader")
        check_equal(interrupt_and_wait(opening, "opening a FIFO"), 130, "exit code")
    check_equal((os.listdir(directory), read_text(result)), ([], "of the last run\n"), "what is left")


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
                                 capture_output=True, check=True, timeout=HANGS_S).stdout
        threading.Thread(target=answer_once_then_drip, args=(listener, metrics), daemon=True).start()
        json_path = temp_path("client.json")
        of_client = control_path()
        client = start_client("-c", 5, "-r", 100, "--server-control", f"127.0.0.1:{listener.getsockname()[1]}",
                              "--json", json_path, "--control", of_client, f"127.0.0.1:{server.port}")
        wait_for(lambda: client.poll() is not None or is_in(of_client, "running"), "the load")
        code = interrupt_and_wait(client, "dripping control port")
        with stall_may_spoil():  # it waits for the first answer for some seconds only
            check_equal(code, 130, "exit code")
        check(read_json(json_path)["interrupted"], "the report")


@covered_by_others
def test_sigint_shortens_the_wait_for_a_server_that_hangs_at_the_end():
    control = temp_path("control")
    asked = []  # open: its end would be an answer
    with Server("--control", f"unix:{control}") as server, silent_listener() as listener:
        metrics = subprocess.run(["curl", "-si", "--unix-socket", control, "http://localhost/metrics"],
                                 capture_output=True, check=True, timeout=HANGS_S).stdout
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


if __name__ == "__main__":
    main()
