# SPDX-License-Identifier: MIT
"""Whether something else uses the machine."""

import time

from helpers.machine import Machine, cpu_times

MOST_BUSY, MOST_STALL_S, MOST_STOLEN = 0.05, 0.05, 0.005


def disturbance(seconds):
    """What disturbed an idle machine in this time, in words; None if nothing did."""
    machine = Machine()
    try:
        time.sleep(seconds)
        times = cpu_times(machine.times)
        if times.busy > MOST_BUSY * times.all:
            return f"other programs used {100 * times.busy / times.all:.0f} % of the CPU time"
        return machine.disturbance(MOST_STALL_S, MOST_STOLEN)
    finally:
        machine.end()


def stolen_percent(since):
    """The share of the CPU time that the host took away since cpu_times() returned this."""
    times = cpu_times(since)
    return 100 * times.stolen / max(1, times.all)
