# SPDX-License-Identifier: MIT
"""How a complete benchmark ends: with exit code 1 and a line that says so if targets were missed or runs failed. bench/all still puts
its output into the page; a benchmark that fails without that line has stopped half-way."""

import re

LINE = re.compile(r"^(?:targets missed|runs failed): \d+.*$")


def exit_code(n_missed, n_failed=0):
    """To be called last by a benchmark: prints the line if there is a reason."""
    reasons = [f"{what}: {n}" for what, n in (("targets missed", n_missed), ("runs failed", n_failed)) if n]
    if not reasons:
        return 0
    print(", ".join(reasons), flush=True)
    return 1


def missed(output):
    """The line, if what a benchmark printed ends with it, or None."""
    lines = output.splitlines()
    return lines[-1] if lines and LINE.match(lines[-1]) else None
