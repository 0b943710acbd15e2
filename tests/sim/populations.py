#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Connections that follow a schedule, are replaced, or are of different classes, and what the verdict says, with tcpclient's
options in virtual time, where the numbers are exact.
Usage: populations.py SIM"""
import csv
import json
import os
import subprocess
import sys
import tempfile


def run(directory, *options, world="latency_us=50", expected=0):
    """The result, and the rows of --connections-out."""
    files = {name: os.path.join(directory, name) for name in ("json", "csv", "err")}
    with open(files["err"], "w+") as err:
        status = subprocess.run([sys.argv[1], "--world", world, "--program", *options, "--json", files["json"], "--connections-out", files["csv"],
                                 "127.0.0.1:4242"], stdout=err, stderr=err).returncode
        err.seek(0)
        check(status == expected, f"{options}: {status}: {err.read()}")
    with open(files["json"]) as result, open(files["csv"]) as rows:
        return json.load(result), list(csv.DictReader(rows))


def check(right, what):
    if not right:
        sys.exit(f"not so: {what}")


def values(of, *keys):
    return tuple(of[key] for key in keys)


def off_the_order(rows, order):
    """By how many queries a connection is off 20 per second of its life, at most, if they go in this order from 2 s to 3 s."""
    came_s = [max(0, (n - 100) / 200) for n in range(300)]
    return max(abs(int(rows[n]["queries"]) - 20 * (2 + k / 300 - came_s[n])) for k, n in enumerate(order))


def follow_a_schedule(directory):
    """100 to 300 connections in a second, held for one, and away in another: the oldest go first, number n at 2 s + n / 300 s."""
    scheduled = []
    for loop in (), ("--loop", "closed"):
        r, rows = run(directory, "--conn-schedule", "1s:100-300,1s:300,1s:300-0", "-i", "50ms", "--threads", "1", *loop)
        check(values(r["connections"], "asked", "reopened", "connected") == (300, 0, 300), f"connections: {r['connections']}")
        check(r["connections"]["outcomes"] == {"run/finished": 300}, f"ends: {r['connections']['outcomes']}")
        check(r["connections"]["live_at_end"] == r["connections"]["wanted_at_end"] <= 3, "they go to the end")
        check(values(r["queries"], "unsent", "cancelled") == (0, 0), f"those that go have their answers first: {r['queries']}")
        scheduled.append(r["queries"]["scheduled"])
        off = off_the_order(rows, range(300))
        check(off <= 8, f"the oldest go first: off by {off:.1f} queries")
        check(off_the_order(rows, range(299, -1, -1)) > 20, "the control: the newest first")
        print(f"{' '.join(loop)}: {r['queries']['scheduled']} queries, of a connection off by at most {off:.1f}")
    check(scheduled[1] < scheduled[0] <= 20 * 650, f"queries, and in a closed loop, which waits for answers: {scheduled}")


def use_a_slot_again(directory):
    """Falls and rises again: 100 connections go, and 200 are opened in their slots and in new ones."""
    r, _ = run(directory, "--conn-schedule", "500ms:200-100,100ms:100,500ms:100-300,100ms:300", "-r", "1000")
    c = values(r["connections"], "asked", "reopened", "connected", "live_at_end")
    check(c == (300, 100, 400, 300), f"connections: {c}")
    check(values(r["queries"], "unsent", "cancelled") == (0, 0), f"queries: {r['queries']}")
    check(r["latency_ns"]["gap"]["count"] == 0, "nobody is missed in between")


def wait_for_a_slot(directory):
    """All but one of 100 connections go, and as many are opened 20 ms later. Answers take 100 ms: the slots are not free yet."""
    options = "--conn-schedule", "500ms:100,20ms:1,480ms:100", "-i", "40ms"
    r, _ = run(directory, *options, world="latency_us=50000")
    q, c = r["queries"], r["connections"]
    check(values(c, "reopened", "connected", "live_at_end") == (99, 199, 100), f"connections: {c}")
    check(q["answered"] == q["scheduled"] - q["unsent"] > 1500, f"those that go have their answers first: {q}")
    check(c["outcomes"] == {"run/finished": 199}, f"ends: {c['outcomes']}")


def leave_time_for_queries(directory):
    """3,000 of 3,100 connections open at once, and go at once. A system call takes 10 us here: the going would take 30 ms or more in one
    go, and opening 256 takes 18 ms."""
    for schedule, most_ms in ("1500ms:100,1500ms:3100", 3), ("500ms:3100,500ms:100", 10):
        r, _ = run(directory, "--conn-schedule", schedule, "-r", "2000", "--threads", "1", "--require", "p50", world="latency_us=50 call_ns=10000")
        check(r["connections"]["outcomes"] == {"run/finished": 3100}, f"ends: {r['connections']['outcomes']}")
        late_ms = r["latency_ns"]["send_lag"]["max"] / 1e6
        check(late_ms < most_ms, f"{schedule}: a query was sent {late_ms} ms late")


def begin_with_none(directory):
    """A query each 200 ms of each: 100 / 2 x 0.5 s + 100 x 0.5 s, but the one at 0 s, when there is nobody."""
    r, _ = run(directory, "--conn-schedule", "500ms:0-100,500ms:100", "-i", "200ms")
    check(values(r["queries"], "scheduled", "unsent") == (374, 0), f"queries: {r['queries']}")
    check(r["connections"]["live_at_end"] == 100, "live at the end")
    check(r["reasons"] == [], f"reasons: {r['reasons']}")


def replace_each_in_time(directory):
    """As many connections as the queries need, and one is there for each query."""
    for n in 1, 5:
        r, _ = run(directory, "-c", "200", "-r", "500", "-t", "2", "--queries-per-conn", str(n))
        connected, q = r["connections"]["connected"], r["queries"]
        check(q["answered"] == q["scheduled"] > 800, f"queries: {q}")
        check(0 <= connected * n - q["answered"] <= 200 * n, f"{connected} connections for {q['answered']} queries")
        check(r["latency_ns"]["gap"]["count"] == connected - 200, f"gaps: {r['latency_ns']['gap']['count']}")


def wait_longer_between_attempts_up_to_a_maximum(directory):
    """All are refused. Waits 50 to 100 ms after the first attempt, 100 to 200 ms after each later one: 200 in 30 s."""
    r, _ = run(directory, "-c", "1", "-r", "10", "-t", "30", "--reconnect", "--backoff", "100ms-200ms",
               world="latency_us=50 refused_permille=1000", expected=3)
    attempted, outcomes, q = r["connections"]["attempted"], r["connections"]["outcomes"], r["queries"]
    check(abs(attempted - 200) <= 10, f"attempts: {attempted}")
    check(sum(outcomes.values()) == attempted and all(name.startswith("connect/") for name in outcomes), f"ends: {outcomes}")
    check(q["unsent"] == q["scheduled"] > 200, f"queries: {q}")


def arrive_alike_with_any_number_of_threads(directory):
    """One sequence for all threads: with processes of their own, 16 threads would take 1.4 s on average."""
    due_s = {}
    for threads in 1, 16:
        r, rows = run(directory, "-c", "320", "-n", "320", "--connect-arrival", "poisson", "--seed", "7", "--threads", str(threads),
                      "-r", "10", "-t", "1")
        due_s[threads] = sorted(float(row["due_s"]) for row in rows)
    shift = due_s[16][0] - due_s[1][0]
    off = max(abs(b - a - shift) for a, b in zip(due_s[1], due_s[16]))
    check(len(due_s[1]) == 320 and off < 1e-5, f"arrivals of 1 and of 16 threads are up to {off} s apart")


def classes_have_their_own_intervals(directory):
    """In a closed loop: a connection asks one interval after its answer, which takes about 0.2 ms."""
    r, _ = run(directory, "-c", "100", "-t", "2", "--loop", "closed", "--class", "name=a,share=70%,interval=180ms", "--class",
               "name=b,share=30%,interval=50ms")
    for name, n, interval_s in (("a", 70, 0.18), ("b", 30, 0.05)):
        scheduled = r["classes"][name]["queries"]["scheduled"]
        check(abs(scheduled - n * 2 / interval_s) <= 0.01 * n * 2 / interval_s + 1, f"queries of {name}: {scheduled}")


def what_times_out_after_the_load_is_not_missed(directory):
    """Connections that lose a query in the last second are closed after the load, when no others are opened."""
    options = "-c", "10", "-r", "500", "-t", "4", "--timeout", "1", "--on-timeout", "close", "--prove", "no"
    r, _ = run(directory, *options, "--reconnect", "--backoff", "1ms-10ms", world="lost_permille=100")
    check(r["connections"]["live_at_end"] < 10 and r["reasons"] == [], f"reasons: {r['reasons']}, connections: {r['connections']}")
    r, _ = run(directory, *options, world="lost_permille=100", expected=3)
    check("connections-short" in r["reasons"], f"the control, where none is replaced: {r['reasons']}")


def more_connections_are_no_growing_queue(directory):
    """An answer takes 0.4 s: with 200 connections 80 queries are in flight, with 400 twice as many."""
    r, _ = run(directory, "--conn-schedule", "2s:100-700", "-i", "600ms", "--loop", "closed", "--prove", "no", world="latency_us=200000")
    check(r["reasons"] == [], f"reasons: {r['reasons']}")


def losses_are_no_growing_queue(directory):
    """Three queries in 10 are lost, and in flight for 2 s: after 1 s that is 300 queries, after 3 s 600."""
    options = "-c", "10", "-r", "1000", "-t", "4", "--timeout", "2", "--prove", "no"
    r, _ = run(directory, *options, world="lost_permille=300")
    check(r["reasons"] == [], f"reasons: {r['reasons']}")
    r, _ = run(directory, *options, world="lost_permille=300 service_us=2000", expected=3)
    check(r["reasons"] == ["non-stationary"], f"the control, where only 500 per second are served: {r['reasons']}")


with tempfile.TemporaryDirectory() as d:
    for case in (follow_a_schedule, use_a_slot_again, wait_for_a_slot, leave_time_for_queries, begin_with_none, replace_each_in_time,
                 wait_longer_between_attempts_up_to_a_maximum, arrive_alike_with_any_number_of_threads, classes_have_their_own_intervals,
                 what_times_out_after_the_load_is_not_missed, more_connections_are_no_growing_queue, losses_are_no_growing_queue):
        case(d)
