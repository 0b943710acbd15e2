# SPDX-License-Identifier: MIT
"""File descriptors, ports, memory, room on disk and the wall clock run out or jump."""

import ctypes
import resource
import struct

from table import *

CLONE_NEWNS = 0x20000  # linux/sched.h


@scenario()
def fd_limit_of_the_client_hit_in_the_ramp(row):
    with Server() as server:
        client = Client("-c", 1000, "-n", 500, "-r", 500, "-t", 2, "--threads", 2, f"127.0.0.1:{server.port}")
        time.sleep(0.3)
        resource.prlimit(client.pid, resource.RLIMIT_NOFILE, (250, 250))
        r = client.wait()
        row.injected("sockets refused by prlimit 250", r.json["connections"]["outcomes"].get("socket/fd limit", 0))
        row.conserved(r)
        c, q = r.json["connections"], r.json["queries"]
        row.expect("exit", 3, r.code)
        row.expect("live at the end", Between(150, 500), c["live_at_end"])
        row.expect("fd limit", 1000 - c["live_at_end"], c["outcomes"].get("socket/fd limit", 0))
        row.expect("answered", q["scheduled"], q["answered"])
        row.expect("named", ["fd limit"], [line["limit"] for line in r.json["diagnosis"]])
        row.served(server)


@scenario(short=True)
def fd_limit_of_the_server_hit_in_the_ramp(row):
    with Server("--threads", 2) as server:
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (200, 200))
        client = Client("-c", 1000, "-n", 500, "-r", 500, "-t", 2, "--threads", 2, f"127.0.0.1:{server.port}")
        before, begin = cpu_seconds(server.pid), time.monotonic()
        r = client.wait()
        used = (cpu_seconds(server.pid) - before) / (time.monotonic() - begin)
        again = run_client("-c", 50, "-r", 100, "-t", 1, f"127.0.0.1:{server.port}")
        row.injected("EMFILE said", server.stderr().count("Too many open files"))
        row.conserved(r, again)
        c, q = r.json["connections"], r.json["queries"]
        row.expect("exit", 3, r.code)
        row.expect("live at the end", Between(100, 450), c["live_at_end"])
        row.expect("answered", q["scheduled"], q["answered"])
        row.expect("proven by the next client", 50, again.json["connections"]["proven"])
        row.expect("CPUs used by the full server", at_most(1 if SANITIZED else 0.5), round(used, 2))
        row.served(server)
        # those that still waited to be accepted when the client left may have been refused behind its back
        told = sum(n for name, n in c["outcomes"].items() if name.endswith(("/reset", "/closed by peer")))
        row.expect("refused", Between(told, 1000 - c["live_at_end"]), server.result["refused"])
        row.expect("told so", Between(1), told)


@scenario(short=True)
def automatic_ports_exhausted(row):
    with Server() as server, open("/proc/sys/net/ipv4/ip_local_port_range", "w") as ports:
        ports.write("20000 20099")
        ports.close()
        target = f"127.0.0.1:{server.port}"
        plain = run_client("-c", 150, "-r", 100, "-t", 1, target)
        row.injected("ports for 150 connections", 100)
        row.expect("exit", 2, plain.code)
        row.expect("names the limit", True, "source tuples" in plain.err and plain.err.count("\n") == 1)
        forced = run_client("-c", 150, "-r", 100, "-t", 1, "--force", target)
        row.conserved(forced)
        c = forced.json["connections"]
        row.expect("with --force: exit", 3, forced.code)
        row.expect("outcomes", {"connect/source ports exhausted": 50, "run/finished": 100}, c["outcomes"])
        row.expect("answered", forced.json["queries"]["scheduled"], forced.json["queries"]["answered"])
        row.served(server)


@scenario(short=True)
def planned_ports_exhausted(row):
    with Server() as server:
        arguments = ("-c", 150, "-r", 100, "-t", 1, "--source", "127.0.0.3", "--sport", "30000-30099",
                     f"127.0.0.1:{server.port}")
        plain = run_client(*arguments)
        row.injected("tuples for 150 connections", 100)
        row.expect("exit", 2, plain.code)
        forced = run_client("--force", *arguments)
        row.conserved(forced)
        row.expect("with --force: outcomes", {"bind/source ports exhausted": 50, "run/finished": 100},
                   forced.json["connections"]["outcomes"])
        row.served(server)


def failing_calls(log):
    with open(log) as f:
        return sum("(INJECTED)" in line for line in f)


def strace(log, *faults):
    """Lets system calls fail as they do when there is no memory: the real shortage is everybody's."""
    need_program("strace")
    injected = [word for call, which in faults for word in ("-e", f"inject={call}:error={which}")]
    calls = ",".join(call for call, _ in faults)
    return ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-e", f"trace={calls}", *injected, "-o", log]


@scenario()
@plain_build_only
def no_memory_for_sockets_of_the_client(row):
    """Every thread's 50th socket and 200th send are refused memory."""
    log = temp_path("strace")
    with Server() as server:
        client = Client("-c", 200, "-r", 2000, "-t", 2, "--reconnect", "--threads", 2,
                        f"127.0.0.1:{server.port}",
                        prefix=strace(log, ("socket", "ENOBUFS:when=50+50"), ("sendto", "ENOBUFS:when=200+200")))
        r = client.wait()
        row.injected("calls failed with ENOBUFS by strace", failing_calls(log))
        row.conserved(r)
        c, q = r.json["connections"], r.json["queries"]
        row.expect("exit", OneOf(0, 3), r.code)
        row.expect("no memory", failing_calls(log), sum(n for name, n in c["outcomes"].items() if "no memory" in name))
        row.expect("other ends", {}, {name: n for name, n in c["outcomes"].items()
                                     if "no memory" not in name and not name.startswith("run/")})
        row.expect("live at the end, but for those just begun", Between(180, 200), c["live_at_end"])
        row.note("errors", q["error"])
        row.served(server)


@scenario()
@plain_build_only
def no_memory_for_sockets_of_the_server(row):
    log = temp_path("strace")
    with Server("--threads", 2, prefix=strace(log, ("accept4", "ENOMEM:when=20+20"),
                                              ("sendto", "ENOBUFS:when=200+200"))) as server:
        r = run_client("-c", 200, "-r", 2000, "-t", 2, "--reconnect", "--connect-timeout", "2s",
                       f"127.0.0.1:{server.port}")
        row.injected("calls failed with ENOMEM, ENOBUFS by strace", failing_calls(log))
        row.conserved(r)
        row.expect("exit", OneOf(0, 3), r.code)
        c = r.json["connections"]
        row.expect("live at the end, but for those just begun", Between(150, 200), c["live_at_end"])
        row.note("ends", c["outcomes"])
        row.served(server)
        row.expect("refused, or ended for want of memory", lost(c["outcomes"]),
                   server.result["refused"] + server.result["closed"].get("send/no memory", 0))
        row.expect("names memory", True, "net.ipv4.tcp_mem" in server.stderr())


class LittleTcpMemory:
    """While it lasts TCP has no memory but what the kernel grants each socket anyway: net.ipv4.tcp_mem is one for
    the machine. Given back when this process ends, however it does."""

    HOLD = """trap '' INT TERM HUP; cd /proc/sys/net/ipv4 && was=$(cat tcp_mem) || exit
              echo 1 1 2 >tcp_mem; echo low; read -r end; echo "$was" >tcp_mem"""

    def __enter__(self):
        need_program("nsenter")
        self.process = subprocess.Popen(["nsenter", f"--net=/proc/self/fd/{FIRST_NETWORK}", "sh", "-c", self.HOLD],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        pass_fds=[FIRST_NETWORK])
        if self.process.stdout.readline() != "low\n":
            skip("no net.ipv4.tcp_mem: this was not started in the machine's first network namespace")

    def __exit__(self, *_):
        self.process.communicate()


@scenario(machine_wide=True)
def tcp_memory_short(row):
    """In the middle of the ramp and of the load; another client comes, asks and leaves meanwhile."""
    with Server() as server:
        client = Client("-c", 400, "-n", 200, "-r", 2000, "-t", 3, "--close", "fin", f"127.0.0.1:{server.port}")
        time.sleep(1)
        with LittleTcpMemory():
            meanwhile = run_client("-c", 200, "-r", 2000, "-t", 1, f"127.0.0.1:{server.port}")
            time.sleep(1)
        r = client.wait()
        row.injected("times under TCP memory pressure", r.json["resources"]["tcp_memory_pressures"])
        row.conserved(r, meanwhile)
        for who, found, n in (("", r, 400), ("meanwhile: ", meanwhile, 200)):
            row.expect(f"{who}exit", 3, found.code)
            row.expect(f"{who}ends", {"run/finished": n}, found.json["connections"]["outcomes"])
            row.expect(f"{who}answered", found.json["queries"]["scheduled"], found.json["queries"]["answered"])
        row.expect("doubted for it", True, "memory-pressure" in r.json["reasons"])
        again = run_client("-c", 50, "-r", 500, "-t", 1, f"127.0.0.1:{server.port}")
        row.conserved(again)
        row.expect("afterwards: doubted for it", False, "memory-pressure" in again.json["reasons"])
        row.served(server)
        row.expect("the server counted", Between(1), server.result["tcp_memory_pressures"])
        row.note("ends at the server", server.result["closed"])


def little_disk(n_kib):
    """A directory on a file system of this many KiB, in a mount namespace of this process's own."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        skip(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    directory = os.path.dirname(temp_path("x"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={n_kib}k", "tmpfs", directory], check=True)
    return directory


def free_bytes(directory):
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


FILES = ("--output", "--json", "--hlog", "--hgrm", "--connections-out")
RUN = ("-c", 500, "-r", 10000, "-t", 0.2)


def what_it_says(result_stderr):
    return "No space left" in result_stderr or "Broken pipe" in result_stderr or "could not write" in result_stderr


def rows_add_up(result):
    """Those written and those that were not: two for each query that was answered."""
    q, output = result.json["queries"], result.json["output"]
    return output["rows"] + output["dropped_rows"] == q["sent"] + q["answered"]


def check_outputs_lost(row, runs):
    """A run whose output fails goes on, says so and ends with 3. `runs`: (option, its result)."""
    row.expect("exit of each", {option: 3 for option, _ in runs}, {option: r.code for option, r in runs})
    row.expect("each says so", True, all(what_it_says(r.err) for _, r in runs))
    row.conserved(*(r for option, r in runs if not option.startswith("--json")))  # that is what was lost
    row.expect("rows add up", True, all(rows_add_up(r) for option, r in runs if option in ("--output", "-R")))


class LittleDisk:
    """Files of each output in turn on a file system that has room for a part of it."""

    def __init__(self, n_kib):
        self.n_kib, self.path, self.full = n_kib, little_disk(n_kib), 0

    def leave(self, n_bytes):
        for name in os.listdir(self.path):
            os.unlink(os.path.join(self.path, name))
        with open(os.path.join(self.path, "ballast"), "wb") as f:
            f.write(bytes(self.n_kib * 1024 - n_bytes))
        return os.path.join(self.path, "file")

    def count(self):
        self.full += free_bytes(self.path) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.path], check=True)


@scenario(short=True)
def disk_full_under_every_output(row):
    with LittleDisk(32) as disk, Server() as server:
        target = f"127.0.0.1:{server.port}"
        runs = []
        for option in FILES:
            path = disk.leave(8192 if option in ("--output", "--connections-out") else 0)
            runs.append((option, run_client(*RUN, option, path, target)))
            disk.count()
        for option in ("-R", "--json=-"):
            with open(disk.leave(0), "w") as out:
                runs.append((option, run_client(*RUN, option, target, stdout=out)))
            disk.count()
        check_outputs_lost(row, runs)
        with open(disk.leave(0), "w") as err:
            r = subprocess.run([TCPCLIENT, "-c", "10", "-r", "100", "-t", "1", target], stderr=err, timeout=60)
            row.expect("stderr: exit", OneOf(0, 3), r.returncode)
            disk.count()
        row.served(server)
        with Server("--json", disk.leave(0)) as other:
            run_client("-c", 10, "-r", 100, "-t", 1, f"127.0.0.1:{other.port}")
            row.expect("server --json: exit", 1, stop(other.process))
            disk.count()
        row.injected("outputs onto a disk left without a byte", disk.full)


class Fifo:
    """A pipe with a name, read by this process until it closes it."""

    def __init__(self):
        self.path = temp_path("fifo")
        os.mkfifo(self.path)
        self.fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def close(self):
        os.close(self.fd)


@scenario()
def pipe_closed_under_every_output(row):
    """Each reader goes away while the load runs."""
    with Server() as server:
        target, load = f"127.0.0.1:{server.port}", ("-c", 100, "-r", 1000, "-t", 2, "--stats-interval", "200ms")
        runs = []
        for option in FILES:
            fifo = Fifo()
            runs.append((option, Client(*load, option, fifo.path, target), fifo.close))
        for option in ("-R", "--json=-"):
            reading, writing = os.pipe()
            runs.append((option, Client(*load, option, target, stdout=writing),
                         lambda reading=reading: os.close(reading)))
            os.close(writing)
        for _, client, close in runs:
            wait_until_running(client)
            close()
        check_outputs_lost(row, [(option, client.wait()) for option, client, _ in runs])
        reading, writing = os.pipe()
        r = spawn([TCPCLIENT, "-c", "10", "-r", "100", "-t", "2", target], stderr=writing)
        os.close(writing)
        time.sleep(0.5)
        os.close(reading)
        row.expect("stderr: exit", OneOf(0, 3), r.wait(60))
        row.served(server)
        fifo = Fifo()
        with Server("--json", fifo.path) as other:
            fifo.close()
            row.expect("server --json: exit", 1, stop(other.process))
        row.injected("readers gone", len(runs) + 2)


CLOCK_STEP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Seconds by which CLOCK_REALTIME is off, set by the test, and how often it was asked so. */
static struct {
    _Atomic long long offset_s, n_asked;
} *step;

__attribute__((constructor)) static void open_step(void)
{
    int fd = open(getenv("CLOCK_STEP"), O_RDWR);

    step = mmap(NULL, sizeof *step, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

static long long offset_s(void)
{
    if (step->offset_s != 0)
        step->n_asked++;
    return step->offset_s;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *);
    int result;

    if (real == NULL)
        real = dlsym(RTLD_NEXT, "clock_gettime");
    result = real(clock, t);
    if (clock == CLOCK_REALTIME)
        t->tv_sec += offset_s();
    return result;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""


class SteppedClock:
    """A wall clock of the started program's own: the machine's is everybody's, and a time namespace has only
    the monotonic ones."""

    def __init__(self):
        need_program("cc")
        source, self.preloaded, self.path = (temp_path(name) for name in ("step.c", "step.so", "step"))
        with open(source, "w") as f:
            f.write(CLOCK_STEP)
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", self.preloaded, source, "-ldl"], check=True)
        self.set(0)
        self.prefix = ["env", f"LD_PRELOAD={self.preloaded}", f"CLOCK_STEP={self.path}"]

    def set(self, seconds):
        """Also begins to count anew."""
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as f:
            f.write(struct.pack("=qq", seconds, 0))

    def asked(self):
        with open(self.path, "rb") as f:
            return struct.unpack("=qq", f.read())[1]


@scenario()
@plain_build_only
def clock_stepped_under_load(row):
    """An hour ahead when the programs start, an hour back under load: they date by the clock of the start, and
    latencies, rate and duration are of another one."""
    clock = SteppedClock()
    clock.set(3600)
    with Server(prefix=clock.prefix) as server:
        client = Client("-c", 50, "-r", 1000, "-t", 3, "--stats-interval", "200ms", "-R",
                        f"127.0.0.1:{server.port}", prefix=clock.prefix)
        time.sleep(1)  # its output is read at its end: rows of a second fit into the pipe
        row.injected("readings of a clock 1 h ahead", clock.asked())
        clock.set(-3600)
        r = client.wait()
        row.conserved(r)
        q = r.json["queries"]
        row.expect("exit", OneOf(0, 3), r.code)
        row.expect("sent", Between(2700, 3300), q["sent"])
        row.expect("answered", q["sent"], q["answered"])
        row.expect("duration in s", 3.0, r.json["rate"]["duration_s"])
        row.expect("slowest answer in ms, of 3,600,000", at_most(60000), r.json["latency_ns"]["response"]["max"] / 1e6)
        dates = [float(line["timestamp"]) for line in r.rows()]
        row.expect("rows", 2 * q["sent"], len(dates))
        row.expect("s from the first to the last", Between(2, 4), round(max(dates) - min(dates), 1))
        row.expect("ended in s", at_most(60), round(r.seconds, 1))
        row.served(server)


@scenario()
@plain_build_only
def clock_stepped_under_a_pushing_server(row):
    """It reads the clock again and again, for listeners on other hosts."""
    clock = SteppedClock()
    with Server("--push", 1000, prefix=clock.prefix) as server:
        client = Client("-c", 50, "--protocol", "listen", "-t", 3, "--stats-interval", "200ms",
                        f"127.0.0.1:{server.port}", prefix=clock.prefix)
        wait_until_running(client)
        asked = 0
        for seconds in (3600, -3600):
            clock.set(seconds)
            time.sleep(0.8)
            asked += clock.asked()
        row.injected("readings of a clock 1 h ahead or back", asked)
        r = client.wait()
        push = r.json["push"]
        row.expect("exit", OneOf(0, 3), r.code)
        row.expect("measured", Between(2700, 3300), push["measured"])
        row.expect("lost, damaged, negative", [0, 0, 0], [push[key] for key in ("lost", "damaged", "negative")])
        row.expect("slowest message in ms, of 3,600,000", at_most(60000), r.json["latency_ns"]["response"]["max"] / 1e6)
        row.served(server)
