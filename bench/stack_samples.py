# SPDX-License-Identifier: MIT
"""What processes use their CPU time for: perf(1) samples every CPU 199 times per second of CPU time, and each stack
belongs to one of PARTS."""

import collections
import contextlib
import os
import re
import subprocess

HZ = 199
# (part, a function of the kernel in the stack); the first that fits counts, so a page for a slab that a bound port needs is "pages"
IN_KERNEL = (("pages", re.compile(r"__alloc_(frozen_)?pages|allocate_slab|__free_(frozen_)?pages|clear_page|handle_mm_fault")),
             ("connection table", re.compile(r"__inet_check_established|inet6?_ehash|__inet6?_lookup_established")),
             ("port table", re.compile(r"__inet_hash_connect|inet_csk_get_port|inet_bind|inet_put_port|inet_bhash2")),
             ("packets", re.compile(r"net_rx_action")))
# (part, the file of the innermost function)
IN_FILE = (("rest of kernel", re.compile(r"kernel\.kallsyms|^\[.*\]$")),
           ("libevent", re.compile(r"libevent")),
           ("other libraries", re.compile(r"\.so\b|vdso")))
OWN = "own code"
PARTS = tuple(part for part, _ in IN_KERNEL + IN_FILE) + (OWN,)
FRAME = re.compile(r"\s+[0-9a-f]+ (?P<function>.*) \((?P<file>.*)\)$")


class Sampling:
    """As a context manager: once entered, perf(1) is ready, and samples all processes from begin() until end(). It must be allowed to
    see the kernel's stacks."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        (commands, self.commands), (self.answers, answers) = os.pipe(), os.pipe()
        self.process = subprocess.Popen(["perf", "record", "-q", "-a", "-g", "-e", "cpu-clock", "-F", str(HZ), "-o", self.path, "-D", "-1",
                                         "--control", f"fd:{commands},{answers}"], stderr=subprocess.PIPE, text=True,
                                        pass_fds=(commands, answers))
        os.close(commands)
        os.close(answers)
        self._command("ping")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()
        os.close(self.commands)
        os.close(self.answers)

    def _command(self, command):
        """Returns when perf has followed it."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.commands, f"{command}\n".encode())
        if not os.read(self.answers, 100).startswith(b"ack"):
            raise AssertionError(f"perf record: {self.process.communicate()[1].strip()}")

    def begin(self):
        self._command("enable")

    def end(self):
        self._command("disable")

    def samples(self):
        """Yields (pid, [(function, file) from the innermost on])."""
        done = subprocess.run(["perf", "script", "-i", self.path, "-F", "pid,ip,sym,dso"], capture_output=True, text=True, check=True)
        yield from parse(done.stdout)


def parse(text):
    """The output of perf script: a line with the pid, a line for each function of the stack, an empty line."""
    for block in text.split("\n\n"):
        pid, *frames = block.strip("\n").splitlines() or [""]
        stack = [match.group("function", "file") for match in map(FRAME.match, frames) if match]
        if stack:
            yield int(pid), stack


def part_of(stack):
    for part, functions in IN_KERNEL:
        if any(functions.match(function) for function, _ in stack):
            return part
    return next((part for part, files in IN_FILE if files.search(stack[0][1])), OWN)


def count(samples):
    """Returns {pid: {part: samples}}."""
    counts = collections.defaultdict(collections.Counter)
    for pid, stack in samples:
        counts[pid][part_of(stack)] += 1
    return counts
