# SPDX-License-Identifier: MIT
"""tcpreport plot: every picture, and what is missing for one."""

import struct
import xml.etree.ElementTree

from helpers.reports import *


# --- plot ---

PICTURES = {"latency": ("percentile", "response time"),
            "time": ("time since the start of the log, s", "response time"),
            "connect": ("time since connecting began, s", "connections established"),
            "rate": ("requested, queries/s", "queries/s"),
            "capacity": ("load, q/s", "p99 of the response time"),
            "recovery": ("time since the first loss, s", "connections")}


def search_to_plot(directory):
    """The result of a search that is stopped after some trials."""
    with Server() as server:
        r = run_client("-q", "-p", server.port, *spare_source(90), "-c", 10, "--find", "rate", "--find-range", "2k-9k",
                       "--find-time", "9s", "127.0.0.1")
    write_json(f"{directory}/search.json", r.json)
    return f"{directory}/search.json"


def losses_to_plot(directory):
    """Connections that are lost in a second and come back in the next, but for one in ten."""
    path = f"{directory}/lost.csv"
    with open(path, "w") as f:
        f.write("connection_id,source,established_s,lost_s,back_s\n")
        f.writelines(f"{i},127.0.0.1,1,{8 + i / 100},{9 + i / 50 if i % 10 else ''}\n" for i in range(100))
    return [path]


def files_to_plot():
    """{kind: files} of two runs."""
    directory = temp_directory()
    runs_of(directory, *[["-r", 500 * (i + 1), "-t", 2, "-n", 100, "--connections-out",
                          f"{directory}/{i}.conn.csv"] for i in range(2)])
    logs = [f"{directory}/{i}.hlog" for i in range(2)]
    return {"latency": logs, "time": logs, "connect": [f"{directory}/{i}.conn.csv" for i in range(2)],
            "rate": [f"{directory}/{i}.json" for i in range(2)], "capacity": [search_to_plot(directory)],
            "recovery": losses_to_plot(directory)}


def texts_of(svg):
    root = xml.etree.ElementTree.parse(svg)
    return ["".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")]


def check_picture(path, axes):
    with open(path, "rb") as f:
        data = f.read()
    if path.endswith(".png"):
        check_equal((data[:8], data[12:16]), (b"\x89PNG\r\n\x1a\n", b"IHDR"), f"head of {path}")
        check_equal(struct.unpack(">II", data[16:24]), (1000, 620), "its size")
        check(len(data) > 8000, f"{path}: {len(data)} bytes are an empty picture")
        return
    texts = texts_of(path)
    for axis in axes:
        check(axis in texts, f"axis {axis!r} in {texts}")


def marks_of(drawn):
    """What stands for data in the frame of a picture made of characters, or on it."""
    rows = [line for line in drawn.splitlines() if "|" in line or "---" in line]
    left = min(row.index("|") for row in rows if "|" in row)
    return re.sub(r"[^*#$@&A-Z]", "", "".join(row[left:] for row in rows))


def with_length(hlog, length_s):
    """The lines of a log, all intervals of this length."""
    return re.sub(r"^((?:Tag=\w+,)?[\d.]+),[\d.]+,", rf"\g<1>,{length_s:.3f},", hlog, flags=re.M)


@covered_by_others
def test_plot_draws_every_picture():
    need_program("gnuplot")
    files = files_to_plot()
    for kind, axes in PICTURES.items():
        for ending in ("png", "svg"):
            path = temp_path(f"{kind}.{ending}")
            r = report("plot", "--kind", kind, "-o", path, *files[kind])
            check_equal((r.stdout, r.stderr), ("", ""), f"words about {kind}.{ending}")
            check_picture(path, axes)
        drawn = report("plot", "--kind", kind, "--term", *files[kind]).stdout
        check(axes[0] in drawn, f"{axes[0]!r} in {drawn}")
        check(marks_of(drawn), f"a curve in {drawn}")


@covered_by_others
def test_search_of_one_load_is_drawn():
    """gnuplot warns of an axis with a single value."""
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", "300ms"])
    trial = {"step": "double", "load": 2000, "duration_s": 1, "class": "good", "p50_ns": 10**6, "p99_ns": 10**6, "lost": 0}
    change(f"{directory}/0.json", search={"find": "rate", "unit": "q/s", "slo": ["p99<5ms"], "status": "inconclusive",
                                          "reason": "time", "trials": [trial, trial]})
    r = report("plot", "--kind", "capacity", "-o", f"{directory}/trials.svg", f"{directory}/0.json")
    check_equal((r.stdout, r.stderr), ("", ""), "words about the plot")
    check_picture(f"{directory}/trials.svg", (*PICTURES["capacity"], "1.9k", "2.2k", "1 ms"))
    r = report("html", "-o", f"{directory}/page.html", f"{directory}/0.json")
    check_equal((r.stdout, r.stderr), ("", ""), "words about the page")


@covered_by_others
def test_gnuplot_has_nothing_to_say_without_a_locale():
    """As under cron and in containers."""
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", "300ms"])
    files = [f"{directory}/0.{ending}" for ending in ("json", "hlog")]
    for arguments in (["plot", "--term"], ["plot", "-o", f"{directory}/0.png"], ["html", "-o", f"{directory}/0.html"]):
        r = run_command([os.path.abspath(TCPREPORT), *arguments, *files], env={"PATH": os.environ["PATH"]})
        check_equal((r.returncode, r.stderr), (0, ""), arguments)


def test_a_single_value_is_drawn():
    """gnuplot warns of an axis with a single value, and draws no curve of one point."""
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 1, "-t", "100ms", "--arrival", "constant"])
    check_equal(read_json(f"{directory}/0.json")["queries"]["answered"], 1, "the control: answers")
    files = [f"{directory}/0.{ending}" for ending in ("json", "hlog")]
    for kind in ("latency", "time"):
        r = report("plot", "--kind", kind, "--term", *files)
        check_equal(r.stderr, "", f"words about {kind}")
        check(marks_of(r.stdout), f"a mark in {r.stdout}")
    r = report("html", "-o", f"{directory}/page.html", *files)
    check_equal((r.stdout, r.stderr), ("", ""), "words about the page")
    check("No curve: there is only one value." in read_text(f"{directory}/page.html"), "why there is no curve")


def test_a_single_loss_is_drawn():
    """gnuplot warns of an axis of no time."""
    need_program("gnuplot")
    path = temp_path("loss.csv")
    write_text(path, "connection_id,source,established_s,lost_s,back_s\n0,127.0.0.1,1,8,\n")
    r = report("plot", "--kind", "recovery", "-o", temp_path("loss.svg"), path)
    check_equal((r.stdout, r.stderr), ("", ""), "words about the plot")


@covered_by_others
def test_value_on_the_frame_is_drawn():
    """The middle of an interval of two seconds is the end of the axis."""
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 1, "-t", "100ms", "--arrival", "constant"])
    log = f"{directory}/0.hlog"
    for length_s in (2, 0.36, 0.37):
        write_text(log, with_length(read_text(log), length_s))
        check_equal(read_text(log).count(f",{length_s:.3f},"), 5, "intervals")
        drawn = report("plot", "--kind", "time", "--term", log).stdout
        check(marks_of(drawn), f"a mark in {drawn}")


@covered_by_others
def test_bound_of_trials_without_a_p99_is_drawn():
    """Most queries of the bad trial had no answer: there is no point at the upper bound."""
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", "300ms"])
    trial = {"step": "double", "duration_s": 1, "p50_ns": 10**6, "lost": 0}
    trials = [{**trial, "load": 1000, "class": "good", "p99_ns": 10**6}, {**trial, "load": 8000, "class": "bad", "p99_ns": None}]
    for upper, n in ((8000, 2), (None, 1)):
        change(f"{directory}/0.json", search=None)
        change(f"{directory}/0.json", search={"find": "rate", "unit": "q/s", "slo": ["p99<5ms"], "status": "inconclusive", "reason": "time",
                                              "lower": 1000, "upper": upper, "trials": trials})
        r = report("plot", "--kind", "capacity", "-o", f"{directory}/trials.svg", f"{directory}/0.json")
        check_equal((r.stdout, r.stderr), ("", ""), "words about the plot")
        check_equal(read_text(f"{directory}/trials.svg").count("stroke-dasharray"), n, f"dashed lines, upper bound {upper}")


def sweep_of(*capacities):
    """At 100, 1,000, ... connections; the last search reached the end of its range."""
    points = [{"at": 100 * 10**i, "search": {"find": "rate", "unit": "q/s", "slo": ["p99<5ms"], "status": "found", "reason": None,
                                             "capacity": c, "lower": 0.99 * c, "upper": 1.01 * c}} for i, c in enumerate(capacities)]
    points[-1]["search"].update(status="at-least", upper=None)
    return {"over": "connections", "points": points}


@covered_by_others
def test_sweeps_are_curves():
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", "300ms"], ["-r", 500, "-t", "300ms"])
    files = [f"{directory}/{i}.json" for i in range(2)]
    for path, factor in zip(files, (1, 0.5)):
        change(path, search=None, sweep=sweep_of(20000 * factor, 15000 * factor, 9000 * factor), verdict="VALID", reasons=[])
    axes = ["Capacity", "connections", "capacity, q/s"]
    for curves in (files, files[:1]):
        r = report("plot", "--kind", "capacity", "-o", f"{directory}/curves.svg", *curves)
        check_equal((r.stdout, r.stderr), ("", ""), "words about the plot")
        check_picture(f"{directory}/curves.svg", axes)
    out = report("show", files[0]).stdout
    check(re.search(r"^ +1,000 +15,000 q/s +14,850 q/s +15,150 q/s  found$", out, re.M), out)
    check(re.search(r"^ +10,000 +9,000 q/s +8,910 q/s +-  at-least$", out, re.M), out)
    report("html", "-o", f"{directory}/page.html", files[0])
    check("Capacity sweep" in read_text(f"{directory}/page.html"), "the section on the page")
    gap = sweep_of(20000, 15000, 9000)
    gap["points"][1]["search"].update(status="inconclusive", reason="time", capacity=None)
    change(files[1], sweep=gap)
    r = report("plot", "--kind", "capacity", "-o", f"{directory}/curves.svg", files[1])
    check_equal((r.stdout, r.stderr), ("", ""), "words about the plot of a search without an answer")
    check_picture(f"{directory}/curves.svg", axes)
    change(files[1], sweep=sweep_of(9000))
    r = report("plot", "--kind", "capacity", "-o", f"{directory}/curves.svg", files[1])
    check_equal((r.stdout, r.stderr), ("", ""), "words about the plot of one value")


@covered_by_others
def test_bounds_without_an_answer_are_drawn():
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", "300ms"])
    path, picture = f"{directory}/0.json", f"{directory}/bounds.svg"

    def symbols_with(**bounds):
        """How many open circles and triangles (up, down) the picture has, or what tcpreport says instead."""
        sweep = sweep_of(20000, 15000, 9000)
        for point in sweep["points"]:
            point["search"].update(status="inconclusive", reason="time", capacity=None, **bounds)
        change(path, search=None, sweep=sweep, verdict="SUSPECT", reasons=[])
        r = report("plot", "--kind", "capacity", "-o", picture, path, code=None)
        if r.returncode != 0:
            return r.stderr
        check_equal((r.stdout, r.stderr), ("", ""), "words about the plot")
        svg = read_text(picture)
        return tuple(len(re.findall(f"<use [^>]*#gpPt{n}' [^>]*color='rgb", svg)) for n in (5, 7, 9))
    check("no search of this sweep has an answer or a bound" in symbols_with(lower=None, upper=None), "nothing to draw")
    check_equal(symbols_with(lower=9000, upper=12000), (3, 0, 0), "a circle between each two bounds")
    check_equal(symbols_with(lower=9000, upper=None), (0, 3, 0), "a triangle at each lower bound")
    check_equal(symbols_with(lower=None, upper=12000), (0, 0, 3), "a triangle at each upper bound")


@covered_by_others
def test_what_does_not_fit_on_the_axes_is_refused():
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", "300ms"], ["-r", 500, "-t", "300ms"])
    files = [f"{directory}/{i}.json" for i in range(2)]

    def said_of(second):
        change(files[0], search=None, sweep=sweep_of(20000, 15000), verdict="VALID", reasons=[])
        change(files[1], search=None, sweep=second, verdict="VALID", reasons=[])
        return report("plot", "--kind", "capacity", "-o", f"{directory}/x.svg", *files, code=None).stderr
    check_equal(said_of(sweep_of(8000, 6000)), "", "the same axes")
    sizes, rates = sweep_of(8000, 6000), sweep_of(8000, 6000)
    sizes["over"] = "size"
    for point in rates["points"]:
        point["search"].update(find="connect-rate", unit="connections/s")
    for second in (sizes, rates):
        said = said_of(second)
        check("not all sweeps are over the same option" in said and len(said.splitlines()) == 1, said)
    search = {"find": "rate", "unit": "q/s", "slo": ["p99<5ms"], "status": "found", "capacity": 1000, "lower": 990, "upper": 1010,
              "trials": [{"load": 990, "class": "good", "p99_ns": 1000000}]}
    for path, unit in zip(files, ("q/s", "connections")):
        change(path, search={**search, "unit": unit}, sweep=None, verdict="VALID", reasons=[])
    r = report("plot", "--kind", "capacity", "-o", f"{directory}/x.svg", *files, code=2)
    check("not all searches have the same unit" in r.stderr, r.stderr)


def test_curves_of_several_transports_have_their_names():
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", "300ms"])
    names = [f"{directory}/{transport}" for transport in ("udp", "tcp", "tls")]
    for i, name in enumerate(names):
        shutil.copy(f"{directory}/0.json", name + ".json")
        change(name + ".json", search=None, sweep=sweep_of(30000 / (i + 1), 20000 / (i + 1)), verdict="VALID", reasons=[])
    r = report("plot", "--kind", "capacity", "-o", f"{directory}/cost.svg", *[name + ".json" for name in names])
    check_equal((r.stdout, r.stderr), ("", ""), "words about the plot")
    check_picture(f"{directory}/cost.svg", ["Capacity", "connections", "capacity, q/s"])
    check_equal([text for text in texts_of(f"{directory}/cost.svg") if text in names], names, "the legend")


def test_plot_says_what_is_missing():
    need_program("gnuplot")
    files = files_to_plot()
    path = temp_path("picture.png")
    for kind, wrong, text in (("latency", "rate", "--hlog"), ("time", "rate", "--hlog"),
                              ("connect", "latency", "--connections-out"), ("rate", "latency", "--json"),
                              ("recovery", "connect", "--reconnect"),
                              ("capacity", "rate", "--find")):
        r = report("plot", "--kind", kind, "-o", path, *files[wrong], code=2)
        check(text in r.stderr and len(r.stderr.splitlines()) == 1, f"{text!r} in {r.stderr}")
    r = report("plot", "-o", path, "--metric", "nonsense", *files["latency"], code=2)
    check("no values of this metric" in r.stderr, r.stderr)
    without = run_command([os.path.abspath(TCPREPORT), "plot", "-o", path, *files["latency"]], env={"PATH": "/nonexistent"})
    check_equal((without.returncode, without.stderr),
                (2, "tcpreport: gnuplot is not installed (Debian: gnuplot-nox)\n"), "without gnuplot")
    check(not os.path.exists(path), "no picture is left behind")
    for arguments, text in (([], "--output, --term"), (["--term", "-o", path], "--output, --term"),
                            (["-o", "picture.jpg"], "ending in .png or .svg"),
                            (["-o", "/nonexistent/x.png"], "/nonexistent/x.png")):
        r = report("plot", *arguments, *files["latency"], code=2)
        check(text in r.stderr and len(r.stderr.splitlines()) == 1, f"{text!r} in {r.stderr}")


if __name__ == "__main__":
    main()
