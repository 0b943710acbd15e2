# SPDX-License-Identifier: MIT
"""Arrivals have the distribution they are named after: Poisson or constant. Connections are timed from when they were due."""

import math

from helpers.harness import *


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


def test_arrivals_have_the_distribution_they_are_named_after():
    poisson, constant = gaps_of("poisson"), gaps_of("constant")
    cv = math.sqrt(sum((g - 1)**2 for g in constant) / len(constant))
    print(f"     Anderson-Darling: Poisson {anderson_darling(poisson):.2f}, constant "
          f"{anderson_darling(constant):.0f}; variation of the constant gaps {cv:.5f}")
    check(anderson_darling(poisson) < 2.5, "Poisson gaps are exponential (2.492: p = .05)")
    check(anderson_darling(constant) > 100, "the control: constant gaps are not")
    check(cv <= 0.05, f"variation of the constant gaps: {cv}")


def test_connections_arrive_on_schedule_and_are_timed_from_when_due():
    rows_path = temp_path("connections.csv")
    with Server() as server:
        r = run_client("-p", server.port, "-c", 400, "-n", 2000, "--connect-arrival", "poisson", "-r", 100, "-t", 0.2,
                       "--connections-out", rows_path, "127.0.0.1")
    check_conservation(r)
    c, t = r.json["connections"], r.json["latency_ns"]
    check_equal((c["proven"], c["held"]), (400, 0), "connections, and those held back")
    check_equal([t[name]["count"] for name in ("open_lag", "due_to_connected", "due_to_answered", "open_to_answered",
                                               "due_to_secured")], [400, 400, 400, 400, 0], "connections that were timed")
    check("400 connections at 2,000/s (Poisson), 0 held back" in r.err, r.err)
    rows = read_rows(rows_path)
    for name in ("due_to_connected", "due_to_answered"):
        longest_us = max(float(row[f"{name}_us"]) for row in rows)
        check(abs(longest_us * 1000 - t[name]["max"]) < 2, f"{name} of the rows: {longest_us} us, {t[name]}")
    check(all(float(row["due_to_answered_us"]) >= float(row["due_to_connected_us"]) > 0 for row in rows), "in this order")
    due = sorted(float(row["due_s"]) for row in rows)
    check_between(due[-1] - due[0], 0.14, 0.28, "400 arrivals at 2,000/s")  # 0.2 s; its standard deviation is 0.01 s


def test_connections_held_back_by_the_connect_window_are_counted():
    """300 connections arrive within 0.3 ms, and one at a time is opened: the others wait for the window."""
    with Server() as tcpserver:
        r = run_client("-p", tcpserver.port, "-c", 300, "-n", "1M", "--connect-arrival", "constant", "--connect-window", 1,
                       "--threads", 1, "127.0.0.1", "-t", 0.1)
    check_conservation(r)
    check_between(r.json["connections"]["held"], 100, 300, "held back: 300 arrive within 0.3 ms")
    check(r.json["latency_ns"]["open_lag"]["p50"] > 0, "they were opened late")


if __name__ == "__main__":
    main()
