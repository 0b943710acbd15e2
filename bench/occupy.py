# SPDX-License-Identifier: MIT
"""Takes a share of a CPU from everything else that runs there.

A real-time process spins for its share of every millisecond. What a CPU quota (cpu.max) leaves a busy server varies between
0.35 and 0.39 of a CPU at 40 %, as measured with samples of 10 s on Linux 6.18: the kernel tests for the quota at its timer
ticks only, and a halted CPU wakes up late. Next to a process that spins it is between 0.39 and 0.40."""

import contextlib
import gc
import os
import subprocess
import sys
import time

PRIORITY = 50  # of SCHED_FIFO: above all that is not real-time
PERIOD_NS = 1000 * 1000


@contextlib.contextmanager
def occupied(cpu, percent):
    """Requires the right to real-time priorities."""
    process = subprocess.Popen([sys.executable, os.path.abspath(__file__), str(cpu), str(percent)], stdout=subprocess.PIPE)
    try:
        if process.stdout.readline() != b"spinning\n":
            sys.exit(f"{os.path.basename(sys.argv[0])}: cannot take {percent} % of CPU {cpu}")
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def spin(percent):
    """Until the parent process ends. Does not make up for time that another real-time process took."""
    parent, begin_ns = os.getppid(), time.monotonic_ns()
    while os.getppid() == parent:
        busy_until_ns = begin_ns + PERIOD_NS * percent // 100
        while time.monotonic_ns() < busy_until_ns:
            pass
        now_ns = time.monotonic_ns()
        begin_ns = max(begin_ns + PERIOD_NS, now_ns)
        time.sleep((begin_ns - now_ns) / 1e9)


def main():
    cpu, percent = map(int, sys.argv[1:])
    gc.disable()
    try:
        os.sched_setaffinity(0, {cpu})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError as error:
        sys.exit(f"occupy: {error}")
    print("spinning", flush=True)
    spin(percent)


if __name__ == "__main__":
    main()
