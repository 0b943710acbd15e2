# SPDX-License-Identifier: MIT
"""Arrivals are what they are called: Poisson, or constant."""

import math

from harness import *


# --- arrivals ---

def gaps_of(arrival, rate=1000, seconds=5):
    """Gaps between the intended times of the rows of a run on one thread, in units of their mean."""
    with Server() as server:
        r = run_client("-p", server.port, "-c", 20, "-r", rate, "-t", seconds, "--threads", 1,
                       "--arrival", arrival, "-R", "127.0.0.1")
    times = sorted(float(row["timestamp"]) - float(row["send_lag_us"]) / 1e6
                   for row in r.rows() if row["type"] == "Q")
    return [(b - a) * rate for a, b in zip(times, times[1:])]


def anderson_darling(gaps):
    """Against the exponential distribution with mean 1."""
    f = [min(max(1 - math.exp(-g), 1e-12), 1 - 1e-12) for g in sorted(gaps)]
    n = len(f)
    return -n - sum((2 * i + 1) * (math.log(f[i]) + math.log(1 - f[n - 1 - i]))
                    for i in range(n)) / n


def test_arrivals_are_what_they_are_called():
    poisson, constant = gaps_of("poisson"), gaps_of("constant")
    cv = math.sqrt(sum((g - 1)**2 for g in constant) / len(constant))
    print(f"     Anderson-Darling: Poisson {anderson_darling(poisson):.2f}, constant "
          f"{anderson_darling(constant):.0f}; variation of the constant gaps {cv:.5f}")
    check(anderson_darling(poisson) < 2.5, "Poisson gaps are exponential (2.492: p = .05)")
    check(anderson_darling(constant) > 100, "the control: constant gaps are not")
    check(cv <= 0.05, f"variation of the constant gaps: {cv}")


if __name__ == "__main__":
    main()
