# SPDX-License-Identifier: MIT
"""The disk is full, readers of outputs go away, the wall clock jumps."""

import ctypes
import struct

from table import *

CLONE_NEWNS = 0x20000  # linux/sched.h


def little_disk(n_kib):
    """A directory on a file system of this many KiB, in a mount namespace of this process's own."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        skip(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    directory = temp_directory()
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
    """Whether rows written and rows missing add up to two for each query that was answered."""
    q, output = result.json["queries"], result.json["output"]
    return output["rows"] + output["dropped_rows"] == q["sent"] + q["answered"]


def check_outputs_lost(row, runs):
    """A run whose output fails goes on, says so and ends with 3. `runs`: (option, its result)."""
    row.expect("exit of each", {option: 3 for option, _ in runs}, {option: r.code for option, r in runs})
    row.expect("each says so", True, all(what_it_says(r.err) for _, r in runs))
    row.conserved(*(r for option, r in runs if not option.startswith("--json")))  # that is what was lost
    row.expect("rows add up", True, all(rows_add_up(r) for option, r in runs if option in ("--output", "-R")))


class LittleDisk:
    """Files for each output in turn, on a file system that has room for only a part of it."""

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
            r = subprocess.run([TCPCLIENT, "-c", "10", "-r", "100", "-t", "1", target], stderr=err, timeout=HANGS_S)
            row.expect("stderr: exit", OneOf(0, 3), r.returncode)
            disk.count()
        row.served(server)
        with Server("--json", disk.leave(0)) as other:
            run_client("-c", 10, "-r", 100, "-t", 1, f"127.0.0.1:{other.port}")
            row.expect("server --json: exit", 1, stop(other.process))
            disk.count()
        row.injected("outputs onto a disk left without a byte", disk.full)


class Fifo:
    """A named pipe, which this process reads until it closes it."""

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
        row.expect("stderr: exit", OneOf(0, 3), r.wait(HANGS_S))
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

/* Seconds by which CLOCK_REALTIME is off, set by the test, and how often it was read then. */
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
    """A separate wall clock for the started program: all programs share the machine's, and a time namespace has only
    the monotonic clocks."""

    def __init__(self):
        need_program("cc")
        source, self.preloaded, self.path = (temp_path(name) for name in ("step.c", "step.so", "step"))
        write_text(source, CLOCK_STEP)
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", self.preloaded, source, "-ldl"], check=True)
        self.set(0)
        self.prefix = ["env", f"LD_PRELOAD={self.preloaded}", f"CLOCK_STEP={self.path}"]

    def set(self, seconds):
        """Also resets the count."""
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as f:
            f.write(struct.pack("=qq", seconds, 0))

    def asked(self):
        with open(self.path, "rb") as f:
            return struct.unpack("=qq", f.read())[1]


@scenario()
@plain_build_only
def clock_stepped_under_load(row):
    """An hour ahead when the programs start, an hour back under load: they date their output by the clock of the start, and
    measure latencies, rate and duration with another one."""
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
