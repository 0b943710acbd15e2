# SPDX-License-Identifier: MIT
"""Tests whether a series of samples drifts: fits a straight line and checks whether its slope is more than noise.

Values sampled every few seconds - memory, descriptors, the difference of two counters - move in steps and waves that
last for many samples.  The samples are not independent, so the usual error of a slope is far too small.  Therefore the
first fifth is left out (what fills up once does so then), the rest is averaged in BLOCKS blocks of equal length, and
the line is fitted to their means by least squares.  The series drifts if both conditions hold:
 - t, the slope divided by its standard error, is above T_LIMIT, the 99.9 % quantile of Student's distribution
   with BLOCKS - 2 degrees of freedom: a series of independent noise exceeds it once in 1,000 times;
 - along the line the values rise by more than `tolerance` from the first block to the last: a slope can be
   significant and yet irrelevant."""

import math
from typing import NamedTuple

BLOCKS, T_LIMIT = 10, 4.501
SETTLED = 0.2


class Drift(NamedTuple):
    first: float  # on the line, at the first block and at the last
    last: float
    per_hour: float
    t: float
    tolerance: float
    drifts: bool


def block_means(times, values):
    """(mean time, mean value) of each block; times in seconds, rising.  Raises ValueError if a block is empty."""
    if len(times) < BLOCKS:
        raise ValueError(f"{len(times)} samples are too few for {BLOCKS} blocks")
    begin = times[0] + SETTLED * (times[-1] - times[0])
    width = (times[-1] - begin) / BLOCKS
    blocks = [[] for _ in range(BLOCKS)]
    for time, value in zip(times, values):
        if time >= begin:
            blocks[min(int((time - begin) / width), BLOCKS - 1)].append((time, value))
    if not all(blocks):
        raise ValueError(f"{len(times)} samples are too few for {BLOCKS} blocks")
    return [tuple(math.fsum(each) / len(block) for each in zip(*block)) for block in blocks]


def judge(times, values, tolerance):
    means = block_means(times, values)
    middle = math.fsum(x for x, _ in means) / BLOCKS
    level = math.fsum(y for _, y in means) / BLOCKS
    spread = math.fsum((x - middle) ** 2 for x, _ in means)
    slope = math.fsum((x - middle) * (y - level) for x, y in means) / spread
    rest = math.fsum((y - level - slope * (x - middle)) ** 2 for x, y in means)
    error = math.sqrt(rest / (BLOCKS - 2) / spread)
    t = slope / error if error > 0 else math.copysign(math.inf, slope) if slope != 0 else 0.0
    first, last = (level + slope * (means[i][0] - middle) for i in (0, -1))
    return Drift(first, last, slope * 3600, t, tolerance, t > T_LIMIT and last - first > tolerance)
