# SPDX-License-Identifier: MIT
"""tcpreport compare: on real runs with a known difference, and on results made from one."""

import math
import random

from helpers.faults import *
from helpers.reports import *


def series(directory, n):
    """n runs of each of two servers in turn, one of which answers after 50 ms: (names of one, of the other)."""
    names = {"a": [], "b": []}
    servers = {"a": FaultServer(), "b": FaultServer("--delay-every", 1, "--delay-ms", 50)}
    for i in range(n):
        for group, server in servers.items():
            client = Client("-q", "-p", server.port, "-c", 10, *spare_source(i + 1), "-r", 600, "-t",
                            "250ms", "--settle", 0, "127.0.0.1")
            check_conservation(client.wait())
            names[group].append(f"{directory}/{group}{i}.json")
            shutil.copy(client.json_path, names[group][-1])
            change(names[group][-1], **UNDISTURBED)
    for server in servers.values():
        server.stop()
    return names["a"], names["b"]


def verdict_of(r):
    return r.stdout.split(":")[0]


def test_compare_finds_a_delay_but_nothing_in_equal_runs():
    a, b = series(temp_directory(), 9)
    with stall_may_spoil():
        r = report("compare", "--min-runs", 9, *a, "--", *b, code=1)
    print(f"     {r.stdout.splitlines()[0]}")
    check_equal(verdict_of(r), "REGRESSION", "a delay of 50 ms")
    effect = re.search(r"response p50 \+([\d.]+) %", r.stdout.splitlines()[0])
    check(effect and float(effect.group(1)) > 100, r.stdout)
    check(re.search(r"^answered .*100.0000 %.*100.0000 %", r.stdout, re.M), r.stdout)
    check_equal(verdict_of(report("compare", "--min-runs", 9, *a, "--", *a)), "PASS", "A against A")
    faster = report("compare", "--min-runs", 9, *b, "--", *a)
    check("PASS: no metric got worse; better: response p50 -" in faster.stdout, faster.stdout)
    check_that_compare_refuses_to_conclude(a, b)


def check_that_compare_refuses_to_conclude(a, b):
    def inconclusive(text, *arguments):
        r = report("compare", *arguments, code=2)
        check_equal(verdict_of(r), "INCONCLUSIVE", str(arguments))
        check(text in r.stdout + r.stderr, f"{text!r} in {r.stdout}{r.stderr}")

    inconclusive("9 and 9 VALID runs (required: 10 each)", *a, "--", *b)
    inconclusive("1 and 1 VALID runs (required: 10 each)", a[0], "--", b[0])
    inconclusive("are too few to show a change", "--min-runs", 3, *a[:3], "--", *b[:3])
    change(b[0], verdict="SUSPECT", reasons=["host-noise"])
    inconclusive(f"ignored: {b[0][:-5]} is SUSPECT", "--min-runs", 9, *a, "--", *b)
    change(b[0], verdict="VALID", broken_law="sums")
    inconclusive("is INVALID", "--min-runs", 9, *a, "--", *b)
    change(b[0], broken_law=None, interrupted=True)
    inconclusive("interrupted", "--min-runs", 9, *a, "--", *b)
    change(b[0], interrupted=False, options={"connections": 11})
    inconclusive(f"{a[0][:-5]} and {b[0][:-5]} are not comparable: connections 10 and 11", "--min-runs", 9, *a, "--", *b)
    report("compare", "--force", "--min-runs", 9, *a, "--", *b, code=1)
    change(b[0], options={"connections": 10}, host={"kernel": "7.0"})
    inconclusive("kernel", "--min-runs", 9, *a, "--", *b)
    for name in b:
        change(name, host={"kernel": "7.0"}, latency_ns={"response": {"count": 0, "over": 0}})
    inconclusive("response p50 is missing from every run", "--force", "--min-runs", 9, *a, "--", *b)


def synthetic_run(path, base, noise, of_night, effect):
    """A result whose response times are those of the base, but for noise and effect."""
    latency = json.loads(json.dumps(base["latency_ns"]))
    for name, size in (("p50", 0.01), ("p90", 0.02), ("p99", 0.05), ("p999", 0.1)):
        factor = math.exp(of_night + noise.gauss(0, size)) * (1 + effect if name == "p50" else 1)
        latency["response"][name] = round(200000 * factor)
    write_json(path, {**base, "latency_ns": latency})


@covered_by_others
def test_compare_leaves_out_percentiles_that_do_not_hold():
    directory, noise = temp_directory(), random.Random(1)
    runs_of(directory, ["-r", 500, "-t", 1])
    change(f"{directory}/0.json", **UNDISTURBED)
    base = read_json(f"{directory}/0.json")
    a, b = ([f"{directory}/{group}{i}.json" for i in range(10)] for group in "ab")
    for paths, effect in ((a, 0), (b, 0.5)):
        for path in paths:
            synthetic_run(path, base, noise, 0, effect)
    for group in (a, b):
        change(group[3], holds={"p50": False})
        r = report("compare", "--json", f"{directory}/verdict.json", *a, "--", *b)
        check("PASS: no metric got worse; not judged: response p50" in r.stdout, r.stdout)
        figures = read_json(f"{directory}/verdict.json")
        check_equal((figures["verdict"], figures["reason"], figures["runs_before"], figures["runs_now"]),
                    ("PASS", None, 10, 10), "verdict in JSON")
        check("response p50" in figures["not_judged"], figures)
        change(group[3], holds={"p50": True})
    r = report("compare", "--json", f"{directory}/verdict.json", *a, "--", *b, code=1)
    check(r.stdout.startswith("REGRESSION: response p50 +"), f"the control: {r.stdout}")
    worse = [m for m in read_json(f"{directory}/verdict.json")["metrics"] if m["finding"] == "worse"]
    check_equal([m["metric"] for m in worse], ["response p50"], "worse in JSON")
    check_between(worse[0]["change"], 0.45, 0.55, "the change in JSON")
    report("compare", "--min-runs", 11, "--json", f"{directory}/verdict.json", *a, "--", *b, code=2)
    figures = read_json(f"{directory}/verdict.json")
    check_equal((figures["verdict"], figures["reason"], figures["metrics"]),
                ("INCONCLUSIVE", "10 and 10 VALID runs (required: 11 each)", []), "inconclusive in JSON")


def searches(directory, name, capacities):
    """Results of searches with these answers, made from a real one that had no time to find any."""
    with Server() as server:
        r = run_client("-p", server.port, "-c", 2, *spare_source(99), "--find", "rate", "--find-range", "50-100",
                       "--find-time", "6s", "127.0.0.1")
    with stall_may_spoil():
        check_equal((r.code, r.json["search"]["reason"]), (3, "time"), r.err)
    names = [f"{directory}/{name}{i}.json" for i in range(len(capacities))]
    for i, capacity in enumerate(capacities):
        write_json(names[i], r.json)
        change(names[i], verdict="VALID", reasons=[], started=f"2026-01-31T12:{i:02}:00.000Z",
               search={"status": "found", "reason": None, "capacity": capacity, "confirmed": True})
    return names


def test_only_the_capacities_of_searches_are_compared():
    directory = temp_directory()
    before = searches(directory, "before", [1000 + i for i in range(10)])
    slower = searches(directory, "slower", [900 + i for i in range(10)])
    same = searches(directory, "same", [1010 - i for i in range(10)])
    r = report("compare", *before, "--", *slower, code=1)
    check("REGRESSION: capacity -10.0 % " in r.stdout and "not judged" not in r.stdout, r.stdout)
    check(re.search(r"^capacity +1,00[45] +904\.5 .* WORSE$", r.stdout, re.M), r.stdout)
    check("PASS: no metric got worse; better: capacity +" in report("compare", *slower, "--", *before).stdout, "faster")
    check_equal(verdict_of(report("compare", *before, "--", *same)), "PASS", "the same capacity")
    few = temp_path("few.json")
    check_equal(verdict_of(report("compare", "--json", few, *before, "--", *slower[:9], code=2)), "INCONCLUSIVE", "9 runs")
    check_equal(read_json(few)["not_judged"], ["capacity"], "of searches")


def test_capacities_in_different_units_are_not_compared():
    directory = temp_directory()
    before, now = (searches(directory, name, [1000] * 10) for name in ("before", "now"))
    compare = ["compare", "--force", *before, "--", *now]
    check_equal(verdict_of(report(*compare)), "PASS", "the control: one unit")
    for name in now:
        change(name, search={"find": "connections", "unit": "connections"})
    check_equal(report(*compare, code=2).stdout, "INCONCLUSIVE: the capacities are in different units\n", "verdict")


def test_sweeps_are_compared_by_the_geometric_mean_of_their_capacities():
    directory = temp_directory()
    before = searches(directory, "before", [1000 + i for i in range(10)])
    slower = searches(directory, "slower", [900 + i for i in range(10)])
    for i, name in enumerate(before + slower):
        capacity = (1000 if name in before else 900) + i % 10
        change(name, search=None, sweep={"over": "connections", "points": [
            {"at": 10, "search": {"capacity": 4 * capacity}}, {"at": 20, "search": {"capacity": capacity}}]})
    r = report("compare", *before, "--", *slower, code=1)
    check("REGRESSION: capacity -10.0 % " in r.stdout, r.stdout)
    check(re.search(r"^capacity +2,0\d\d +18\d\d .* WORSE$|^capacity +2,0\d\d +1,8\d\d .* WORSE$", r.stdout, re.M), r.stdout)
    change(slower[0], sweep={"over": "connections", "points": [{"at": 10, "search": None}]})
    check("INCONCLUSIVE" in report("compare", *before, "--", *slower, code=2).stdout, "the control: a run without its capacity")


def test_searches_without_a_limit_are_noted():
    directory = temp_directory()
    before, now = (searches(directory, name, [1000] * 10) for name in ("before", "now"))
    check_equal(report("compare", *before, "--", *now).stderr, "", "the control: all found one")
    for name in now[:3]:
        change(name, search={"status": "at-least"})
    r = report("compare", *before, "--", *now)
    check_equal(r.stderr, "tcpreport: note: 3 of 20 runs found no limit within --find-range: changes beyond it go unnoticed\n", "note")


@covered_by_others
def test_file_on_both_sides_is_named():
    directory = temp_directory()
    before, now = (searches(directory, name, [1000] * 10) for name in ("before", "now"))
    for arguments in ((), ("--nights",)):
        for both in ([], [now[3]]):
            r = report("compare", *arguments, *before, *both, "--", *now, code=None)
            check_equal(r.stderr, f"tcpreport: warning: '{now[3]}' is on both sides of --\n" if both else "", f"{arguments}, {both}")


def nights_of(n_nights, n_runs):
    """[the files of a night], each in a directory of its own."""
    directory, noise = temp_directory(), random.Random(1)
    runs_of(directory, ["-r", 500, "-t", 1])
    change(f"{directory}/0.json", **UNDISTURBED)
    base = read_json(f"{directory}/0.json")
    nights = [[f"{directory}/{night}/{i}.json" for i in range(n_runs)] for night in range(n_nights)]
    for night in nights:
        os.mkdir(os.path.dirname(night[0]))
        of_night = noise.gauss(0, 0.005)
        for path in night:
            synthetic_run(path, base, noise, of_night, 0)
    return nights


@covered_by_others
def test_files_of_a_night_may_be_listed_apart():
    *before, tonight = nights_of(9, 2)
    together, apart = (report("compare", "--nights", "--min-runs", 2, *files, "--", *tonight, code=None)
                       for files in (sum(before, []), [path for paths in zip(*before) for path in paths]))
    check("against 8 nights" in together.stdout.splitlines()[0], f"the control: {together.stdout}")
    check_equal((apart.returncode, apart.stdout, apart.stderr), (together.returncode, together.stdout, together.stderr), "apart")


@covered_by_others
def test_a_night_is_a_directory_however_it_is_written():
    *before, tonight = nights_of(9, 2)
    directory = os.path.dirname(os.path.dirname(tonight[0]))
    os.symlink(".", f"{directory}/link")
    together = report("compare", "--nights", "--min-runs", 2, *sum(before, []), "--", *tonight, code=None)
    for other in (f"{directory}//.", f"{directory}/link", f"{directory}/../{os.path.basename(directory)}", os.path.relpath(directory)):
        names = [path.replace(directory, other) if i % 2 else path for i, path in enumerate(sum(before, []) + tonight)]
        r = report("compare", "--nights", "--min-runs", 2, *names[:-2], "--", *names[-2:], code=None)
        check_equal((r.returncode, r.stdout, r.stderr), (together.returncode, together.stdout, together.stderr), other)


def test_nights_of_another_program_are_noted():
    *before, tonight = nights_of(8, 2)
    arguments = ["compare", "--nights", "--min-runs", 2, *sum(before, []), "--", *tonight]
    check_equal(report(*arguments, code=None).stderr, "", "the control: one program")
    for name in tonight:
        change(name, version="0.0.9")
    r = report(*arguments, code=None)
    check(re.fullmatch(r'tcpreport: note: version "\S+" and "0\.0\.9"\n', r.stderr), r.stderr)


@covered_by_others
def test_a_server_that_answers_with_errors_in_both_groups_is_noted():
    before, now = nights_of(2, 2)
    arguments = ["compare", "--min-runs", 2, *before, "--", *now]
    check_equal(report(*arguments, code=None).stderr, "", "the control: other answers")
    for name in before + now:
        change(name, answers={"rcodes": {"SERVFAIL": 1000}, "echoed": 0})
    said = report(*arguments, code=None).stderr
    check(said.startswith(f"tcpreport: note: {now[0][:-5]}: 100 % of the answers were SERVFAIL, "), said)


def test_a_night_with_different_settings_is_named():
    *before, tonight = nights_of(8, 2)
    other = before[3][1]
    change(other, options={"rate": 501})
    r = report("compare", "--nights", "--min-runs", 2, *sum(before, []), "--", *tonight, code=2)
    check_equal(r.stdout, "INCONCLUSIVE: the runs are not comparable\n", "verdict")
    check_equal(r.stderr, f"tcpreport: {tonight[0][:-5]} and {other[:-5]} are not comparable: rate 500 and 501 (--force compares them)\n", "why")


def test_a_metric_that_no_run_of_tonight_has_is_named():
    *before, tonight = nights_of(8, 2)
    arguments = ["compare", "--nights", "--min-runs", 2, *sum(before, []), "--", *tonight]
    missing = "INCONCLUSIVE: service p50 is missing from every run of tonight\n"
    for path, verdict in ((tonight[0], "PASS"), (tonight[1], "INCONCLUSIVE"), (before[3][1], "PASS")):
        change(path, latency_ns={"service": None})
        r = report(*arguments, code=None)
        check_equal(verdict_of(r), verdict, r.stdout)
        check((r.stdout == missing) == (verdict != "PASS"), r.stdout)
        check("service p50" in r.stdout.splitlines()[0], f"not judged: {r.stdout}")


def test_columns_stay_apart_however_large_a_change_is():
    """Most queries of tonight are unanswered: their p50 is the timeout of 5 s."""
    *before, tonight = nights_of(8, 9)
    for path in tonight:
        change(path, latency_ns={"response": {**read_json(path)["latency_ns"]["response"], "p50": "beyond"}})
    for arguments in (["--nights", "--min-runs", 9, *sum(before, [])], ["--min-runs", 9, *before[0]]):
        r = report("compare", *arguments, "--", *tonight, code=1)
        head, row = (re.search(rf"^{name} .*", r.stdout, re.M).group().split() for name in ("metric", "response p50"))
        changes = [word for word in row if re.fullmatch(r"\+\d{6,}\.\d\d", word)]
        check(changes and row[-1] == "WORSE", f"{row} under {head}: {r.stdout}")


def test_runs_of_earlier_nights_with_a_bad_file_are_left_out():
    *before, tonight = nights_of(9, 2)
    files = sum(before, [])

    def compared(code=None):
        return report("compare", "--nights", "--min-runs", 2, *files, "--", *tonight, code=code)
    without = report("compare", "--nights", "--min-runs", 2, *sum(before[:3] + before[4:], []), "--", *tonight, code=None)
    bad = before[3][1]
    whole = read_text(bad)
    for text, why in ((whole[:-20], "truncated"), ("", "empty"), ("hello\n", "unknown format")):
        write_text(bad, text)
        r = compared()
        check_equal((r.returncode, r.stdout), (without.returncode, without.stdout), f"as without that night: {r.stderr}")
        said = r.stderr.splitlines()
        check(len(said) == 2 and bad in said[0] and why in said[0], r.stderr)
        check_equal(said[1], f"tcpreport: ignored: {bad[:-5]} has a bad file", "the run")
    connections = f"{bad[:-5]}.csv"
    write_text(connections, "connection_id,source,established_s\n0,127.0.0.1:1,0.5\n")
    files = [connections if name == bad else name for name in files]
    r = compared()
    check_equal((r.returncode, r.stdout), (without.returncode, without.stdout), f"as without that night: {r.stderr}")
    check_equal(r.stderr, f"tcpreport: ignored: {bad[:-5]} is without a result\n", "a night with connections only")
    for night in before[4:6]:
        os.remove(night[0])
    check_equal(compared(code=2).stdout, "INCONCLUSIVE: 5 of 7 reference nights\n", "too few nights are left")
    files = [bad]
    check_equal(compared(code=2).stdout, "INCONCLUSIVE: 0 of 7 reference nights\n", "none is left")
    for arguments in (["--nights", *before[0], "--", bad], [bad, "--", *tonight], [*tonight, "--", bad]):
        r = report("compare", "--min-runs", 1, *arguments, code=2)
        check_equal((r.stdout, len(r.stderr.splitlines())), ("", 1), f"the control, {arguments}: {r.stderr}")


def test_stdout_has_nothing_but_json():
    directory = temp_directory()
    before, now = (searches(directory, name, [1000] * 10) for name in ("before", "now"))
    check_equal(json.loads(report("compare", "--json", "-", *before, "--", *now).stdout)["verdict"], "PASS", "runs")
    r = report("compare", "--nights", "--json", "-", *before, "--", *now, code=2)
    check_equal(json.loads(r.stdout)["verdict"], "INCONCLUSIVE", "nights")


def test_a_search_is_shown_by_its_answer_and_its_trials():
    name, = searches(temp_directory(), "run", [1234])
    out = report("show", name).stdout
    check("\nCapacity     found: 1,234 q/s" in out and "service level lost=0" in out, out)
    with open(name) as f:
        search = json.load(f)["search"]
        trials = search["trials"]
    for recovers, recovery_s, words in ((True, 2, "recovers from an overload within 3 s"),
                                        (False, None, "does not recover from an overload in time"), (None, None, None)):
        change(name, search=search | {"recovers": recovers, "recovery_s": recovery_s})
        said = re.findall(r"; ([^;\n]*recover[^;\n]*)$", report("show", name).stdout, re.M)
        check_equal(said, [words] if words else [], f"recovers: {recovers}")
    with stall_may_spoil():  # the time may be over in the first
        check(re.search(r"^  double +50 q/s +1.00 s ", out, re.M), out)
    became = [(t["step"], t["class"] + (f": {t['reason']}" if t["reason"] else "")) for t in trials]
    check_equal(re.findall(r"^  (\w+) +[\d.,]+ q/s +1.00 s .*  (\w.*)$", out, re.M), became, "trials, and what became of each")
    check("Time  " not in out, "a mixture of all loads is no latency")
    for duration_s, length in ((10, "10.0 s"), (0.25, "250 ms"), (None, "-")):  # as tcpclient prints them
        change(name, search=search | {"trials": [{**trials[0], "duration_s": duration_s}]})
        check(re.search(rf"^  double +50 q/s +{length} ", report("show", name).stdout, re.M), f"a trial of {duration_s} s")


if __name__ == "__main__":
    main()
