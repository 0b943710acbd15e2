# SPDX-License-Identifier: MIT
"""Namespaces for a file of tests: other programs on this machine do not affect it, and everything it starts
ends with it."""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys

CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000  # linux/sched.h
MS_REC, MS_PRIVATE = 0x4000, 0x40000  # linux/mount.h
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def enter_own_network():
    """A network namespace for everything the tests start: other programs take none of its ports, and test files can
    run side by side. Without the privilege they share the machine's."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNET) == 0:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def end_as(process):
    """Waits for the child and ends with its exit status; forwards SIGTERM to it, also one that has been blocked so far."""
    accept(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from now on: a terminal sends it to the child as well

    def hand_on(number, _):
        with contextlib.suppress(ProcessLookupError):  # it may just have ended
            os.kill(process, number)
    signal.signal(signal.SIGTERM, hand_on)
    accept(signal.SIGTERM)
    while True:
        pid, status = os.wait()  # also orphans, if this is the first process of a namespace
        if pid == process:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def accept(*signals):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def enter_own_processes():
    """Continues in a PID namespace. The kernel kills its first process when this one ends, and with it everything
    the tests have started, in whatever session. Without the privilege: does nothing."""
    libc = ctypes.CDLL(None)
    if libc.unshare(CLONE_NEWPID | CLONE_NEWNS) != 0:
        return
    sys.stdout.flush()
    # Until it has a handler, the first process of a namespace loses a SIGTERM that is not blocked, see pid_namespaces(7), and Python
    # ignores a KeyboardInterrupt in what modules do after a fork.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    alive, held = os.pipe()
    first = os.fork()
    if first > 0:
        os.close(alive)
        end_as(first)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.close(held)
    if select.select([alive], [], [], 0)[0]:  # the parent ended before prctl(2)
        os._exit(1)
    os.close(alive)
    os.makedirs("/run/netns", exist_ok=True)
    libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
    libc.mount(b"proc", b"/proc", b"proc", 0, None)
    libc.mount(b"tmpfs", b"/run/netns", b"tmpfs", 0, None)  # named network namespaces end with this one
    test = os.fork()
    if test > 0:
        end_as(test)
    accept(signal.SIGINT, signal.SIGTERM)
