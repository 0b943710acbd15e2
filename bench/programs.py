# SPDX-License-Identifier: MIT
"""The programs of bench/: those that bench/all runs, in this order, and those that it does not.

What is compared alternates (A B B A) within each program."""

from typing import NamedTuple


class Benchmark(NamedTuple):
    command: str
    most_minutes: int  # about twice what it takes; then it is ended


BENCHMARKS = {
    "scale": Benchmark("bench/scale 10k 100k 1M 2500k", 15),
    "hash": Benchmark("bench/scale --hash 8M 1M 2500k", 12),
    "threads": Benchmark("bench/scale --threads 53", 10),
    "shares": Benchmark("bench/shares 10k 100k 1M 2500k", 15),
    "connect": Benchmark("bench/connect", 5),
    "compare": Benchmark("bench/compare", 40),
    "handshakes": Benchmark("bench/handshakes", 25),
    "saturation": Benchmark("bench/saturation", 6),
    "pacing": Benchmark("bench/pacing", 10),
    "wire_truth": Benchmark("bench/wire_truth", 5),
    "push": Benchmark("bench/push 200k 120k", 5),
    "control": Benchmark("bench/control", 10),
}
APART = {
    "curves": "a capacity search per server, transport and number of connections takes hours, and draws pictures",
    "minutes": "takes up to forty minutes, and judges the machine: no figure to quote",
    "repeat": "twenty capacity searches take an hour and a half, and judge the search: no figure to quote",
    "soak": "takes hours, and judges what they leave behind: no figure to quote",
}
