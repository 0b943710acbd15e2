# SPDX-License-Identifier: MIT
"""What the end-to-end tests share: starting and stopping the real programs, reading their results.

A file of tests imports * from here, defines functions named test_*, ends with main(), and is listed in
tests/CMakeLists.txt. The programs are those in $TCPSERVER, $TCPCLIENT and $TCPREPORT. Everything started is stopped by its
pid, even if a test fails; as root also if the file of tests is killed. A test that lacks something calls skip(); a file in
which tests were skipped and none passed exits with 77. The standard modules imported here are available to the tests as well."""

import collections
import contextlib
import csv
import functools
import io
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback

from helpers.checks import *
from helpers.files import *
from helpers.isolation import *
from helpers.kernel import *
from helpers.machine import *
from helpers.processes import *

TCPSERVER, TCPCLIENT, TCPREPORT = (os.environ.get(name.upper(), os.path.abspath(f"build/release/{name}"))
                                   for name in ("tcpserver", "tcpclient", "tcpreport"))
SOURCE_DIR = os.environ.get("SOURCE_DIR", os.path.abspath(os.path.join(os.path.dirname(__file__), "../../..")))

TRIES = int(os.environ.get("TRIES", "5"))  # of a test that a disturbance of the machine made fail
# SIGABRT and the like; what LeakSanitizer and ThreadSanitizer exit with
CRASHES = {-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE, 23, 66}
# Tests that run side by side do not busy-wait, which took 40 % of the CPU time of e2e/schedule; truth keeps the default.
PACE = ["--pace", "sleep"] if SUITE == "e2e" else []
# Goes before the options of every client of a file of tests: programs may be stalled for seconds.
LONG_TIMEOUTS = []


@contextlib.contextmanager
def default_timeouts():
    before = LONG_TIMEOUTS[:]
    LONG_TIMEOUTS.clear()
    try:
        yield
    finally:
        LONG_TIMEOUTS[:] = before


class Server:
    """A tcpserver on a free loopback port."""

    def __init__(self, *arguments, port="0", prefix=(), bind=None):
        self.json_path = temp_path("server.json")
        self.log = open(temp_path("server.err"), "w+")
        bound = ["--bind", bind] if bind else []
        self.process = spawn([*prefix, TCPSERVER, *bound, "--json", self.json_path,
                              *[str(a) for a in arguments], str(port)], stderr=self.log,
                             stdout=subprocess.DEVNULL)
        line = wait_for(self._listening, "the listening line")
        self.port = int(line.group(1))
        self.pid = self.process.pid

    def _listening(self):
        check(self.process.poll() is None, f"tcpserver ended: {self.stderr()}")
        return re.search(r"listening on \S*:(\d+),", self.stderr())

    def stderr(self):
        return read_text(self.log.name)

    def connect(self):
        """A connection of this process, whose small segments are sent at once."""
        s = socket.create_connection(("127.0.0.1", self.port), timeout=HANGS_S)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def stop(self, number=signal.SIGTERM):
        code = stop(self.process, number)
        self.result = None
        if os.path.exists(self.json_path) and os.path.getsize(self.json_path) > 0:
            self.result = read_json(self.json_path)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()


class ClientResult:
    def __init__(self, code, out, err, json_path, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds
        self.json = None
        if os.path.exists(json_path) and os.path.getsize(json_path) > 0:
            self.json = read_json(json_path)

    def rows(self):
        return list(csv.DictReader(io.StringIO(self.out)))


def read_source(*path):
    """The text of a file of the source tree."""
    return read_text(os.path.join(SOURCE_DIR, *path))


@functools.cache
def german():
    """The environment of a locale whose decimal point is a comma."""
    need_program("localedef")
    directory = temp_directory()
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{directory}/de_DE.UTF-8"], check=True, timeout=HANGS_S)
    return {**os.environ, "LOCPATH": directory, "LC_ALL": "de_DE.UTF-8"}


def intended_ns(row):
    """When a query of the rows was due, since the epoch."""
    return int(row["timestamp"].replace(".", "")) - int(row["send_lag_us"].replace(".", ""))


class Client:
    """A running tcpclient."""

    def __init__(self, *arguments, stdout=subprocess.PIPE, prefix=(), text=""):
        self.json_path = temp_path("client.json")
        with open(temp_path("stdin"), "w+") as stdin:
            stdin.write(text)
            stdin.seek(0)
            self._start(arguments, stdin, stdout, prefix)

    def _start(self, arguments, stdin, stdout, prefix):
        self.err_path = temp_path("client.err")
        self.err = open(self.err_path, "w")
        self.begin = time.monotonic()
        self.process = spawn([*prefix, TCPCLIENT, "--json", self.json_path, *LONG_TIMEOUTS,
                              *[str(a) for a in arguments]], stdin=stdin, stdout=stdout,
                             stderr=self.err, text=stdout == subprocess.PIPE)
        self.pid = self.process.pid

    def stderr(self):
        return read_text(self.err_path)

    def wait(self, timeout=HANGS_S):
        try:
            out, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError(f"tcpclient did not end in {timeout} s; stderr: {self.stderr()}")
        self.err.close()
        return ClientResult(self.process.returncode, out, self.stderr(), self.json_path,
                            time.monotonic() - self.begin)


def run_client(*arguments, **options):
    """Runs a client to its end and reads all its rows on stdout."""
    every_row = ["--raw-full", "block"] if "-R" in arguments else []
    return Client(*every_row, *arguments, **options).wait()


def start_client(*arguments, **options):
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, **options}
    return spawn([TCPCLIENT, *PACE, *[str(a) for a in arguments]], **options)


def wait_for_client(client, condition, what):
    """What condition() returns, once that is true. If the client ends before, which a stall can make it do, the test is
    repeated."""
    def look():
        has_ended = client.process.poll() is not None
        value = condition()
        if has_ended and not value:
            raise Spoiled(f"the client ended before {what}; stderr: {client.stderr()}")
        return value
    return wait_for(look, what)


def wait_until_prints(client, pattern):
    wait_for_client(client, lambda: re.search(pattern, client.stderr()), f"a line with '{pattern}'")


def wait_until_running(client):
    """Waits for the first progress line under load of a client with --stats-interval 200ms or so."""
    wait_until_prints(client, "running")


Progress = collections.namedtuple("Progress", "live lost in_flight")


def progress(client):
    """The progress lines under load, so far."""
    return [Progress(*map(int, numbers)) for numbers in
            re.findall(r"running .* (\d+) live, .* (\d+) lost, (\d+) in flight", client.stderr())]


def check_conservation(result):
    """The laws of the counts, recomputed from the JSON; independent of the program's own check."""
    check(result.json is not None, f"no JSON result; stderr: {result.err}")
    with whatever_happens():
        check_sums(result.json)


def check_sums(j):
    for name in ("queries", "warmup", "probes"):
        q = j[name]
        check_equal(q["scheduled"], q["sent"] + q["unsent"], f"{name}: scheduled")
        check_equal(q["sent"], q["answered"] + q["timeout"] + q["error"] + q["cancelled"],
                    f"{name}: sent")
    q = j["queries"]
    check_equal(j["latency_ns"]["response"]["count"], q["answered"], "response histogram")
    check_equal(j["latency_ns"]["service"]["count"], q["answered"], "service histogram")
    check_equal(j["latency_ns"]["send_lag"]["count"], q["sent"], "send lag histogram")
    check_equal(sum(q["outcomes"].values()), q["error"] + q["unconnected"], "errors by outcome")
    if j["answers"] is not None:
        check_equal(sum(j["answers"]["rcodes"].values()) + j["answers"]["echoed"], q["answered"], "answers by code")
    c = j["connections"]
    check_equal(sum(c["outcomes"].values()), c["asked"] + c["reopened"], "connections by outcome")
    check_equal(j["broken_law"], None, "the program's own check")


def check_complete(result):
    """Nothing is missing: if the run has reasons for doubt, they only concern the speed or the noise of the machine."""
    doubts = set(result.json["reasons"]) - {"generator-limited", "host-noise", "memory-pressure", "non-stationary"}
    check_equal(doubts, set(), f"doubts; stderr: {result.err}")
    check_code(result, 3 if result.json["reasons"] else 0)


def check_code(result, want):
    check(result.code == want, f"exit code {result.code}, expected {want}; stderr: {result.err}")


def is_certain(failure):
    """Whether this is a failure whatever the machine did."""
    return isinstance(failure, Certain) or "Sanitizer" in str(failure) or \
        any(process.poll() in CRASHES for process in processes_started())


def check_no_crash():
    """Programs also crash, leak and race where a test does not look at their exit codes."""
    crashed = [(process.args, process.returncode) for process in processes_started() if process.poll() in CRASHES]
    if crashed:
        raise Certain(f"ended by a crash, or by what a sanitizer found: {crashed}")


def run_test(test, machine, renew):
    """Runs a test; if it failed and the machine was disturbed, calls renew() and runs it again."""
    for left in reversed(range(TRIES)):
        machine.begin()
        try:
            test()
            check_no_crash()
            return
        except Skip:
            raise
        except Exception as failure:
            why = machine.disturbance()
            if left == 0 or is_certain(failure) or not (why or isinstance(failure, Spoiled)):
                raise
            print(f"     once more: {why or 'spoiled'}: {' '.join(str(failure).split())}", flush=True)
            stop_all()
            renew()


def cpu_s():
    """CPU time of this process and of all children that ended."""
    return sum(os.times()[:4])


def main(own_network=True):
    # For "#!/usr/bin/env python3": the wrapper of a version manager takes 0.1 s longer to start.
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    enter_own_processes()
    renew = enter_own_network if own_network else lambda: None
    renew()
    machine = Machine()
    LONG_TIMEOUTS[:] = ["--timeout", "30s", "--connect-timeout", "30s", *PACE]
    tests = [(name, value) for name, value in vars(sys.modules["__main__"]).items()
             if name.startswith("test_") and callable(value) and fits_this_build(value) and fits_this_suite(value)]
    tests = this_part(tests)
    wanted = sys.argv[1:]
    unknown = set(wanted) - {name for name, _ in tests}
    if unknown:
        sys.exit(f"no such test here: {', '.join(sorted(unknown))}")
    failed = skipped = passed = 0
    for name, test in tests:
        if wanted and name not in wanted:
            continue
        begin, cpu_begin_s = time.monotonic(), cpu_s()
        try:
            run_test(test, machine, renew)
            passed += 1
            print(f"ok   {name} ({time.monotonic() - begin:.1f} s, {cpu_s() - cpu_begin_s:.1f} s of CPU time)", flush=True)
        except Skip as why:
            skipped += 1
            print(f"SKIP {name}: {why}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {name}", flush=True)
            traceback.print_exc()
        finally:
            stop_all()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 77 if skipped and not passed else 0)
