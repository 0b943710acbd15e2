# SPDX-License-Identifier: MIT
"""Whether the machine was disturbed while a test ran: a CPU that was stalled, or was used by other guests of the host."""

import collections
import ctypes
import mmap
import os
import signal
import struct
import time

from helpers.checks import SUITE

PR_SET_PDEATHSIG = 1  # linux/prctl.h
MOST_WATCHED_CPUS = 8
# A stall is measured with an error of up to PERIOD_S. For tests of time, milliseconds matter. The others run side by side, and wait
# for each other all the time: their watches, of which there are dozens, wake up less often.
STALL_S, PERIOD_S, STOLEN_SHARE = {"truth": (0.01, 0.005, 0.001), "": (0.1, 0.03, 0.005)}.get(SUITE, (0.07, 0.06, 0.005))


CpuTimes = collections.namedtuple("CpuTimes", "busy stolen all")


def cpu_times(since=CpuTimes(0, 0, 0)):
    """CPU time of all CPUs, since then or since the boot, in ticks; see proc_stat(5)."""
    with open("/proc/stat") as f:
        # what guests used is in the first two
        user, nice, system, idle, iowait, irq, softirq, stolen = map(int, f.readline().split()[1:9])
    busy = user + nice + system + irq + softirq
    return CpuTimes(busy - since.busy, stolen - since.stolen, busy + stolen + idle + iowait - since.all)


class Watch:
    """A process that sleeps repeatedly on one CPU and records how late it woke up at most. It ends with this one."""

    def __init__(self, cpu):
        self.shared = mmap.mmap(-1, struct.calcsize("d"))
        self.pid = os.fork()
        if self.pid == 0:
            os.sched_setaffinity(0, {cpu})
            self._watch()

    def _watch(self):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for number in signal.SIGTERM, signal.SIGHUP:  # a handler of the parent would unwind its stack here
            signal.signal(number, signal.SIG_DFL)
        before = time.monotonic()
        while True:
            time.sleep(PERIOD_S)
            now = time.monotonic()
            self.latest_s = max(self.latest_s, now - before - PERIOD_S)
            before = now

    @property
    def latest_s(self):
        return struct.unpack_from("d", self.shared)[0]

    @latest_s.setter
    def latest_s(self, seconds):
        struct.pack_into("d", self.shared, 0, seconds)


class Machine:
    def __init__(self):
        self.watches = [Watch(cpu) for cpu in sorted(os.sched_getaffinity(0))[:MOST_WATCHED_CPUS]]
        self.begin()

    def begin(self):
        """From now on."""
        for watch in self.watches:
            watch.latest_s = 0
        self.times = cpu_times()

    def disturbance(self, most_stall_s=STALL_S, most_stolen=STOLEN_SHARE):
        """Describes the disturbance since begin(); None if there was none."""
        stall_s = max(watch.latest_s for watch in self.watches)
        times = cpu_times(self.times)
        if stall_s > most_stall_s:
            return f"a CPU was stalled for {stall_s:.3f} s"
        if times.stolen > most_stolen * times.all:
            return f"other guests took {100 * times.stolen / times.all:.1f} % of the CPU time"
        return None

    def end(self):
        for watch in self.watches:
            os.kill(watch.pid, signal.SIGKILL)
            os.waitpid(watch.pid, 0)
