# SPDX-License-Identifier: MIT
"""The project's targets of bench/compare: which were met?

A target is (title, what was measured, whether it is met): None if it was not measured, UNKNOWN if the figures do not show it."""

from compare_report import find, is_at_least, median, number, ratio, value_text

UNKNOWN = "unknown"
WORDS = {True: "met", False: "NOT MET", UNKNOWN: UNKNOWN}


def at_least(got, bound):
    return None if got is None else got >= bound


def at_most(got, bound):
    return None if got is None else got <= bound


def all_of(*judgements):
    return None if None in judgements else all(judgements)


def unless(doubt, met):
    """A target that is met in spite of figures in doubt may be missed."""
    return UNKNOWN if met and doubt else met


def rate_targets(results):
    for n in "5", "2,000":
        case = find(results, "clients", "1000 kq/s", f"over {n} ", "to tcpserver")
        kept, lost = median(case, "tcpclient", "achieved"), median(case, "tcpclient", "lost")
        yield (f"1  1,000 kq/s over {n}: >= 99.9 % of schedule, 0 lost",
               f"{number(kept and kept * 100, 2)} %, {number(lost)} lost",
               all_of(at_least(kept, 0.999), at_most(lost, 0)))
    for n, bound_ms in ("2,000", 20), ("10,000", 150):
        p50 = median(find(results, "clients", "300 kq/s", f"over {n} "), "tcpclient", "p50")
        yield f"1  300 kq/s over {n}: p50 <= {bound_ms} ms", f"{number(p50)} ms", at_most(p50, bound_ms)


def floor_targets(results):
    """CPU time at 20 kq/s: at 1,000 both are busy all the time, and a query takes 1 / rate whatever it costs."""
    for n in "5", "2,000":
        for program, figure, words in (("tcpclient", "cpu", "to tcpserver"), ("tcpserver", "server_cpu", "from the floor's client")):
            rate = ratio(find(results, "clients", "1000 kq/s", f"over {n} ", words), program, "rate")
            cpu = ratio(find(results, "clients", "20 kq/s", f"over {n} ", words), program, figure)
            yield f"2  {program}, 1000 kq/s over {n}: >= 0.9 of the floor's rate", number(rate, 2), at_least(rate, 0.9)
            yield f"2  {program}, 20 kq/s over {n}: <= 1.2 of its CPU per query", number(cpu, 2), at_most(cpu, 1.2)
    for n in "5", "2,000", "10,000":
        case = find(results, "limits", f"over {n} ")
        met = at_least(ratio(case, "tcpclient", "rate"), 0.9)
        yield (f"2  limit over {n}: >= 0.9 of the floor's",
               f"{value_text(case, 'tcpclient', 'rate')}, the floor's {value_text(case, 'floor', 'rate')} kq/s",
               unless(is_at_least(case, "floor"), met))


def dnsperf_targets(results):
    for name in "unbound", "nsd", "knot":
        case = find(results, "dns", name, "2,000", "in flight")
        rate, cpu = ratio(case, "tcpclient", "rate"), ratio(case, "tcpclient", "cpu")
        ours, theirs = (median(case, program, "lost") for program in ("tcpclient", "dnsperf"))
        met = all_of(at_least(rate, 0.95), at_most(cpu, 1.05), at_most(ours, 0))
        yield (f"3  {name}, 2,000: >= 0.95 of dnsperf's rate, <= 1.05 of its CPU, 0 lost",
               f"{number(rate, 2)} x rate, {number(cpu, 2)} x CPU, {number(ours)} lost (dnsperf: {number(theirs)})",
               unless(theirs, met))  # it never reuses the slots of queries that it lost


def server_targets(results):
    for case in (c for c in results.get("servers", []) if c["case"].startswith("flood")):
        rate = ratio(case, "tcpserver", "rate")
        yield f"4  {case['case']}: >= 0.9 of the floor's", number(rate, 2), at_least(rate, 0.9)
    calls = median(find(results, "servers", "epoll_ctl"), "tcpserver", "server_calls")
    yield ("4  tcpserver: one epoll_ctl per connection and one at its end, none per message",
           number(calls, 2), at_most(calls, 2.1))


def raw_targets(results):
    for n in "5", "2,000":
        case = find(results, "raw", f"over {n} ")
        rate, dropped = ratio(case, "tcpclient -R", "rate"), median(case, "tcpclient -R", "dropped")
        yield (f"5  300 kq/s over {n}, -R: >= 0.9 of the rate without, no row lost",
               f"{number(rate, 2)}, {number(dropped)} rows lost", all_of(at_least(rate, 0.9), at_most(dropped, 0)))


def judge(results):
    """Prints those that were measured; returns how many were missed."""
    print("\n=== targets")
    n_missed = 0
    for targets in rate_targets, floor_targets, dnsperf_targets, server_targets, raw_targets:
        for title, got, met in targets(results):
            if met is not None:
                print(f"{WORDS[met]:8} {title:78} {got}")
                n_missed += met is False
    return n_missed
