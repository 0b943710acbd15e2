# SPDX-License-Identifier: MIT
"""Percentiles of known values, as the programs define them."""

import math
from fractions import Fraction


def at_rank(values, q, n=None):
    """The percentile q (0.99: p99) of sorted values: the one of rank ceil(q * n). n: samples, of which some may have no
    value, as slower than all others; without it, each has."""
    rank = math.ceil(Fraction(str(q)) * (len(values) if n is None else n))
    return values[rank - 1] if rank <= len(values) else math.inf
