#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Searches of servers whose capacity is known, with tcpclient's --find in virtual time: what they find, and how they end.
Usage: searches.py SIM [--ends]   --ends: the short ones"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile


def check(right, what):
    if not right:
        sys.exit(f"not so: {what}")


def check_trials(result, rows, low, high):
    """The trials are in the range, judged by their own counts, and the same in JSON and CSV."""
    s = result["search"]
    check([(r["step"], float(r["load"]), r["class"]) for r in rows] == [(t["step"], t["load"], t["class"] or "") for t in s["trials"]],
          f"the same in CSV and JSON: {rows}, {s['trials']}")
    for t in s["trials"]:
        counts = [t[key] for key in ("scheduled", "lost", "behind", "grew", "syn_retransmits", "not_opened")]
        if t["step"] == "overload":
            check(counts == [None] * 6, f"nothing is counted of {t}")
        else:
            check(None not in counts and t["lost"] <= t["scheduled"], f"counts of {t}")
        check(low <= t["load"] <= high, f"load of {t}")
        check(t["class"] != "good" or (t["reason"], t["grew"]) == (None, False), f"a good trial: {t}")


def search(server, low, high, *options):
    """With this server (scenario.h).  Returns the exit code, the JSON result, and stderr."""
    with tempfile.TemporaryDirectory() as d:
        paths = {name: os.path.join(d, name) for name in ("json", "csv", "err")}
        with open(paths["err"], "w+") as err:
            # without waiting awake, which takes six times as much CPU time
            argv = [sys.argv[1], "--world", server, "--program", "--pace", "sleep", "--timeout", "5s", "--find-range", f"{low}-{high}",
                    *options, "--json", paths["json"], "--find-out", paths["csv"], "127.0.0.1:4242"]
            code = subprocess.run(argv, stdout=err, stderr=err).returncode
            err.seek(0)
            said = err.read()
        check(code in (0, 3), f"{server}: {code}: {said}")
        with open(paths["json"]) as result, open(paths["csv"]) as rows:
            r = json.load(result)
            check_trials(r, list(csv.DictReader(rows)), low, high)
    s = r["search"]
    print(f"{server or 'nothing fails'}: {s['status']}, {s['lower']} to {s['upper']}, {len(s['trials'])} trials")
    return code, r, said


def check_end(code, r, said, expected_code, **expected):
    found = {key: r["search"][key] for key in expected}
    check((code, found) == (expected_code, expected), f"{code}, {found}, expected {expected_code}, {expected}: {said}")


def nothing_fails():
    code, r, said = search("", 100, 200, "-c", "10", "--find", "rate", "--find-time", "40s")
    check_end(code, r, said, 0, status="at-least", lower=200, upper=None)
    check("at least 200 q/s" in said, f"summary: {said}")
    check(not any(t["ended_early"] for t in r["search"]["trials"]), "a trial whose goals are met lasts as long as ordered")


def a_stall_is_no_growing_queue():
    """2,000 answers per second can be made, but every 1.7 s none is for 0.2 s: a queue of 200 drains as fast."""
    code, r, said = search("service_us=500 stall_every_us=1700000 stall_us=200000", 500, 1000, "-c", "20", "--find", "rate", "--slo",
                           "p50<50ms", "--find-time", "2m")
    check_end(code, r, said, 0, status="at-least", lower=1000, upper=None)
    check(not any(t["grew"] for t in r["search"]["trials"]), f"a stall is taken for a growing queue: {r['search']['trials']}")


def what_may_be_chance_is_not_confirmed():
    """It stalls for 3 s of every 10 s, and some 40 % of the queries are late: all of them, then none. Which it will be in
    the next minute, no minute tells."""
    code, r, said = search("service_us=500 stall_every_us=10000000 stall_us=3000000", 450, 500, "-c", "20", "--find", "rate", "--slo",
                           "p50<50ms", "--find-time", "5m")
    check_end(code, r, said, 3, status="inconclusive", reason="unconfirmed", limited_by="p50<50ms")
    confirmations = [t for t in r["search"]["trials"] if t["step"] == "confirm"]
    check("in-doubt" in [t["reason"] for t in confirmations], f"confirmations: {confirmations}")
    for t in confirmations:
        check(t["class"] == "bad", f"a confirmation in which {t['exceeding'][0]} of {t['scheduled']} were late: {t}")


def steady_losses_are_no_chance():
    """One query in 100 is lost. None is counted as lost in the first 5 s, the timeout, and those of 5 s after the last one was due."""
    code, r, said = search("lost_permille=10", 500, 1000, "-c", "10", "--find", "rate", "--slo", "lost<1.3%", "--find-width", "5%",
                           "--find-time", "110s")
    check_end(code, r, said, 0, status="at-least", lower=1000, upper=None)
    confirmations = [t for t in r["search"]["trials"] if t["step"] == "confirm"]
    check([t["class"] for t in confirmations] == ["good"], f"confirmations: {confirmations}")


def losses_are_no_growing_queue():
    """One query in 10 is lost, and in flight for 30 s: after 15 s that is 300 queries, after 45 s 600."""
    code, r, said = search("lost_permille=100", 100, 200, "-c", "10", "--find", "rate", "--slo", "lost<15%", "--find-width", "5%",
                           "--find-time", "10m", "--timeout", "30s")
    check_end(code, r, said, 0, status="at-least", lower=200, upper=None)
    check(not any(t["grew"] for t in r["search"]["trials"]), f"losses are taken for a growing queue: {r['search']['trials']}")


def lost_connections_are_no_growing_queue():
    """Likewise: each waits 30 s for its answer, so 200 per second have 900 waiting after 15 s, and 1,800 after 45 s."""
    code, r, said = search("lost_permille=300", 100, 200, "--find", "connect-rate", "--close", "rst", "--slo", "lost<40%", "--find-width",
                           "5%", "--find-time", "10m", "--timeout", "30s", "--max-connections", "4000")
    check_end(code, r, said, 0, status="at-least", lower=200, upper=None)
    check(not any(t["grew"] for t in r["search"]["trials"]), f"losses are taken for a growing queue: {r['search']['trials']}")


def slow_answers_are_no_growing_queue():
    """Each takes 0.9 s: 0.5 s after the start of a trial, half as many measured ones are in flight as later, but with those before
    the start as many."""
    code, r, said = search("latency_us=450000", 400, 800, "-c", "10", "--find", "rate", "--find-time", "100s")
    check_end(code, r, said, 0, status="at-least", lower=800, upper=None)
    check(not any(t["grew"] for t in r["search"]["trials"]), f"time is taken for a growing queue: {r['search']['trials']}")


def a_queue_grows_before_anything_is_late():
    """The control: without a limit only the queue tells that 2,200 q/s are too much. One query in 200 is lost, too."""
    code, r, said = search("service_us=500 lost_permille=5", 1000, 4000, "-c", "20", "--find", "rate", "--slo", "lost<1%", "--find-time",
                           "3m", "--timeout", "2s")
    check_end(code, r, said, 0, status="found", limited_by="queue")
    check(1900 < r["search"]["lower"] < r["search"]["upper"] < 2250, f"bounds: {r['search']['lower']}, {r['search']['upper']}")


def nothing_is_fast():
    """An answer takes 40 ms. A short trial has 1,000 queries, of which 10 may take longer than 10 ms: 0.1 s shows that it is bad."""
    code, r, said = search("latency_us=20000", 100, 200, "-c", "10", "--find", "rate", "--slo", "p99<10ms", "--find-time", "500s")
    s = r["search"]
    check_end(code, r, said, 3, status="less-than", upper=100, limited_by="p99<10ms")
    for t in s["trials"]:
        check(t["ended_early"] and t["duration_s"] < 3, f"ended once that was known: {t}")
        check(t["class"] == "bad" and t["exceeding"][0] == t["scheduled"] > 10, f"what was due until then is judged: {t}")
        check(0.5 * t["load"] * t["duration_s"] < t["scheduled"] < 1.5 * t["load"] * t["duration_s"], f"queries due: {t}")
    check(s["elapsed_s"] < 5 * len(s["trials"]), f"took {s['elapsed_s']} s")


def too_few_connections_are_allowed():
    """Each takes 1 s: of 300 per second, 100 are in progress and 200 not begun. 10 % of the 9,000 of a trial are not after 4.5 s."""
    code, r, said = search("latency_us=250000", 300, 600, "--find", "connect-rate", "--close", "rst", "--slo", "p99<3s",
                           "--max-connections", "100", "--find-time", "2m")
    check_end(code, r, said, 3, status="inconclusive", reason="void-trials", limited_by="generator-limited", bound_by="max-connections")
    check("the --max-connections limit was reached at 300 connections/s: raise it" in said, f"summary: {said}")
    for t in r["search"]["trials"]:
        check(t["ended_early"] and 4.5 <= t["duration_s"] < 8, f"ended once that was known: {t}")
        check(t["behind"] > 900, f"not begun: {t}")


def connections_that_never_began_are_not_lost_by_the_server():
    """Likewise: no more than 100 per second. In many trials at up to 100 a few are not begun, but fewer than 10 %."""
    code, r, said = search("latency_us=250000", 50, 200, "--find", "connect-rate", "--close", "rst", "--slo", "lost<0.1%",
                           "--max-connections", "100", "--find-time", "4m", "--timeout", "3s")
    check_end(code, r, said, 3, status="inconclusive", reason="void-trials", upper=None, bound_by="max-connections")
    check("bad" not in [t["class"] for t in r["search"]["trials"]], f"a server that answers all: {r['search']['trials']}")


def nothing_is_good():
    """One query in 20 is lost."""
    code, r, said = search("lost_permille=50", 2000, 4000, "-c", "10", "--find", "rate", "--slo", "lost<2%", "--find-time", "3m",
                           "--timeout", "500ms")
    check_end(code, r, said, 3, status="less-than", lower=None, upper=2000, capacity=None, limited_by="lost<2%")
    check(r["reasons"] == ["inconclusive"], f"reasons: {r['reasons']}")
    for t in r["search"]["trials"]:
        deviation = math.sqrt(t["scheduled"] * 0.05 * 0.95)
        check(abs(t["lost"] - 0.05 * t["scheduled"]) <= 4 * deviation, f"lost, one in 20: {t}")


def a_server_takes_20_connections():
    """And resets the others."""
    code, r, said = search("most_served=20", 10, 40, "--find", "connections", "-r", "100", "--find-width", "10%", "--connect-timeout",
                           "300ms", "--find-time", "100s")
    s = r["search"]
    check_end(code, r, said, 0, status="found", limited_by="connections", unit="connections")
    check(18 <= s["lower"] <= 20 < s["upper"] <= 22, f"bounds: {s['lower']} to {s['upper']}")


def a_server_accepts_30_connections(threads=1):
    """And no others when some of these are closed: the search must keep what it holds."""
    code, r, said = search("most_accepted=30 accept_queue=5", 10, 60, "--find", "connections", "-r", "100", "--find-width", "10%",
                           "--connect-timeout", "300ms", "--find-time", "150s", "--threads", str(threads))
    check_end(code, r, said, 0, status="found", lower=30, limited_by="connections")
    check(31 <= r["search"]["upper"] <= 34, f"upper bound: {r['search']['upper']}")


def threads_keep_what_they_hold():
    """The 30 connections are those that asked first, not the same number in each thread."""
    a_server_accepts_30_connections(threads=7)


def queue_wait(per_s, capacity, share):
    """How long the slowest `share` of the queries of an M/D/1 queue are at least under way, in seconds (Erlang 1909)."""
    service, rho = 1 / capacity, per_s / capacity

    def at_most(wait):
        total = 0.0
        for k in range(int(wait / service) + 1):
            x = per_s * (wait - k * service)
            total += math.exp(x + (k * math.log(x) if x > 0 else (0 if k == 0 else -1e9)) - math.lgamma(k + 1)) * (-1) ** k
        return (1 - rho) * total
    low, high = 0.0, 30 * service
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(middle) < 1 - share else (low, middle)
    return low + service


def capacity_of_a_queue():
    """2,000 answers per second, one after the other: 10 % take longer than 10 ms, with the way of 0.1 ms, at 94 % of that."""
    return max(r for r in range(1000, 2000, 10) if queue_wait(r, 2000, 0.1) + 0.0001 < 0.01)


def out_of_time_the_bounds_so_far_are_confirmed():
    """They may lack the width, or only some of the trials that decide them; the summary says which."""
    for width, is_wide, line in (("2%", True, "the bounds were within 2 %;"), ("10%", False, "all trials at these bounds were done;")):
        code, r, said = search("service_us=500", 500, 8000, "-c", "20", "--find", "rate", "--slo", "p90<10ms,lost<1%", "--find-width",
                               width, "--find-time", "80s")
        s = r["search"]
        check_end(code, r, said, 0, status="found", reason=None, confirmed=True)
        check((1 - s["lower"] / s["upper"] > s["width"]) == is_wide, f"bounds: {s}")
        check(s["lower"] < capacity_of_a_queue() < s["upper"], f"bounds: {s}")
        check("time ran out before " + line in said, f"summary: {said}")


def a_recovery_ends_in_time():
    """Too few seconds are left to tell that the server does not recover."""
    code, r, said = search("service_us=500", 500, 8000, "-c", "20", "--find", "rate", "--slo", "p90<10ms,lost<1%", "--find-width", "10%",
                           "--find-time", "44s", "--timeout", "60s")
    check_end(code, r, said, 0, status="found", recovers=None)
    check(r["search"]["elapsed_s"] <= 44, f"took {r['search']['elapsed_s']} s")


def the_capacity_of_a_queue():
    capacity = capacity_of_a_queue()
    code, r, said = search("service_us=500", 500, 8000, "-c", "20", "--find", "rate", "--slo", "p90<10ms,lost<1%", "--find-width", "10%",
                           "--find-time", "150s")
    s = r["search"]
    check_end(code, r, said, 0, status="found", confirmed=True, find="rate", unit="q/s", slo=["p90<10ms", "lost<1%"])
    check(abs(s["capacity"] / capacity - 1) <= 0.05, f"capacity: {s['capacity']}, {capacity} by theory")
    check(s["lower"] < s["capacity"] < s["upper"] and 1 - s["lower"] / s["upper"] <= 0.1, f"bounds: {s}")
    check(s["limited_by"] in ("p90<10ms", "queue"), f"limited by {s['limited_by']}")
    check_steps(s)
    check("time ran out" not in said, f"summary: {said}")
    check("Capacity " in said and "sustained" in said and "trial " in said and "limit " in said, f"summary and progress: {said}")


def check_steps(s):
    """A fifth of the time, or more, confirms 97.5 % of the capacity; an overload follows, and the recovery from it."""
    confirmations = [t for t in s["trials"] if t["step"] == "confirm"]
    check("good" in [t["class"] for t in confirmations], f"confirmations: {confirmations}")
    for t in confirmations:
        check(0.974 * s["capacity"] <= t["load"] <= 0.976 * s["capacity"] and 30 <= t["duration_s"] <= 60, f"confirmation: {t}")
    overloads = [t for t in s["trials"] if t["step"] == "overload"]
    check(len(overloads) == 1 and 1.49 * s["lower"] <= overloads[0]["load"] <= 1.51 * s["lower"], f"overloads: {overloads}")
    check(s["recovers"] and 0 <= s["recovery_s"] < 60, f"recovery: {s['recovers']}, {s['recovery_s']} s")


LONG = (a_stall_is_no_growing_queue, what_may_be_chance_is_not_confirmed, steady_losses_are_no_chance, losses_are_no_growing_queue,
        lost_connections_are_no_growing_queue, slow_answers_are_no_growing_queue, a_queue_grows_before_anything_is_late,
        out_of_time_the_bounds_so_far_are_confirmed, a_recovery_ends_in_time, the_capacity_of_a_queue)

for case in (nothing_fails, nothing_is_fast, too_few_connections_are_allowed, connections_that_never_began_are_not_lost_by_the_server,
             nothing_is_good, a_server_takes_20_connections, a_server_accepts_30_connections, threads_keep_what_they_hold,
             *(() if "--ends" in sys.argv else LONG)):
    case()
