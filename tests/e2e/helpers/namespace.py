# SPDX-License-Identifier: MIT
"""A network namespace for one test: its ports, sysctls, rules and addresses affect nobody else."""

import contextlib
import ctypes

from helpers.harness import *


def set_namespace(f):
    """Moves this thread to the network namespace of an open file: setns(2). Python has it from 3.12 on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(f.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"setns: {f.name}")


class Namespace:
    """A network namespace of the test's own, with loopback up."""

    def __init__(self, suffix=""):
        need_root()
        need_program("ip")
        self.name = f"tcpscaler-{RUN}{suffix}"
        r = subprocess.run(["ip", "netns", "add", self.name], capture_output=True, text=True)
        if r.returncode != 0:
            skip(f"no network namespaces here: {r.stderr.strip()}")
        self.prefix = ["ip", "netns", "exec", self.name]
        self.run("ip", "link", "set", "lo", "up")

    def run(self, *command):
        return subprocess.run([*self.prefix, *command], check=True, capture_output=True, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.run_outside("ip", "netns", "pids", self.name).split():
            with contextlib.suppress(ProcessLookupError):  # it may just be ending
                os.kill(int(pid), signal.SIGKILL)
        self.run_outside("ip", "netns", "del", self.name)

    def drop(self, which, verdict="drop"):
        """Drops and counts the arriving packets that match this expression of nft(8), or applies another verdict to them."""
        need_program("nft")
        try:
            self.run("nft", "add table inet loss; add chain inet loss in { type filter hook input priority 0; }; "
                     f"add rule inet loss in {which} counter {verdict}")
        except subprocess.CalledProcessError as error:
            skip(f"no nftables here: {error.stderr.strip()}")

    def dropped(self):
        """How many packets drop() has dropped."""
        return int(self.run("nft", "list table inet loss").stdout.split("packets ")[1].split()[0])

    @contextlib.contextmanager
    def entered(self):
        """Moves this thread, and what it starts meanwhile, into the namespace."""
        with open("/proc/thread-self/ns/net") as outside, open(f"/run/netns/{self.name}") as inside:
            set_namespace(inside)
            try:
                yield
            finally:
                set_namespace(outside)

    @staticmethod
    def run_outside(*command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
