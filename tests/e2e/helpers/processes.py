# SPDX-License-Identifier: MIT
"""Processes of a test. Everything started is stopped by its pid, also when the test fails."""

import atexit
import itertools
import os
import signal
import socket
import subprocess
import sys
import time

from helpers.files import temp_path
from helpers.kernel import process_state, thread_states

# A program that has not ended or answered by then, or an event that has not come, hangs: alone on the machine it takes seconds,
# while other tests run ten times as long. TRIES of these are less than TIMEOUT_S of tests/CMakeLists.txt.
HANGS_S = 600

RUN = os.getpid()  # unique among the files of tests that run side by side; os.getpid() is not, see enter_own_processes

# for programs that need the standard library alone: it starts several times as fast
BARE_PYTHON = (sys.executable, "-S")

_started = []
_ports = itertools.count(10000 + RUN % 900 * 10)


def kill_all():
    """Their exit codes can still be read."""
    for process in _started:
        if process.poll() is None:
            process.kill()
            process.wait()


@atexit.register
def stop_all():
    kill_all()
    _started.clear()


def processes_started():
    return list(_started)


def before_all_others():
    """Goes before a command, which then gets the CPU before all other programs, if that is permitted."""
    realtime = ("chrt", "-f", "1")
    return realtime if subprocess.run([*realtime, "true"], capture_output=True).returncode == 0 else ()


def spawn(argv, **options):
    """A process that is always killed at the end."""
    process = subprocess.Popen(argv, **options)
    _started.append(process)
    return process


def run_command(argv, **options):
    """Runs a command to its end; its output is text."""
    return subprocess.run(argv, capture_output=True, text=True, timeout=HANGS_S, **options)


def stop(process, number=signal.SIGTERM):
    if process.poll() is None:
        is_stopped = process_state(process.pid) == "T"  # a look at each thread makes its end expensive, see src/net/worker.c
        process.send_signal(number)
        if is_stopped:  # by a test. Others do without: SIGCONT cancels the SIGSTOP with which LeakSanitizer begins.
            process.send_signal(signal.SIGCONT)
    try:
        return process.wait(HANGS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def stop_group(process):
    """Ends the leader of a session and all that it has started; with SIGKILL if it takes more than 10 s."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def suspend(process):
    """Returns once all of its threads have stopped: they run until one of them gets a CPU and takes SIGSTOP for all."""
    process.send_signal(signal.SIGSTOP)
    wait_for(lambda: process.poll() is not None or thread_states(process.pid) == {"T"}, "a process to stop")


def busy_loops():
    """One for each CPU, to be stopped with SIGKILL."""
    return [spawn(["sh", "-c", "while :; do :; done"]) for _ in os.sched_getaffinity(0)]


def wait_for(condition, what, seconds=HANGS_S):
    """Returns what the condition returns, once that is true. It is checked less often after the first second, and once more
    after the time limit, as this process may have been stalled. what: a text, or a function that returns one when the time is up."""
    begin = time.monotonic()
    while True:
        waited = time.monotonic() - begin
        value = condition()
        if value:
            return value
        if waited >= seconds:
            raise AssertionError(f"waited {seconds} s for {what() if callable(what) else what}")
        time.sleep(0.02 if waited < 1 else 0.05)


def n_descriptors(program):
    """Of the main thread, which serves the control port."""
    return len(os.listdir(f"/proc/{program.pid}/fd"))


def under_fd_limit(n):
    """Goes before a command: the limit on its file descriptors is n."""
    return ["sh", "-c", f'ulimit -n {n} && exec "$@"', "sh"]


def knowing(*hosts):
    """Goes before a command, for which /etc/hosts then has only these lines. Requires root."""
    path = temp_path("hosts")
    with open(path, "w") as f:
        f.writelines(f"{line}\n" for line in hosts)
    return ["unshare", "--mount", "sh", "-c", f'mount --bind {path} /etc/hosts && exec "$@"', "sh"]


def free_port():
    """A free port of 127.0.0.1, never the same twice. It is below the automatic ports: neither a server with port 0
    nor a connection takes it first."""
    for port in _ports:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
