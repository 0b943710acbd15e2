# SPDX-License-Identifier: MIT
"""What the end-to-end tests share: starting and stopping the real programs, reading their results.

A test file defines functions named test_*, and ends with harness.main(). The programs are those in
$TCPSERVER, $TCPCLIENT and $TCPREPORT. Everything started is stopped by its pid, also when a test fails; as root
also when the file of tests is killed. A test that lacks something calls skip(); a file in which every test was skipped exits with 77."""

import atexit
import contextlib
import csv
import ctypes
import io
import itertools
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

TCPSERVER = os.environ.get("TCPSERVER", "build/release/tcpserver")
TCPCLIENT = os.environ.get("TCPCLIENT", "build/release/tcpclient")
TCPREPORT = os.environ.get("TCPREPORT", "build/release/tcpreport")
SOURCE_DIR = os.environ.get(
    "SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# Sanitizers make everything several times slower; they look for bugs, not for speed.
SANITIZED = os.environ.get("TCPSCALER_SANITIZED", "")

CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000  # linux/sched.h
MS_REC, MS_PRIVATE = 0x4000, 0x40000  # linux/mount.h
PR_SET_PDEATHSIG = 1  # linux/prctl.h

RUN = os.getpid()  # unique among the files of tests that run side by side; os.getpid() is not, see enter_own_processes

_started = []
_ports = itertools.count(10000 + RUN % 900 * 10)


class Skip(Exception):
    pass


class Spoiled(AssertionError):
    pass


def skip(why):
    raise Skip(why)


def need_program(*names):
    for name in names:
        if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            skip(f"{name} is not installed")


def need_root():
    if os.geteuid() != 0:
        skip("not root")


def plain_build_only(test):
    """Marks a test of speed or of tools that sanitizers do not leave room for."""
    test.plain_build_only = True
    return test


def needs_own_fd_tables(test):
    """Marks a test of the workers' own fd tables, which the build for ThreadSanitizer does without."""
    test.needs_own_fd_tables = True
    return test


def fits_this_build(test):
    return not (SANITIZED and hasattr(test, "plain_build_only")) and \
        not (SANITIZED == "thread" and hasattr(test, "needs_own_fd_tables"))


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def check_equal(got, want, what):
    check(got == want, f"{what}: {got!r}, expected {want!r}")


def check_between(got, low, high, what):
    check(got is not None and low <= got <= high, f"{what}: {got!r}, expected {low!r} to {high!r}")


@contextlib.contextmanager
def stall_may_spoil():
    """Around checks that fail, too, when the host stalls: the test is then tried again, up to three times in
    all. What is wrong is so in every one; what must hold whatever happens is checked outside."""
    try:
        yield
    except AssertionError as failed:
        raise Spoiled(str(failed)) from None


@atexit.register
def stop_all():
    for process in _started:
        if process.poll() is None:
            process.kill()
            process.wait()
    _started.clear()


def spawn(argv, **options):
    """A process that is killed at the end whatever happens."""
    process = subprocess.Popen(argv, **options)
    _started.append(process)
    return process


def stop(process, number=signal.SIGTERM, timeout=30):
    if process.poll() is None:
        process.send_signal(number)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def busy_loops():
    """One for each CPU, to be stopped with SIGKILL."""
    return [spawn(["sh", "-c", "while :; do :; done"]) for _ in os.sched_getaffinity(0)]


def wait_for(condition, what, seconds=30.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s for {what}")


def temp_path(name):
    directory = tempfile.mkdtemp(prefix="tcpscaler-test-")
    atexit.register(shutil.rmtree, directory, True)
    return os.path.join(directory, name)


def free_port():
    """A port of 127.0.0.1 that is free, given once. It is below those that the kernel gives: neither a
    server's port 0 nor a connection takes it first."""
    for port in _ports:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def rss_bytes(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def cpu_seconds(pid):
    """User and system time so far, to a hundredth of a second."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


ESTABLISHED, TIME_WAIT, CLOSE_WAIT, LISTEN = 1, 6, 8, 10  # include/net/tcp_states.h


class TcpSocket:
    """A line of /proc/net/tcp or tcp6.  n_unsent: bytes not yet acknowledged; n_unread: of a listener, the
    connections not yet accepted."""

    def __init__(self, line):
        _, self.local, self.remote, state, queues, *_ = line.split()
        self.state = int(state, 16)
        self.n_unsent, self.n_unread = (int(queue, 16) for queue in queues.split(":"))
        self.local_port, self.remote_port = (int(end.split(":")[1], 16) for end in (self.local, self.remote))


def tcp_sockets(pid="self"):
    """Of the network namespace of a process."""
    found = []
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/net/{name}") as f:
            found += [TcpSocket(line) for line in f.readlines()[1:]]
    return found


def listens(port):
    return any(s.state == LISTEN and s.local_port == port for s in tcp_sockets())


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
        with open(self.log.name) as f:
            return f.read()

    def stop(self, number=signal.SIGTERM):
        code = stop(self.process, number)
        self.result = None
        if os.path.exists(self.json_path) and os.path.getsize(self.json_path) > 0:
            with open(self.json_path) as f:
                self.result = json.load(f)
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
            with open(json_path) as f:
                self.json = json.load(f)

    def rows(self):
        return list(csv.DictReader(io.StringIO(self.out)))


def parse_count(text):
    """As the programs' options take them: 10k, 1.5M."""
    multiples = {"k": 1000, "M": 1000000}
    return int(float(text[:-1]) * multiples[text[-1]]) if text[-1] in multiples else int(text)


def intended_ns(row):
    """When a query of the rows was due, since the epoch."""
    return int(row["timestamp"].replace(".", "")) - int(row["send_lag_us"].replace(".", ""))


class Client:
    """A tcpclient under way."""

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
        self.process = spawn([*prefix, TCPCLIENT, "--json", self.json_path,
                              *[str(a) for a in arguments]], stdin=stdin, stdout=stdout,
                             stderr=self.err, text=stdout == subprocess.PIPE)
        self.pid = self.process.pid

    def stderr(self):
        with open(self.err_path) as f:
            return f.read()

    def wait(self, timeout=120):
        try:
            out, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError(f"tcpclient did not end in {timeout} s; stderr: {self.stderr()}")
        self.err.close()
        return ClientResult(self.process.returncode, out, self.stderr(), self.json_path,
                            time.monotonic() - self.begin)


def run_client(*arguments, timeout=120, **options):
    return Client(*arguments, **options).wait(timeout)


def wait_until_running(client):
    """The client has --stats-interval 200ms or so: its first progress line under load is awaited."""
    wait_for(lambda: "running" in client.stderr(), "the load")


def check_conservation(result):
    """The laws of the counts, recomputed from the JSON; independent of the program's own check."""
    j = result.json
    check(j is not None, f"no JSON result; stderr: {result.err}")
    for name in ("queries", "warmup", "probes"):
        q = j[name]
        check_equal(q["scheduled"], q["sent"] + q["unsent"], f"{name}: scheduled")
        check_equal(q["sent"], q["answered"] + q["timeout"] + q["error"] + q["cancelled"],
                    f"{name}: sent")
    q = j["queries"]
    check_equal(j["latency_ns"]["response"]["count"], q["answered"], "response histogram")
    check_equal(j["latency_ns"]["service"]["count"], q["answered"], "service histogram")
    check_equal(j["latency_ns"]["send_lag"]["count"], q["sent"], "send lag histogram")
    check_equal(sum(q["outcomes"].values()), q["error"], "errors by outcome")
    if j["answers"] is not None:
        check_equal(sum(j["answers"]["rcodes"].values()) + j["answers"]["echoed"], q["answered"], "answers by code")
    c = j["connections"]
    check_equal(sum(c["outcomes"].values()), c["asked"] + c["reopened"], "connections by outcome")
    check_equal(j["broken_law"], None, "the program's own check")


def check_complete(result):
    """Nothing is missing: if the run doubts itself, then only the speed and quiet of the machine."""
    doubts = set(result.json["reasons"]) - {"generator-limited", "host-noise", "memory-pressure", "non-stationary"}
    check_equal(doubts, set(), f"doubts; stderr: {result.err}")
    check_code(result, 3 if result.json["reasons"] else 0)


def check_code(result, want):
    check(result.code == want, f"exit code {result.code}, expected {want}; stderr: {result.err}")


def enter_own_network():
    """A network namespace for all that the tests start: what others do on this machine takes no ports of
    theirs, and two files of tests may run side by side. Without the privilege they share the machine's."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNET) == 0:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def end_as(process, number_to_forward=signal.SIGTERM):
    """Ends this process when its child does, as that one does; meanwhile hands on this signal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's goes to the child, too

    def hand_on(number, _):
        with contextlib.suppress(ProcessLookupError):  # it may just have ended
            os.kill(process, number)
    signal.signal(number_to_forward, hand_on)
    while True:
        pid, status = os.wait()  # orphans, too, where this is the first process of a namespace
        if pid == process:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def enter_own_processes():
    """Goes on in a PID namespace whose first process the kernel kills when the one that was started ends: all that
    the tests start ends with it, however it ends and whatever session it is in. Without the privilege: nothing."""
    libc = ctypes.CDLL(None)
    if libc.unshare(CLONE_NEWPID | CLONE_NEWNS) != 0:
        return
    sys.stdout.flush()
    alive, held = os.pipe()
    first = os.fork()
    if first > 0:
        os.close(alive)
        end_as(first)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.close(held)
    if select.select([alive], [], [], 0)[0]:  # it has ended before it could be noticed
        os._exit(1)
    os.close(alive)
    os.makedirs("/run/netns", exist_ok=True)
    libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
    libc.mount(b"proc", b"/proc", b"proc", 0, None)
    libc.mount(b"tmpfs", b"/run/netns", b"tmpfs", 0, None)  # named network namespaces end with this one, too
    test = os.fork()
    if test > 0:
        end_as(test)


def run_test(test, tries=3):
    for left in reversed(range(tries)):
        try:
            return test()
        except Spoiled as why:
            if left == 0:
                raise
            print(f"     once more: {why}", flush=True)
            stop_all()


def main(own_network=True):
    enter_own_processes()
    if own_network:
        enter_own_network()
    tests = [(name, value) for name, value in vars(sys.modules["__main__"]).items()
             if name.startswith("test_") and callable(value) and fits_this_build(value)]
    wanted = sys.argv[1:]
    unknown = set(wanted) - {name for name, _ in tests}
    if unknown:
        sys.exit(f"no such test here: {', '.join(sorted(unknown))}")
    failed = skipped = passed = 0
    for name, test in tests:
        if wanted and name not in wanted:
            continue
        begin = time.monotonic()
        try:
            run_test(test)
            passed += 1
            print(f"ok   {name} ({time.monotonic() - begin:.1f} s)", flush=True)
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
    sys.exit(1 if failed else 77 if passed == 0 else 0)
