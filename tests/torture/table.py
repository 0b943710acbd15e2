# SPDX-License-Identifier: MIT
"""Scenarios, and the table of what they found.

A scenario is a function of a Row marked with @scenario. It injects a fault and proves that with a count
(Row.injected: without any, the scenario does not pass), then compares each figure with the expected one (Row.expect). It
goes on after an unexpected figure: the row shows all of them.

An unexpected figure does not count if the machine itself stalled meanwhile: such a scenario is repeated (TRIES). A program
that crashes, or whose counts do not add up, always counts."""

import threading

from helpers.harness import *

scenarios = {}
FIRST_NETWORK = os.open("/proc/self/ns/net", os.O_RDONLY)  # where this was started
STALL_S = 0.1


def scenario(short=False, machine_wide=False):
    """Registers a scenario by its function's name. A short one is also in the selection for every build; a machine-wide one, whose
    fault reaches beyond its namespace, runs only on request."""

    def register(function):
        function.short, function.machine_wide = short, machine_wide
        scenarios[function.__name__] = function
        return function

    return register


class Between:
    """A range that includes both ends; without a high end: at least low."""

    def __init__(self, low, high=None):
        self.low, self.high = low, high

    def __eq__(self, found):
        return found is not None and self.low <= found and (self.high is None or found <= self.high)

    def __str__(self):
        return f">= {self.low}" if self.high is None else f"{self.low} to {self.high}"


def at_most(high):
    return Between(0, high)


class OneOf:
    def __init__(self, *values):
        self.values = values

    def __eq__(self, found):
        return found in self.values

    def __str__(self):
        return " or ".join(map(str, self.values))


def words(value):
    """The value as text for a field of the table, where ' | ' separates fields and '; ' figures."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {words(n)}" for name, n in value.items()) or "none"
    return " ".join(str(value).replace("|", "/").split())


def lost(outcomes):
    """Connections, or their queries, that the other side ended."""
    return sum(n for name, n in outcomes.items() if name.endswith(("reset", "closed by peer")))


class Row:
    HEAD = "scenario | injected | expected | found | verdict"

    def __init__(self, name):
        self.name = name
        self.injections, self.expected, self.found = [], [], []
        self.faults, self.skipped = set(), False
        self.is_certain = False  # these are wrong even if the machine stalled

    def injected(self, what, count):
        """`count`: of the fault itself, as the kernel, the injector or the program's peer counted it."""
        self.injections.append(f"{words(int(count) if isinstance(count, bool) else count)} {what}")
        if not count:
            self.faults.add("NOT INJECTED")

    def expect(self, what, wanted, found):
        self.expected.append(f"{what} {words(wanted)}")
        self.found.append(f"{what} {words(found)}")
        if not wanted == found:
            self.faults.add("UNEXPECTED")

    def note(self, what, found):
        """A figure that may be anything."""
        self.found.append(f"{what} {words(found)}")

    def conserved(self, *results):
        """Every query and connection of tcpclient's results ended in exactly one outcome."""
        why = []
        for result in results:
            try:
                check_conservation(result)
            except AssertionError as error:
                why.append(words(error))
        self.is_certain |= bool(why)
        self.expect("conserved", True, "; ".join(why) or True)

    def served(self, server, code=0):
        """Ends the server. It lives until then, ends soon, and each connection that it accepted has one end."""
        alive, begin = server.process.poll() is None, time.monotonic()
        code_found = server.stop()
        soon = time.monotonic() - begin < 60
        self.expect("server exit", code, code_found if alive and soon else f"{code_found}, before or late")
        j = server.result
        conserved = j is not None and j["accepted"] == j["active"] + sum(j["closed"].values())
        self.is_certain |= not conserved
        self.expect("server conserved", True, conserved)

    @property
    def verdict(self):
        return " ".join(sorted(self.faults)) or ("SKIP" if self.skipped else "ok")

    def __str__(self):
        return " | ".join((self.name, "; ".join(self.injections), "; ".join(self.expected),
                           "; ".join(self.found), self.verdict))


class Stalls:
    """How long the processes here were kept from running."""

    def __init__(self):
        self.longest_s, self.done = 0.0, threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def _watch(self):
        before = time.monotonic()
        while not self.done.wait(0.01):
            now = time.monotonic()
            self.longest_s, before = max(self.longest_s, now - before), now

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def run_scenario(name):
    """Returns its row; after several tries, that of the last one."""
    for n in range(1, TRIES + 1):
        with Stalls() as stalls:
            row = try_scenario(name)
        if not row.faults or row.is_certain or stalls.longest_s < STALL_S or n == TRIES:
            return row
        print(f"{row}\n{name}: the machine was stalled for {stalls.longest_s:.1f} s: trying again", file=sys.stderr)


def try_scenario(name):
    """Returns its row. Figures found before the scenario was skipped count."""
    row = Row(name)
    enter_own_network()
    try:
        scenarios[name](row)
        if not row.injections:
            row.faults.add("NOT INJECTED")
    except Skip as why:
        row.note("SKIP", why)
        row.skipped = True
    except Exception as error:
        row.note("error", error)
        row.faults.add("UNEXPECTED")
        traceback.print_exc()
    finally:
        if any(process.poll() in CRASHES for process in processes_started()):
            row.faults.add("UNEXPECTED")
            row.is_certain = True
        stop_all()
    return row
