# SPDX-License-Identifier: MIT
"""The servers and clients that bench/compare runs, each started, measured and stopped in the same way.

A runner returns the figures of one run; those that a program does not report are left out. Tables show those in FIGURES.
CPU time is that of whole processes as counted by the kernel: of tcpclient and the floor from when all connections are open to
when they begin to be closed (stages.py); dnsperf, sockperf and wrk do not say when that is, so theirs includes both.
Clients run on CPU 0, servers on CPU 1, unless bench/compare is called with --unpinned."""

import contextlib
import itertools
import os
import socket

from helpers.dns_server import DnsServer, KNOT, NSD, UNBOUND
from helpers.harness import *
from process_tree import cpu_times, is_running, peak_mb, tree
from stages import CLOSING, OPEN, Stages

FIGURES = {"rate": "kq/s", "achieved": "achieved", "lost": "lost", "p50": "p50 ms", "p99": "p99 ms",
           "mean": "mean ms", "cpu": "cpu us", "server_cpu": "srv us", "server_busy": "srv CPUs", "mb": "MB",
           "server_mb": "srv MB", "calls": "calls/q", "server_calls": "srv calls", "dropped": "rows lost"}
HEADLINE = "rate", "cpu", "server_cpu"  # the figures whose ratios to the reference come first

SETTLE_S = 0.1  # from the last connection to the load: time to read what was used by then; as bench/floor waits
DNSPERF_SOCKETS_PER_THREAD = 256  # its limit, which it applies silently
NGINX_STREAM = "/usr/lib/nginx/modules/ngx_stream_module.so"
dnsperf_addresses = itertools.cycle(range(1, 255))
floor_path = None
pins = {"client": ["taskset", "-c", "0"], "server": ["taskset", "-c", "1"]}


def build_floor():
    global floor_path
    floor_path = temp_path("floor")
    sources = [os.path.join(SOURCE_DIR, "bench", f"floor{part}.c")
               for part in ("", "_client", "_connects", "_flood", "_load", "_server")]
    subprocess.run(["cc", "-std=c17", "-O2", "-flto", "-o", floor_path, *sources], check=True)


def unpin():
    for side in pins:
        pins[side] = []


# --- what a run costs ---

def measured(process, target, server_s, stages, seconds=60):
    """Waits for a client to end, without reaping it. Returns the server's CPU seconds, the seconds in which it used them, and the
    client's user and system seconds and peak of memory: under load, if the client says when that is, or since the server had
    used SERVER_S."""
    mb, begin_s = 0, time.monotonic()

    def look():
        nonlocal mb
        mb = max(mb, peak_mb(process.pid))

    def spent():
        return *cpu_times(process.pid), target.cpu(), time.monotonic()
    said = stages.follow(process, spent, seconds, look)
    check(is_running(target.pid), f"{target.name} ended during the run")
    begin, end = said.get(OPEN, (0, 0, server_s, begin_s)), said.get(CLOSING) or spent()
    user, system, server, wall = (after - before for before, after in zip(begin, end))
    return server, wall - (SETTLE_S if OPEN in said else 0), (user, system, mb)


def run(argv, target, **options):
    """Returns (stdout, what client and server used) of a client other than tcpclient."""
    out = open(temp_path("out"), "w+")
    before = target.cpu()
    with Stages() as stages:
        process = spawn([*pins["client"], *stages.prefix, *map(str, argv)], stdout=out, stderr=out, **options)
        used = measured(process, target, before, stages)
    out.seek(0)
    text = out.read()
    code, last_line = process.wait(), (text.strip() or "no output").splitlines()[-1]
    check(code == 0, f"{argv[0]} ended with exit code {code}: {last_line}")
    return text, used


def costs(used, n):
    """The figures of CPU and memory for n messages."""
    server_s, wall_s, (user, system, mb) = used
    per = 1e6 / max(n, 1)
    return {"cpu": (user + system) * per, "user": user * per, "system": system * per, "mb": mb,
            "server_cpu": server_s * per, "server_busy": server_s / wall_s}


# --- servers ---

class Target:
    """A server on its own port, as a context manager; server.cpu() is the CPU time it has used so far."""

    def __init__(self, name, start):
        self.name, self.start = name, start

    def __enter__(self):
        with contextlib.ExitStack() as stack:  # if a part fails, ends those that have started
            self.port, self.pid = self.start(stack)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def cpu(self):
        return sum(cpu_times(self.pid))

    def mb(self):
        return peak_mb(self.pid)


def start_tcpserver(stack):
    server = stack.enter_context(Server("--threads", 1, prefix=pins["server"]))
    return server.port, server.pid


def start_floor(stack):
    process = spawn([*pins["server"], floor_path, "server"], stdout=subprocess.PIPE, text=True)
    stack.callback(stop, process)
    return int(process.stdout.readline()), process.pid


def accepts(port):
    """Unlike listens(), does not read the table of all sockets, which takes seconds if there are 100,000."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def start_command(stack, port, argv):
    log = open(temp_path("log"), "w+")
    process = spawn([*pins["server"], *argv], stdout=log, stderr=log)
    stack.callback(stop, process)

    def is_ready():
        check(process.poll() is None, f"{argv[0]} ended: {read_text(log.name).strip()[-300:]}")
        return accepts(port)
    wait_for(is_ready, f"{argv[0]} to listen; {log.name}")
    return port, process.pid


def start_socat(stack):
    need_program("socat")
    port = free_port()
    return start_command(stack, port, ["socat", f"TCP-LISTEN:{port},bind=127.0.0.1,fork,reuseaddr,"
                                       "backlog=4096,nodelay", "PIPE"])


def nginx(body, stream=True):
    """Starts nginx with one worker; body contains {port} and, if it needs a backend, {behind}."""
    def start(stack):
        need_program("nginx")
        if stream and not os.path.exists(NGINX_STREAM):
            skip("nginx has no stream module (Debian: libnginx-mod-stream)")
        port, path = free_port(), temp_path("nginx.conf")
        behind = start_floor(stack)[0] if "{behind}" in body else 0
        head = f"load_module {NGINX_STREAM};" if stream else ""
        with open(path, "w") as f:
            f.write(f"{head} daemon off; worker_processes 1; worker_rlimit_nofile 20000; user root; "
                    f"pid {path}.pid; error_log stderr crit; events {{ worker_connections 9000; "
                    "multi_accept on; }\n" + body.replace("{port}", f"127.0.0.1:{port} backlog=4096")
                    .replace("{behind}", f"127.0.0.1:{behind}"))
        return start_command(stack, port, ["nginx", "-e", "stderr", "-p", os.path.dirname(path), "-c", path])
    return start


def dns_server(program, configuration, *arguments):
    """One thread and twice as many slots as connections: the servers shorten their timeouts when half of the slots
    are in use."""
    for before, after in (("num-threads: 2", "num-threads: 1"), ("server-count: 2", "server-count: 1"),
                          ("tcp-workers: 2", "tcp-workers: 1"),
                          ("incoming-num-tcp: 4500", "incoming-num-tcp: 18000"),
                          ("tcp-count: 5000", "tcp-count: 18000"),
                          ("tcp-max-clients: 6000", "tcp-max-clients: 18000")):
        configuration = configuration.replace(before, after)

    def start(stack):
        need_program(program)
        server = DnsServer(program, configuration, *arguments)
        stack.callback(server.stop)
        for pid in tree(server.process.pid) if pins["server"] else []:
            for thread in os.listdir(f"/proc/{pid}/task"):
                os.sched_setaffinity(int(thread), {1})
        return server.port, server.process.pid
    return start


TARGETS = {name: Target(name, start) for name, start in {
    "tcpserver": start_tcpserver,
    "floor": start_floor,
    "socat": start_socat,
    "nginx http return": nginx('http { access_log off; keepalive_requests 1000000000; server { listen '
                               '{port}; location / { return 200 "aloha"; } } }', stream=False),
    "nginx stream return": nginx('stream { server { listen {port}; return "aloha"; } }'),
    "nginx stream proxy": nginx("stream { server { listen {port}; tcp_nodelay on; proxy_pass {behind}; } }"),
    "unbound": dns_server("unbound", UNBOUND, "-d", "-p", "-c"),
    "nsd": dns_server("nsd", NSD, "-d", "-c"),
    "knot": dns_server("knotd", KNOT, "-c"),
}.items()}


# --- clients: (server, connections, queries per second, seconds) -> figures ---

def run_floor(target, n, rate, seconds, message="dns"):
    text, used = run([floor_path, "client", target.port, message, n, rate, seconds], target)
    j = json.loads(text)
    return {"rate": min(j["achieved_qps"], j["answered"] / seconds) / 1e3,
            "achieved": j["achieved_qps"] * seconds / j["scheduled"],
            "lost": j["scheduled"] - j["answered"], "mean": j.get("mean_response_us", float("inf")) / 1e3,
            **costs(used, j["answered"]), "server_mb": target.mb(),
            "connects": j["connects_per_s"]}


def percentile_ms(value):
    return value / 1e6 if isinstance(value, (int, float)) else float("inf")


def closed_loop_qps(answered, n, seconds):
    """Without the answers to the N queries in flight at the end: they came after it, and dnsperf counts the time until its last
    answer. Over 10,000 connections to unbound they are 7 % of all in 3 s."""
    return max(answered - n, 0) / seconds


def run_tcpclient(target, n, rate, seconds, *options, stdout=subprocess.DEVNULL, whole=False):
    """rate None: as fast as it goes with one query in flight on each connection. Arrivals at constant intervals, as those of the
    others are. whole: CPU times include opening and closing the connections, as dnsperf's do."""
    before = target.cpu()
    load = ("-r", rate, "--arrival", "constant") if rate else ("--loop", "closed", "-i", "1us")
    with Stages() as stages:
        client = Client("-q", "-p", target.port, "-c", n, *load, "-t", seconds, "--threads", 1, "--pace", "sleep",
                        "--settle", SETTLE_S, "--close", "rst", *options, "127.0.0.1", stdout=stdout,
                        prefix=[*pins["client"], *([] if whole else stages.prefix)])
        used = measured(client.process, target, before, stages)
    r = client.wait()
    check(r.json is not None, f"tcpclient: {r.err}")
    check_equal(r.json["connections"]["connected"], n, f"connections; {r.err}")
    q, response = r.json["queries"], r.json["latency_ns"]["response"]
    sent_qps = r.json["rate"]["achieved_qps"]
    return {"rate": (min(sent_qps, q["answered"] / seconds) if rate else closed_loop_qps(q["answered"], n, seconds)) / 1e3,
            "achieved": sent_qps * seconds / max(q["scheduled"], 1) if rate else None,
            "lost": q["scheduled"] - q["answered"], "p50": percentile_ms(response["p50"]),
            "p99": percentile_ms(response["p99"]), "mean": percentile_ms(response["mean"]),
            **costs(used, q["answered"]), "server_mb": target.mb(),
            "dropped": r.json["output"]["dropped_rows"], "reasons": r.json["reasons"],
            "connects": r.json["connections"]["connect_rate_per_s"]}


def run_dnsperf(target, n, rate, seconds, outstanding=1000):
    """rate None: as fast as it goes with this many in flight (its own default is 100). Each run has another
    source address: dnsperf binds before it connects, and the ports of closed connections stay in use for a
    minute; searching many ports for free ones took 12 of 20 us per query."""
    need_program("dnsperf")
    questions = temp_path("questions")
    with open(questions, "w") as f:
        f.write("example.com A\n")
    threads = -(-n // DNSPERF_SOCKETS_PER_THREAD)
    argv = ["dnsperf", "-m", "tcp", "-s", "127.0.0.1", "-p", target.port, "-d", questions, "-c", n, "-T",
            threads, "-l", seconds, "-q", outstanding]
    # knot accepts 10 at a time: dnsperf fails unless its search for free ports slows it down
    if target.name != "knot":
        argv += ["-a", f"127.0.1.{next(dnsperf_addresses)}"]
    text, used = run(argv + (["-Q", int(rate)] if rate else []), target)

    def field(pattern):
        return float(re.search(pattern, text).group(1))
    answered = field(r"Queries completed:\s+(\d+)")
    return {"rate": field(r"Queries per second:\s+([\d.]+)") / 1e3, "lost": field(r"Queries lost:\s+(\d+)"),
            "achieved": field(r"Queries per second:\s+([\d.]+)") / rate if rate else None,
            "mean": field(r"Average Latency \(s\):\s+([\d.]+)") * 1e3, **costs(used, answered),
            "server_mb": target.mb()}


def run_sockperf(rate, seconds):
    """One connection, to its own server: it opens one per address and port."""
    need_program("sockperf")
    port = free_port()
    server = Target("sockperf", lambda stack: start_command(
        stack, port, ["sockperf", "sr", "--tcp", "-i", "127.0.0.1", "-p", str(port)]))
    with server:
        text, used = run(["sockperf", "ul", "--tcp", "-i", "127.0.0.1", "-p", port, "--mps", int(rate), "-m",
                          31, "--reply-every", 1, "--full-rtt", "-t", seconds], server)

    def field(pattern):
        return float(re.search(pattern, text).group(1))
    received = field(r"Total Run\].*ReceivedMessages=(\d+)")
    per_s = received / field(r"Total Run\] RunTime=([\d.]+)")
    return {"rate": per_s / 1e3, "achieved": per_s / rate, "mean": field(r"avg-rtt=([\d.]+)") / 1e3,
            "p50": field(r"percentile 50.000 =\s+([\d.]+)") / 1e3,
            "p99": field(r"percentile 99.000 =\s+([\d.]+)") / 1e3, **costs(used, received)}


UNITS_MS = {"us": 1e-3, "ms": 1, "s": 1e3}


def run_wrk(target, n, seconds):
    """HTTP, closed loop: its latency depends on its own pace."""
    need_program("wrk")
    text, used = run(["wrk", "-t", 1, "-c", n, "-d", max(1, int(seconds)), "--latency",
                      f"http://127.0.0.1:{target.port}/"], target)

    check("Socket errors" not in text and "Non-2xx" not in text, f"wrk: {text[-300:]}")

    def latency(percent):
        value, unit = re.search(rf"{percent}%\s+([\d.]+)(us|ms|s)", text).groups()
        return float(value) * UNITS_MS[unit]
    answered = float(re.search(r"(\d+) requests in", text).group(1))
    return {"rate": float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)) / 1e3, "p50": latency(50),
            "p99": latency(99), **costs(used, answered), "server_mb": target.mb()}


def run_flood(target, message, n, seconds, batch, window):
    text, used = run([floor_path, "flood", target.port, message, n, seconds, batch, window], target)
    j = json.loads(text)
    return {"rate": j["per_s"] / 1e3, **costs(used, j["answered"]), "server_mb": target.mb()}


def run_connects(target, message, seconds):
    text, used = run([floor_path, "connects", target.port, message, seconds], target)
    j = json.loads(text)
    return {"rate": j["per_s"] / 1e3, **costs(used, j["connections"]), "server_mb": target.mb()}


# --- system calls ---

class CallCount:
    """Counts the system calls of a running process with perf; start it before the load."""

    def __init__(self, pid, event="raw_syscalls:sys_enter"):
        need_program("perf")
        self.path = temp_path("perf")
        pids = ",".join(map(str, tree(pid)))
        self.process = spawn(["perf", "stat", "-x,", "-e", event, "-o", self.path, "-p", pids],
                             stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        if self.process.poll() is not None:
            skip("perf cannot count system calls here")

    def stop(self):
        stop(self.process, signal.SIGINT)
        return read_count(self.path)


def read_count(path):
    with open(path) as f:
        return int(next(line for line in f if "sys_enter" in line).split(",")[0])


@contextlib.contextmanager
def counted_client():
    """Runs clients started in this context under perf; yields a function that returns the calls of the last one."""
    need_program("perf")
    path, before = temp_path("perf"), pins["client"]
    pins["client"] = ["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-o", path, "--", *before]
    try:
        yield lambda: read_count(path)
    finally:
        pins["client"] = before
