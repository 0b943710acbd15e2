# SPDX-License-Identifier: MIT
"""Reports the results of bench/compare: tables, JSON and a picture.

A case is {"case": text, "reference": program, "runs": {program: [figures of a run, ...]}}. A run whose rate is the end of a
ladder has the figure at_least: the program sustains that or more. A run of tcpclient has the reasons for which it is SUSPECT."""

import datetime
import json
import os
import platform
import statistics

import picture
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


def is_at_least(case, program):
    return case is not None and any(r.get("at_least") for r in case["runs"].get(program, []))


def spread_percent(runs, figure):
    """None for a single run."""
    found = values(runs, figure)
    middle = statistics.median(found) if len(found) > 1 else 0
    return (max(found) - min(found)) / middle * 100 if middle else None


def doubts(runs):
    """What runs said about themselves, in words, or None."""
    found = [r["reasons"] for r in runs if r.get("reasons")]
    return f"SUSPECT in {len(found)} of {len(runs)} runs: {', '.join(sorted(set().union(*found)))}" if found else None


def number(x, decimals=None):
    if x is None:
        return "-"
    if x == float("inf"):
        return ">"
    if decimals is None:
        decimals = 0 if abs(x) >= 1000 or x == int(x) else 1 if abs(x) >= 100 else 2 if abs(x) >= 1 else 4
    return f"{x:,.{decimals}f}"


def value_text(case, program, figure):
    bound = ">= " if figure == "rate" and is_at_least(case, program) else ""
    return bound + number(median(case, program, figure))


def ratio_text(case, program, figure):
    """If one rate is the end of a ladder, the ratio is a bound; if both are, it is unknown."""
    text, reference = number(ratio(case, program, figure), 2), case["reference"]
    if figure != "rate" or program == reference or text == "-":
        return text
    ours, theirs = is_at_least(case, program), is_at_least(case, reference)
    return "-" if ours and theirs else f">= {text}" if ours else f"<= {text}" if theirs else text


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
        cells = [ratio_text(case, program, f) for f in ratios]
        cells += [value_text(case, program, f) for f in figures]
        cells.insert(len(ratios) + 1, number(spread_percent(runs, "rate"), 1))
        print(f"{program:{NAME_WIDTH}}" + "".join(f"{c:>{WIDTH}}" for c in cells), flush=True)
    for program, runs in case["runs"].items():
        if doubts(runs):
            print(f"{program}: {doubts(runs)}", flush=True)


def find(results, section, *words):
    """The section's case whose title has all of these words."""
    for case in results.get(section, []):
        if all(word in case["case"] for word in words):
            return case
    return None


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
    ends = {r["rate"] for c in sections.get("limits", []) for runs in c["runs"].values() for r in runs if r.get("at_least")}
    panels = {
        "limit": ("Rate kept up, one thread" + "".join(f" ({end:,}: or more)" for end in ends), "kq/s", pair, "rate",
                  [(f"{n}_conns", case("limits", f"over {n} ")) for n in ("5", "2,000", "10,000")]),
        "cost": ("CPU per query, client", "us", pair, "cpu",
                 [(f"{k}_kq/s {n}_conns", case("clients", f"{k} kq/s", f"over {n} ", "to tcpserver"))
                  for k, n in ((20, "2,000"), (1000, "5"), (1000, "2,000"), (300, "2,000"), (300, "10,000"))]),
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
        measured = [p for p in programs if any(or_nan(median(c, p, figure)) != "NaN" for _, c in cases)]
        if measured:  # gnuplot refuses a program without any figure
            script += block(name, table_of(cases, measured, figure)) + bars(title, ylabel, name, measured)
    return script


def draw(sections, path):
    """Of one run: the JSON file may have sections of other programs, --quick or --unpinned. Returns False if gnuplot failed."""
    script = picture_script(sections)
    head = "set multiplot layout 2,2; set grid ytics; set yrange [0:*]; set key above; set bmargin 4\n"
    return not script or picture.draw(path, "1200,900", head + script)
