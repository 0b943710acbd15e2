# SPDX-License-Identifier: MIT
"""tcpreport show and merge on the files of real runs: merged figures match those of all rows together, computed here from
the rows."""

import functools
import statistics

from helpers.faults import *
from helpers.ranks import *
from helpers.reports import *

RANKS = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


@functools.cache
def three_instances():
    """The directory of three runs side by side, one of them with a server that answers after 50 ms: the mean
    of their percentiles is not that of the whole. Read, never changed."""
    directory = temp_directory()
    slow = FaultServer("--delay-every", 1, "--delay-ms", 50)
    runs_of(directory, ["-r", 500, "-t", 3, "-s", 1, "-p", slow.port],
            *[["-r", 3000 + 1000 * i, "-t", 3, "-s", i + 1] for i in (1, 2)])
    slow.stop()
    return directory


def figures_of_rows(*paths):
    """Response times in ns, each to the nanosecond."""
    values = []
    for path in paths:
        values += [round(float(row["response_us"]) * 1000) for row in read_rows(path)
                   if row["type"] == "A"]
    values.sort()
    figures = {name: at_rank(values, q) for name, q in RANKS.items()}
    return {"count": len(values), "min": values[0], "max": values[-1], "mean": statistics.fmean(values),
            "stddev": statistics.stdev(values), **figures}


def unlike(got, known):
    """What differs: exact figures at all, percentiles by more than 0.1 %."""
    allowed = {"mean": 1e-9, "stddev": 1e-9, **dict.fromkeys(RANKS, 1e-3)}
    return {name: (got[name], value) for name, value in known.items()
            if got[name] is None or abs(got[name] - value) > value * allowed.get(name, 0)}


def merged(directory, *files):
    out = temp_path("merged.json")
    r = report("merge", "--json", out, *[f"{directory}/{name}" for name in files], code=None)
    check(r.returncode in (0, 3), r.stderr)
    return read_json(out), r


def sum_of(directory, *path):
    total = 0
    for i in range(3):
        value = read_json(f"{directory}/{i}.json")
        for key in path:
            value = value[key]
        total += value
    return total


@covered_by_others
def test_merge_is_the_union_of_all_rows():
    directory = three_instances()
    known = figures_of_rows(*[f"{directory}/{i}.csv" for i in range(3)])
    for kind in ("hlog", "csv"):
        whole, r = merged(directory, *[f"{i}.{ending}" for i in range(3) for ending in ("json", kind)])
        response = whole["latency_ns"]["response"]
        print(f"     {kind}: p99 {response['p99']} ns, of the rows {known['p99']} ns")
        check_equal(unlike(response, known), {}, f"figures from {kind}")
        for path in (("queries", "sent"), ("queries", "answered"), ("connections", "connected"),
                     ("output", "rows")):
            check_equal(whole[path[0]][path[1]], sum_of(directory, *path), f"sum of {path}")
        check_equal(whole["rate"]["asked_qps"], 9500, "asked")
        check_equal([i["seed"] for i in whole["instances"]], [1, 2, 3], "seeds of the instances")
        check("same seed" not in r.stderr, r.stderr)
    check_that_unlike_is_noticed(directory, known)


def check_that_unlike_is_noticed(directory, known):
    """The controls: an instance less; the mean of the percentiles."""
    whole, _ = merged(directory, "0.json", "0.hlog", "1.json", "1.hlog")
    check({"count", "mean"} <= set(unlike(whole["latency_ns"]["response"], known)), "an instance less")
    single = [figures_of_rows(f"{directory}/{i}.csv") for i in range(3)]
    averaged = {rank: statistics.fmean(one[rank] for one in single) for rank in RANKS}
    check("p50" in unlike({**known, **averaged}, known), "averaged percentiles")


@covered_by_others
def test_show_says_of_how_many_instances_a_merged_result_is():
    names = [f"{three_instances()}/{i}.json" for i in range(3)]
    merged_file = temp_path("all.json")
    for n, words in ((1, "1 instance"), (3, "3 instances")):
        report("merge", "--json", merged_file, *names[:n], code=None)
        r = read_json(merged_file)
        check_equal(report("show", merged_file).stdout.splitlines()[0],
                    f"{merged_file[:-len('.json')]}: {words} of tcpclient, merged by tcpreport {r['version']}, to "
                    f"{r['target'] or 'several targets'}, started {r['started']}", "the first line")


def test_show_says_how_far_a_result_holds_and_how_long_it_was_paused():
    path = temp_path("holds.json")
    shutil.copy(f"{three_instances()}/0.json", path)
    for valid_to, of_max, words in (("none", False, " (no percentile holds)"), ("none", True, " (p50 does not hold)"),
                                    ("p99", False, " (holds to p99)"), ("max", True, "")):
        change(path, verdict="SUSPECT", valid_to=valid_to, holds=None)
        change(path, holds={"p50": valid_to != "none", "max": of_max})
        lines = report("show", path).stdout.splitlines()
        check(f"Verdict      SUSPECT{words}" in lines, f"{valid_to}: {lines}")
    check("paused" not in report("show", path).stdout, "it was not paused")
    change(path, rate={"paused_s": 0.25})
    check(re.search(r"^Rate .* measured for \S+ s, paused for 250 ms$", report("show", path).stdout, re.M), "the pause")
    check("% of the answers" not in report("show", path).stdout, "the answers were echoes")
    change(path, answers={"rcodes": {"REFUSED": 10**6}})
    check(re.search(r"^Verdict .*\n(?: {13}.*\n)* {13}99\.\d % of the answers were REFUSED, ", report("show", path).stdout, re.M), "the note")


def test_merge_prints_every_instance_and_the_whole():
    directory = three_instances()
    names = [f"{directory}/{i}" for i in range(3)]
    r = report("merge", *[f"{name}.{ending}" for name in names for ending in ("json", "hlog")], code=None)
    lines = {line.split()[0]: line.split() for line in r.stdout.split("\n\n")[0].splitlines()}
    for i, name in enumerate(names):
        one = read_json(f"{name}.json")
        check_equal(lines[name][1:4], [str(i + 1), f"{one['queries']['sent']:,}",
                                       f"{one['queries']['answered']:,}"], f"line of {name}")
        check_equal(lines[name][-1], one["verdict"], f"verdict of {name}")
    check_equal(lines["all"][1:3], ["-", f"{sum_of(directory, 'queries', 'sent'):,}"], "line of all")


def test_a_run_without_times_has_no_table_of_them():
    path = temp_path("run.json")
    r = run_command([TCPCLIENT, "-q", "-c", "2", "-r", "10", "-t", "0.1", "--json", path, f"127.0.0.1:{free_port()}"])
    check_equal(r.returncode, 3, f"exit code; stderr: {r.stderr}")
    shown = report("show", path).stdout
    check("Connections  2 requested" in shown and "Time " not in shown and "histogram" not in shown, shown)
    total = report("merge", path, code=None).stdout
    check_equal([line.split()[0] for line in total.splitlines() if line], ["instance", path[:-len(".json")], "all"], "lines")


def start_ms(hlog):
    return int(re.search(r"StartTime: (\d+\.\d{3}) ", read_text(hlog))[1].replace(".", ""))


def begins_ms(hlog):
    """[(tag, when it begins in ms since the epoch)] of the intervals of a log; those of response times have no tag."""
    return [(tag, start_ms(hlog) + int(begin.replace(".", "")))
            for tag, begin in re.findall(r"^(?:Tag=(\w+),)?(\d+\.\d{3}),", read_text(hlog), re.M)]


def test_a_log_without_intervals_is_merged_with_others():
    """The result of a run in which no connection was established."""
    directory, log, alone = three_instances(), temp_path("merged.hlog"), temp_path("alone.hlog")
    files = [f"{directory}/0.{ending}" for ending in ("json", "hlog")]
    other = temp_directory()
    idle = [f"{other}/idle.{ending}" for ending in ("json", "hlog")]
    r = run_command([TCPCLIENT, "-q", "-c", "2", "-r", "10", "-t", "0.1", "--json", idle[0], "--hlog", idle[1],
                     f"127.0.0.1:{free_port()}"])
    check_equal(r.returncode, 3, f"exit code; stderr: {r.stderr}")
    report("merge", "--hlog", log, *files, *idle, code=3)
    report("merge", "--hlog", alone, *files, code=None)  # after a stall, two intervals may begin in one second: they become one
    check_equal(begins_ms(log), begins_ms(alone), "intervals")
    check(begins_ms(log), "there are some")
    report("merge", "--hlog", log, *idle, code=3)
    check_equal((begins_ms(log), start_ms(log)), ([], start_ms(idle[1])), "intervals, start")


def test_names_do_not_break_the_table():
    directory = temp_directory()
    names = ["plain", "m\u00fcller", "two\nlines"]
    for name in names:
        for ending in ("json", "hlog"):
            os.symlink(f"{three_instances()}/0.{ending}", f"{directory}/{name}.{ending}")
    for name in names:
        r = report("merge", f"{directory}/{name}.json", f"{directory}/{name}.hlog", code=None)
        head, line = r.stdout.splitlines()[:2]
        check(line.startswith(f"{directory}/{name}".replace("\n", "?")), f"the name in {line!r}")
        check_equal(line.index(line.split()[-1]), head.index("verdict"), f"the column of the verdict in {line!r}")
        shown = report("show", f"{directory}/{name}.json").stdout.splitlines()[0]
        check(shown.startswith(f"{directory}/{name}: tcpclient ".replace("\n", "?")), f"the name in {shown!r}")


def test_merged_log_holds_all_values():
    directory = three_instances()
    files = [f"{directory}/{i}.{ending}" for i in range(3) for ending in ("json", "hlog")]
    hlog = temp_path("merged.hlog")
    r = report("merge", "--json", hlog.replace(".hlog", ".json"), "--hlog", hlog, *files, code=None)
    check(r.returncode in (0, 3), r.stderr)
    with open(hlog) as f:
        lines = [line for line in f if line[0].isdigit()]
    intervals = [interval for i in range(3) for interval in begins_ms(f"{directory}/{i}.hlog")]
    first_ms, begins = min(ms for _, ms in intervals), [ms for tag, ms in intervals if not tag]
    seconds = {(ms - first_ms + 500) // 1000 for ms in begins}
    check_equal(len(lines), len(seconds), "seconds in one log of three runs of 3 s")
    check(len(lines) < len(begins), f"merged from {len(begins)} lines")
    whole, _ = merged(directory, *[os.path.basename(name) for name in files])
    known = {name: whole["latency_ns"]["response"][name] for name in ("count", *RANKS)}
    again, _ = merged(os.path.dirname(hlog), "merged.json", "merged.hlog")
    check_equal(unlike(again["latency_ns"]["response"], known), {}, "merged again, by the merged log")
    alone, _ = merged(os.path.dirname(hlog), "merged.json")
    check_equal(alone["latency_ns"]["response"]["p50"], None, "the control: without that log no percentile is known")


def latency_lines(text):
    """{metric: its figures} of a table of latencies."""
    table = re.search(r"^Time +min.*\n((?:\S.*\n)+)", text, re.M).group(1)
    return {line.split()[0]: line.split(None, 1)[1] for line in table.splitlines()}


def test_show_prints_the_messages_of_a_listener():
    directory = temp_directory()
    with Server("--push", 500) as server:
        client = Client("-p", server.port, "--protocol", "listen", "-c", 5, "-t", 1, "--hlog", f"{directory}/run.hlog",
                        "--stats-interval", 0, "127.0.0.1")
        r = client.wait()
    shutil.copy(client.json_path, f"{directory}/run.json")
    shown = report("show", f"{directory}/run.json", f"{directory}/run.hlog").stdout
    push = r.json["push"]
    check(f"Messages     {push['measured']:,} received, {push['before']:,} before, {push['after']:,} after" in shown, shown)
    check(re.search(rf"^Rate +{push['messages_per_s']:.1f} messages/s, measured for 1.00 s$", shown, re.M), shown)
    check("(upper bound, messages)" in shown and "Queries" not in shown and "q/s" not in shown, shown)


def test_show_prints_what_tcpclient_printed():
    directory = temp_directory()
    files = [f"{directory}/run.json", f"{directory}/run.hlog"]
    with Server() as server:
        client = Client("-p", server.port, "-c", 20, *spare_source(1), "-r", 1999.87654, "-t", 2, "--hlog",
                        files[1], "--stats-interval", 0, "--assert", "p50<1h,lost<0.1%", "127.0.0.1")
        r = client.wait()
    shutil.copy(client.json_path, files[0])
    shown = report("show", *files).stdout
    n = f"{r.json['queries']['scheduled']:,}"
    check(f"Goals        p50<1h met: 0 of {n} queries took longer or were lost\n"
          f"             lost<0.1% undecided: 0 of {n} queries were lost; too few to tell\n" in shown, shown)
    for goal in re.findall(r"(?m)^(?:Goals)? +(\S+ (?:met|undecided): [^(;\n]*)", shown):
        check(goal.strip() in r.err, f"the words of tcpclient: {goal}")
    printed = r.err.replace("send lag", "send_lag").replace("min RTT", "min_rtt").replace("own delay", "own")
    check_equal(latency_lines(shown), latency_lines(printed), "figures")

    def bars(text):
        return text.split("Response time histogram (upper bound, answers)\n")[1].split("\n\n")[0]

    check_equal(bars(shown), bars(r.err), "histogram")

    def rate(text):
        return re.search(r"^Rate .*(, \S+ requested, measured for .*)", text, re.M).group(1)

    check_equal(rate(shown), rate(r.err), "rate")
    verdict = re.search(r"^Verdict +(\S+)", shown, re.M).group(1)
    check_equal(verdict, r.json["verdict"], "verdict")
    for name, text in (("sent", "sent"), ("answered", "answered"), ("timeout", "timed out")):
        check(f"{r.json['queries'][name]:,} {text}" in shown, f"{text} in {shown}")
    check(f"{r.json['connections']['outcomes']['run/finished']}  run: finished" in shown, shown)
    check("no histogram: it requires the log" in report("show", files[0]).stdout, "the result alone")
    check("verdict are unknown" in report("show", files[1]).stdout, "the log alone")
    change(files[0], verdict="SUSPECT", valid_to="none", holds=None)
    check("Verdict      SUSPECT (no percentile holds)\n" in report("show", *files).stdout, "the words of tcpclient")
    check("Limiting factors" not in shown, "the control: nothing limited the run")
    change(files[0], diagnosis=[{"limit": "backlog", "connections": 4500, "evidence": "45 overflows", "remedy": "raise it"}])
    check("\nLimiting factors\n       4,500  backlog: 45 overflows\n              -> raise it\n" in report("show", *files).stdout,
          "limiting factors as tcpclient prints them")


def test_show_prints_the_counts_of_what_only_some_runs_have():
    directory = temp_directory()
    path = f"{directory}/run.json"
    with Server() as server:
        client = Client("-p", server.port, "-c", 1, "-r", 100, "-t", 0.1, "--stats-interval", 0, "127.0.0.1")
        client.wait()
    shutil.copy(client.json_path, path)
    some = {"recovery": ({"lost": 1349, "back": 1344, "syn_retransmits": 0}, "Recovery     1,349 lost, 1,344 back\n"),
            "on_demand": ({"clients": 50, "clients_connected": 49, "waited": 379, "unconnected": 0},
                          "On demand    50 clients, 49 tried to connect, 379 queries waited for a connection, 0 failed with it\n"),
            "tls": ({"handshakes": 20, "resumed": 5}, "TLS          20 handshakes, 5 resumed\n"),
            "proxy": ({"headers": 20}, "PROXY        20 headers sent\n"),
            "udp": ({"malformed": 2, "dropped": None}, "UDP          2 malformed\n"),
            "server": ({"accepted": 9, "refused": 1, "active": 8, "not_accepted": None}, "Server       9 accepted, 1 refused, 8 active\n"),
            "answers": ({"rcodes": {"NOERROR": 3, "REFUSED": 1200}, "echoed": 0, "truncated": 2},
                        "Answers      3 NOERROR, 1,200 REFUSED, 2 truncated\n")}
    for key, (value, line) in some.items():
        check(f"\n{line[:13]}" not in report("show", path).stdout, f"the control: no {key}")
        change(path, **{key: value})
        check(f"\n{line}" in report("show", path).stdout, f"{line!r} in {report('show', path).stdout}")


@covered_by_others
def test_merge_warns_of_mismatches_and_takes_the_worst_verdict():
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", 1, "-s", 7], ["-r", 500, "-t", 1, "-s", 8])
    names = [f"{directory}/{i}.json" for i in range(2)]
    logs = [f"{directory}/{i}.hlog" for i in range(2)]
    started = read_json(names[0])["started"]
    for name in names:
        change(name, verdict="VALID", reasons=[], measured_from=started)
    check_equal(report("merge", *names, *logs).stderr, "", "the control: nothing to warn of")
    known = read_json(names[1])["options"]
    for setting in ("target", "assert", "require", "source", "proxy-source", "tls-name", "tls-ca"):
        check(setting in known, f"the setting {setting}")
        change(names[1], options={setting: "of one of them"})
    check_equal(report("merge", *names, *logs).stderr, "", "settings that may differ")
    for given, missing in ((logs[:1], f"1 of 2 runs were not given, such as those of {directory}/1\n"),
                           ([], f"2 of 2 runs were not given, such as those of {directory}/0\n")):
        check_equal(report("merge", *names, *given).stderr, f"tcpreport: warning: the merged percentiles are unknown: the log (--hlog) or "
                    f"the rows (-R) of {missing}", "missing percentiles")
    check("did not overlap in time" not in report("merge", *names).stderr, "the control")
    change(names[1], verdict="SUSPECT", reasons=["unsent"], seed=7, options={"rate": 600},
           measured_from="2026-01-31T23:59:59.123Z")
    r = report("merge", "--json", "-", *names, *logs, code=3)
    for text in ("have the same seed, so they drew the same random numbers\n", "different settings: rate 500 and 600", "did not overlap in time"):
        check(text in r.stderr, f"{text!r} in {r.stderr}")
    check_equal(json.loads(r.stdout)["verdict"], "SUSPECT", "verdict of the whole")
    check_equal(json.loads(r.stdout)["reasons"], ["unsent"], "reasons of the whole")
    check_equal([i["reasons"] for i in json.loads(r.stdout)["instances"]], [[], ["unsent"]], "reasons of each instance")
    change(names[1], options={"rate": 500})
    check("have the same seed, so they sent the same queries at the same times\n" in report("merge", *names, *logs, code=3).stderr,
          "the same settings")
    for name in names:
        change(name, queries={"sent": 0})
    check("same seed" not in report("merge", *names, *logs, code=3).stderr, "listeners and idle connections send nothing")
    for name in names:
        change(name, options={"connect-arrival": "poisson"})
    check("have the same seed, so they opened connections at" in report("merge", *names, *logs, code=3).stderr, "arrivals")


@covered_by_others
def test_merge_warns_of_runs_that_hardly_overlap():
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", 1, "-s", 7], ["-r", 500, "-t", 1, "-s", 8])
    names = [f"{directory}/{i}.json" for i in range(2)]
    for name, second in zip(names, ("00.000", "02.900")):
        change(name, verdict="VALID", reasons=[], measured_from=f"2026-01-31T23:59:{second}Z", rate={"duration_s": 3})
    check("overlapped for 3 % of the shorter one" in report("merge", *names, code=None).stderr, "0.1 of 3 s")
    change(names[1], measured_from="2026-01-31T23:59:00.330Z")
    check("overlapped for 89 % of the shorter one" in report("merge", *names, code=None).stderr, "2.67 of 3 s")
    change(names[1], measured_from="2026-01-31T23:59:00.290Z")
    check("overlap" not in report("merge", *names, code=None).stderr, "the control: 2.71 of 3 s")


def test_times_of_some_answers_are_not_reported_for_all():
    """Only one of the runs measured net."""
    directory, whole = temp_directory(), temp_directory()
    runs_of(directory, ["-r", 500, "-t", 1, "--kernel-ts"], ["-r", 500, "-t", 1, "--kernel-ts=no"])
    files = [f"{directory}/{i}.{ending}" for i in range(2) for ending in ("json", "hlog")]
    r = report("merge", "--json", "-", *files, code=None)
    latency = json.loads(r.stdout)["latency_ns"]
    check_equal((latency["net"]["p50"], latency["response"]["p50"] is None), (None, False), "p50 of net and response")
    check_equal([latency["net"][name] for name in ("count", "min", "mean", "max")], [0, None, None, None], "net")
    check("\nnet " not in report("merge", *files, code=None).stdout, "net in the table")
    alone = json.loads(report("merge", "--json", "-", *files[:2], code=None).stdout)["latency_ns"]
    check(alone["net"]["p50"] > 0, "the control: of the run that measured it")
    check("\nnet " in report("merge", *files[:2], code=None).stdout, "the control: its table")
    for runs, count in ((files[:2], alone["net"]["count"]), (files, 0)):
        report("merge", "--json", f"{whole}/all.json", "--hlog", f"{whole}/all.hlog", *runs, code=None)
        shown = report("show", f"{whole}/all.json", f"{whole}/all.hlog").stdout
        check_equal(("\nnet " in shown, "Tag=net," in read_text(f"{whole}/all.hlog")), (count > 0, count > 0), "net in the merged log")


if __name__ == "__main__":
    main()
