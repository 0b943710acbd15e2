# SPDX-License-Identifier: MIT
"""Reports the results of bench/compare: tables, the project's targets, JSON and a picture.

A case is {"case": text, "reference": program, "runs": {program: [figures of a run, ...]}}."""

import datetime
import json
import os
import platform
import statistics
import subprocess

from peers import FIGURES, HEADLINE, SOURCE_DIR

JSON_PATH = os.path.join(SOURCE_DIR, "build/compare.json")
NAME_WIDTH, WIDTH = 24, 10


def values(runs, figure):
    return [r[figure] for r in runs if r.get(figure) is not None]


def median(case, program, figure):
    """None if it was not measured."""
    found = values(case["runs"].get(program, []), figure) if case else []
    return statistics.median(found) if found else None


def ratio(case, program, figure, reference=None):
    a = median(case, program, figure)
    b = median(case, reference or case["reference"], figure) if case else None
    return a / b if a is not None and b else None


def spread_percent(runs, figure):
    found = values(runs, figure)
    middle = statistics.median(found) if found else 0
    return (max(found) - min(found)) / middle * 100 if middle else None


def number(x, decimals=None):
    if x is None:
        return "-"
    if x == float("inf"):
        return ">"
    if decimals is None:
        decimals = 0 if abs(x) >= 1000 or x == int(x) else 1 if abs(x) >= 100 else 2 if abs(x) >= 1 else 4
    return f"{x:,.{decimals}f}"


def print_case(case):
    """Ratios of the headline figures, the spread of the rate (largest - smallest, of the median), medians."""
    print(f"\n{case['case']}")
    if not case["runs"]:
        return
    figures = [f for f in FIGURES if any(values(r, f) for r in case["runs"].values())]
    ratios = [f for f in HEADLINE if f in figures]
    titles = [f"x {FIGURES[f]}" for f in ratios] + [FIGURES[f] for f in figures]
    titles.insert(len(ratios) + 1, "spread %")
    print(f"{'':{NAME_WIDTH}}" + "".join(f"{t:>{WIDTH}}" for t in titles))
    for program, runs in case["runs"].items():
        cells = [number(ratio(case, program, f), 2) for f in ratios]
        cells += [number(median(case, program, f)) for f in figures]
        cells.insert(len(ratios) + 1, number(spread_percent(runs, "rate"), 1))
        print(f"{program:{NAME_WIDTH}}" + "".join(f"{c:>{WIDTH}}" for c in cells), flush=True)


# --- targets ---

def find(results, section, *words):
    """The section's case whose title has all of these words."""
    for case in results.get(section, []):
        if all(word in case["case"] for word in words):
            return case
    return None


def at_least(got, bound):
    return None if got is None else got >= bound


def at_most(got, bound):
    return None if got is None else got <= bound


def all_of(*judgements):
    return None if None in judgements else all(judgements)


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
    for words in ("1000 kq/s", "over 5 "), ("1000 kq/s", "over 2,000 "):
        client = find(results, "clients", *words, "to tcpserver")
        server = find(results, "clients", *words, "from the floor's client")
        for case, program in (client, "tcpclient"), (server, "tcpserver"):
            rate, figure = ratio(case, program, "rate"), "cpu" if program == "tcpclient" else "server_cpu"
            cpu = ratio(case, program, figure)
            title = f"2  {program}, {' '.join(words).strip()}"
            yield f"{title}: >= 0.9 of the floor's rate", number(rate, 2), at_least(rate, 0.9)
            yield f"{title}: <= 1.2 of its CPU per query", number(cpu, 2), at_most(cpu, 1.2)
    for n in "5", "2,000", "10,000":
        kept = ratio(find(results, "limits", f"over {n} "), "tcpclient", "rate")
        yield f"2  limit over {n}: >= 0.9 of the floor's", number(kept, 2), at_least(kept, 0.9)


def dnsperf_targets(results):
    for name in "unbound", "nsd", "knot":
        case = find(results, "dns", name, "2,000", "in flight")
        rate, cpu = ratio(case, "tcpclient", "rate"), ratio(case, "tcpclient", "cpu")
        yield (f"3  {name}, 2,000: >= 0.95 of dnsperf's rate, <= 1.05 of its CPU per query",
               f"{number(rate, 2)} x rate, {number(cpu, 2)} x CPU", all_of(at_least(rate, 0.95), at_most(cpu, 1.05)))


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
               f"{number(rate, 2)}, {number(dropped)} rows lost", at_least(rate, 0.9) and not dropped)


def print_targets(results):
    print("\n=== targets")
    for rows in rate_targets, floor_targets, dnsperf_targets, server_targets, raw_targets:
        for title, got, met in rows(results):
            if met is not None:
                print(f"{'met' if met else 'NOT MET':8} {title:78} {got}")


# --- JSON and picture ---

def write_json(name, cases, about):
    """A section replaces what an earlier run wrote of it; each says when and how it was measured."""
    sections = read_json().get("sections", {})
    sections[name] = {**about, "ended": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
                      "kernel": platform.release(), "cpus": os.cpu_count(), "cases": cases}
    os.makedirs(os.path.dirname(JSON_PATH), exist_ok=True)
    with open(JSON_PATH, "w") as f:
        json.dump({"schema": 1, "sections": sections}, f, indent=1)


def read_json():
    if not os.path.exists(JSON_PATH):
        return {}
    with open(JSON_PATH) as f:
        return json.load(f)


def block(name, rows):
    return f"${name} << EOD\n" + "".join(" ".join(map(str, r)) + "\n" for r in rows) + "EOD\n"


def quoted(text):
    return '"' + text.replace(" ", "\\n").replace("_", " ") + '"'


def bars(title, ylabel, name, programs):
    plots = ", ".join(f'"${name}" using {i + 2}:xtic(1) title "{p}"' for i, p in enumerate(programs))
    return (f'set title "{title}"; set ylabel "{ylabel}"\n'
            f"set style data histogram; set style fill solid 0.7\nplot {plots}\n")


def or_nan(x):
    return "NaN" if x is None or x == float("inf") else x


def table_of(cases, programs, figure):
    return [(quoted(label), *(or_nan(median(case, p, figure)) for p in programs)) for label, case in cases]


def picture_script(sections):
    def case(section, *words):
        return find(sections, section, *words)
    pair = "floor", "tcpclient"
    panels = {
        "limit": ("Rate kept up, one thread", "kq/s", pair, "rate",
                  [(f"{n}_conns", case("limits", f"over {n} ")) for n in ("5", "2,000", "10,000")]),
        "cost": ("CPU per query, client", "us", pair, "cpu",
                 [(f"{k}_kq/s {n}_conns", case("clients", f"{k} kq/s", f"over {n} ", "to tcpserver"))
                  for k, n in ((1000, "5"), (1000, "2,000"), (300, "2,000"), (300, "10,000"))]),
        "flood": ("6-byte messages a second", "thousands", ("floor", "tcpserver", "nginx stream proxy", "socat"),
                  "rate", [(f"{n}_conns {b}_per_send", case("servers", f"over {n}, {b} per send"))
                           for n, b in (("5", 1), ("5", 16), ("1,000", 1))]),
        "dns": ("Answers a second over 2,000 connections, server on one CPU", "kq/s",
                ("dnsperf", "tcpclient"), "rate",
                [(name, case("dns", name, "2,000", "in flight")) for name in ("unbound", "nsd", "knot")]),
    }
    script = ""
    for name, (title, ylabel, programs, figure, cases) in panels.items():
        cases = [(label, c) for label, c in cases if c and c["runs"]]
        if cases:
            script += block(name, table_of(cases, programs, figure)) + bars(title, ylabel, name, programs)
    return script


def draw(path):
    sections = {name: s["cases"] for name, s in read_json()["sections"].items()}
    script = picture_script(sections)
    if not script:
        return
    head = (f'set terminal pngcairo size 1200,900 font "sans,10"; set output "{path}"\n'
            "set multiplot layout 2,2; set grid ytics; set yrange [0:*]; set key above; set bmargin 4\n")
    try:
        subprocess.run(["gnuplot", "-"], input=head + script, text=True, check=True)
    except FileNotFoundError:
        print("SKIP the picture: gnuplot is not installed")
    else:
        print(f"The picture: {path}")
