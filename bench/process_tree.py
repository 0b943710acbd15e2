# SPDX-License-Identifier: MIT
"""A process and its descendants: the CPU time and memory they have used, as the kernel counts them (proc(5))."""

import contextlib
import os

from helpers.kernel import stat_fields

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def is_running(pid):
    with contextlib.suppress(OSError):
        return stat_fields(pid)[0] not in "ZX"
    return False


def tree(pid):
    """A process and its descendants: nginx, nsd and socat fork."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            parents.setdefault(int(stat_fields(name)[1]), []).append(int(name))
    found = [pid]
    for p in found:
        found.extend(parents.get(p, []))
    return found


def cpu_times(pid):
    """Returns (user, system) seconds so far of a process and its descendants, including those that have ended."""
    user = system = 0
    for p in tree(pid):
        with contextlib.suppress(OSError):
            fields = [int(x) * TICK_S for x in stat_fields(p)[11:15]]
            user, system = user + fields[0] + fields[2], system + fields[1] + fields[3]
    return user, system


def peak_mb(pid):
    total = 0
    for p in tree(pid):
        with contextlib.suppress(OSError), open(f"/proc/{p}/status") as f:
            total += sum(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    return total / 1024
