# SPDX-License-Identifier: MIT
"""Opening many connections with both programs on this machine: whether they fit, when the first one is open and when all are."""

import json
import os
import re
import subprocess
import time

from helpers.harness import TCPCLIENT, check
from stages import OPEN

PORTS_PER_ADDRESS = 60000  # some are reserved or taken
LOOK_S = 0.001  # thousands of connections are opened between two checks of wait_for()
LEAST_LEFT_BYTES = 128 << 20


def sources_for(n):
    return f"127.0.0.2-127.0.0.{2 + n // PORTS_PER_ADDRESS}"


def plan(n, threads):
    """Returns (whether it fits, bytes of memory planned); if it does not, prints the reason on stdout."""
    r = subprocess.run([TCPCLIENT, "--plan", "--json", "-", "-c", str(n), *threads, "--source", sources_for(n), "127.0.0.1"],
                       capture_output=True, text=True)
    lines = json.loads(r.stdout)["plan"]
    needed = next(line["needed"] for line in lines if line["limit"].startswith("memory"))
    if r.returncode == 0:
        return True, needed
    print(f"{n:>10,}  does not fit here:")
    print("\n".join(f"{line['limit']}: {line['is']:,}, needed {line['needed']:,}" for line in lines if line["level"] == "stop"))
    return False, needed


def free_in_cpu_lists():
    """Bytes of the free pages that each CPU keeps for itself, which are not in MemFree: 80 MiB after a teardown."""
    with open("/proc/zoneinfo") as f:
        return sum(map(int, re.findall(r"^ +count: +(\d+)$", f.read(), re.M))) * os.sysconf("SC_PAGE_SIZE")


def memory():
    """Returns (bytes of memory, bytes that are free or page cache). Not MemAvailable: it includes half of the reclaimable
    slab, which contains the dentries and inodes of open sockets."""
    with open("/proc/meminfo") as f:
        fields = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in f}
    return fields["MemTotal"], fields["MemFree"] + free_in_cpu_lists() + fields["Active(file)"] + fields["Inactive(file)"]


def sockets(state):
    """The fields of /proc/net/sockstat: "inuse", "tw" (TIME_WAIT), ..."""
    with open("/proc/net/sockstat") as f:
        words = next(line for line in f if line.startswith("TCP:")).split()
    return int(words[words.index(state) + 1])


def check_runs(client):
    check(client.process.poll() is None, f"tcpclient ended: {client.stderr()[-1000:]}")


def wait_for_first(client, in_use):
    """Until the first connection is opened, which is after all threads have started."""
    while sockets("inuse") <= in_use:
        check_runs(client)
        time.sleep(LOOK_S)


def is_open(client, stages):
    """Whether all connections have been opened that will be."""
    left = memory()[1]
    check(left >= LEAST_LEFT_BYTES, f"broken off: {left:,} bytes of memory are left")
    check_runs(client)
    return stages.told() == OPEN
