# SPDX-License-Identifier: MIT
"""nightly.sh judges nights: against a reference, on a noisy host, in a series."""

import random

from helpers.faults import FAULT
from helpers.nights import *


# --- a reference program ---


def runs_in_turns(nights, n, factor):
    """Results of a night of n reference and n candidate runs, by factor(program, number); number is from 0."""
    noise, results = random.Random(7), []
    for i in range(n):
        for who in ("reference", "run") if i % 2 == 0 else ("run", "reference"):
            results.append(synthetic(noise, effect=factor(who, len(results)) - 1))
    nights.queue(*[(result, 0) for result in results])
    return results


def night_in_turns(factor, code, verdict):
    nights = Nights(runs=8, reference_client="bin/reference")
    os.symlink("tcpclient", f"{nights.bin}/reference")
    results = runs_in_turns(nights, 8, factor)
    night, _ = nights.run(code, verdict)
    return nights, night, results


def test_reference_alternates_with_the_candidate_and_judges_the_first_night():
    nights, night, _ = night_in_turns(lambda who, _: 1.1 if who == "run" else 1, 1, "REGRESSION: response p50 +")
    with open(nights.file("runs")) as f:
        runs = [line.split()[:2] for line in f]
    order = [("reference", "reference"), ("tcpclient", "run"), ("tcpclient", "run"), ("reference", "reference")]
    check_equal(runs, [[program, f"{name}-{i // 2 + 1:02}.json"] for i, (program, name) in enumerate(order * 4)], "runs")
    figures = verdict_json(night)
    check_equal((figures["verdict"], figures["runs_before"], figures["runs_now"]), ("REGRESSION", 8, 8), "verdict.json")
    worse = [m for m in figures["metrics"] if m["finding"] == "worse"]
    check_equal([m["metric"] for m in worse], ["response p50"], "worse")
    check_between(worse[0]["change"], 0.08, 0.12, "the change")
    check(not os.path.exists(f"{night}/reference"), "a reference for nights that are judged by nights")
    night_in_turns(lambda who, _: 1.1 if who == "reference" else 1, 0, "PASS: no metric got worse; better: response p50 -")
    night_in_turns(lambda *_: 1, 0, "PASS: no metric got worse; not judged: connect p50; 8 runs against 8")


def test_a_server_that_answers_otherwise_does_not_pass():
    """It may answer SERVFAIL, and fast."""
    nights = Nights()
    for day, rcode, verdict in ((1, "NOERROR", "first night of a series"),
                                (2, "SERVFAIL", "the answers differ: SERVFAIL 0.0 % and 100.0 % (--any-answers compares them)"),
                                (3, "NOERROR", "1 of 7 reference nights"), (4, "SERVFAIL", "2 of 7 reference nights")):
        nights.day(day)
        if day == 4:
            nights.configure(any_answers="yes")
        nights.queue(*[({**run, "answers": {"rcodes": {rcode: 500}, "echoed": 0, "truncated": 0}}, code)
                       for run, code in valid_runs(2, day)])
        note = f"100 % of the answers were {rcode}, which may cost the server less" if rcode == "SERVFAIL" else ""
        write(nights.file("notes"), f"Verdict      VALID\n             {note}\n")
        night, _ = nights.run(2, f"INCONCLUSIVE: {verdict}")
        check_equal(re.findall("\nthe last run: (.* answers .*)", nights.summary(night)), [note] if note else [], "the note")


def test_a_night_may_be_a_search():
    """Its runs are capacity searches: the capacities are compared."""
    nights, noise = Nights(runs=8, reference_client="bin/reference"), random.Random(7)
    os.symlink("tcpclient", f"{nights.bin}/reference")
    for i in range(8):
        for who in ("reference", "run") if i % 2 == 0 else ("run", "reference"):
            capacity = (20000 if who == "reference" else 18000) * math.exp(noise.gauss(0, 0.005))
            nights.queue(({**real_result(), "search": {"find": "rate", "unit": "q/s", "status": "found", "reason": None,
                                                       "capacity": capacity, "confirmed": True}}, 0))
    night, _ = nights.run(1, "REGRESSION: capacity -")
    worse, = [m for m in verdict_json(night)["metrics"] if m["finding"] == "worse"]
    check_between(worse["change"], -0.12, -0.08, "the change")


def test_a_host_that_gets_slower_during_the_night_is_no_regression():
    def slower(_, number):
        return 1.1 if number >= 8 else 1
    nights, _, results = night_in_turns(slower, 0, "PASS: no metric got worse; not judged: connect p50; 8 runs")
    names = [write(nights.file(f"{i}.json"), json.dumps(result)) for i, result in enumerate(results)]
    blocks = run_command([TCPREPORT, "compare", "--min-runs", "8", *names[:8], "--", *names[8:]])
    check(blocks.stdout.startswith("REGRESSION: response p50 +"), f"the control: one after the other, {blocks.stdout}")


def test_a_reference_that_is_refused_is_named():
    nights = Nights(reference_client="bin/reference")
    write(f"{nights.bin}/reference", "#!/bin/sh\necho 'unknown option --new' >&2; exit 2\n")
    night, _ = nights.run(2, "INCONCLUSIVE: tcpclient cannot run reference-01")
    check("unknown option --new" in nights.summary(night), nights.summary(night))


# Stopped about a fifth of the time: every percentile beyond p80 is caused by the host. The third stop begins after the end of
# a run of 500 ms: one that is still stopped then has not sent all its queries, and is repeated.
STALLED = """#!/bin/sh
"{client}" "$@" &
pid=$!
trap 'kill "$pid"' TERM
while sleep 0.2 && kill -STOP "$pid"; do
    sleep 0.05
    kill -CONT "$pid"
done 2>/dev/null
wait "$pid"
"""
# Most of a run's median is the server's: less of it, and this host's delays decide it so often on a busy machine that runs are
# repeated again and again.
FAST_MS, ADDED_MS = 20, 5


def echo_server(port, delay_ms):
    """The command of a server that answers after this delay."""
    return f"{sys.executable} {FAULT}/faultserver.py --port {port} --delay-every 1 --delay-ms {delay_ms}"


def real_night(port, server, reference, code, verdict, **settings):
    nights = Nights(**{"runs": 7, "tcpclient": os.path.abspath(TCPCLIENT), "server": server,
                       "server_ready": "listening", "reference_server": reference, "require": "p50", "repeats": 99, **settings})
    write(nights.file("client.conf"), f"target = 127.0.0.1:{port}\nconnections = 10\nrate = 400\n"
                                      "duration = 500ms\ndrain = 100ms\nsettle = 0\nclose = rst\npace = sleep\n")
    write(f"{nights.bin}/stalled", STALLED.format(client=os.path.abspath(TCPCLIENT)))
    with stall_may_spoil():
        night, _ = nights.run(code, verdict, prefix=before_all_others())
    print(f"     {nights.summary(night).splitlines()[0]}")
    return nights, night


def metrics_of(night):
    return {m["metric"]: m for m in verdict_json(night)["metrics"]}


def test_a_server_slower_by_a_known_amount_is_found_beside_its_reference():
    port = free_port()
    fast, slow = echo_server(port, FAST_MS), echo_server(port, FAST_MS + ADDED_MS)
    _, night = real_night(port, fast, slow, 0, "PASS: no metric got worse; better: response p50 -")
    p50 = metrics_of(night)["response p50"]
    with stall_may_spoil():
        check_between((p50["before"] - p50["now"]) / 1e6, ADDED_MS - 1, ADDED_MS + 2, "ms by which the reference is slower")
    real_night(port, slow, fast, 1, "REGRESSION: response p50 +")


@plain_build_only
def test_a_night_on_a_noisy_host_is_judged_by_the_percentiles_that_hold():
    port = free_port()
    server = echo_server(port, FAST_MS)
    nights, night = real_night(port, server, server, 0, "PASS: no metric got worse", tcpclient="bin/stalled")
    check("response p50" in metrics_of(night), "the median is judged")
    holds = []
    for name in names_of(night):
        run = read_json(f"{night}/{name}")
        check(run["latency_ns"]["response"]["p90"] > 0, f"p90 of {name}")
        holds.append(run["holds"]["p90"])
    check_equal(len(holds), 7, "runs")
    check(not all(holds), f"p90: {holds}")  # of any run: not every one is stopped as long
    check("; not judged: response p90, " in nights.summary(night), nights.summary(night))
    nights, night = real_night(port, server, server, 2, "INCONCLUSIVE: reference-01 was not VALID in 2 tries",
                               tcpclient="bin/stalled", require="p99", repeats=1)
    check("host-noise" in nights.summary(night), nights.summary(night))


GOALS = """Goals        p99<5ms met: 0 of 5,000 queries took longer or were lost (0 %)
             p50<1ms missed: 3,000 of 5,000 queries took longer or were lost (60 %)
             lost=0 missed: 3 of 5,000 queries were lost (0.06 %)
Verdict      VALID
"""


def night_with_goals(summary, code, verdict, client_code=1, **settings):
    """Every run of tcpclient ends like this; that of the reference, if there is one, too."""
    nights = Nights(repeats=1, **settings)
    write(f"{nights.bin}/tcpclient", FAKE_CLIENT.replace("exit \"$code\"", f"cat >&2 <<END\n{summary}END\nexit \"$code\""))
    nights.queue(*[(result, client_code) for result, _ in valid_runs(1)], *valid_runs(3))
    nights.run(code, verdict)


def test_a_run_that_misses_a_goal_is_a_regression():
    night_with_goals(GOALS, 1, "REGRESSION: run-01: p50<1ms missed: 3,000 of 5,000 queries took longer or were lost (60 %); "
                     "lost=0 missed: 3 of 5,000 queries were lost (0.06 %)\n")
    nights = Nights(repeats=0)  # a control: without a missed goal it is a bug
    write(f"{nights.bin}/tcpclient", FAKE_CLIENT.replace("exit \"$code\"", f"cat >&2 <<END\n{GOALS.replace('missed', 'met')}END\nexit \"$code\""))
    nights.queue(*[(result, 1) for result, _ in valid_runs(1)])
    nights.run(2, "INCONCLUSIVE: run-01 was not VALID")


def test_a_valid_run_that_cannot_decide_a_goal_is_not_repeated():
    undecided = GOALS.replace("lost=0 missed: 3 of 5,000 queries were lost (0.06 %)",
                              "lost<0.1% undecided: 0 of 5,000 queries were lost (0 %); at least 10,000 are needed to tell").replace("missed", "met")
    night_with_goals(undecided, 2, "INCONCLUSIVE: run-01: lost<0.1% undecided: 0 of 5,000 queries were lost (0 %); "
                     "at least 10,000 are needed to tell\n", client_code=3)


def test_goals_apply_to_the_candidate():
    """The reference comes first and misses them."""
    nights = Nights(repeats=0, runs=1, reference_client="bin/reference")
    write(f"{nights.bin}/reference", FAKE_CLIENT.replace("exit \"$code\"", f"cat >&2 <<END\n{GOALS}END\nexit \"$code\""))
    runs = valid_runs(2)
    nights.queue((runs[0][0], 1), runs[1])
    night, _ = nights.run(2, "")
    check("reference-01" not in nights.summary(night).splitlines()[0], nights.summary(night))
    check_equal(names_of(night, "*-01.json"), ["reference-01.json", "run-01.json"], "runs")


def test_the_required_percentile_applies_to_every_run():
    nights = Nights(require="p90")
    nights.queue(*valid_runs(2))
    nights.run(2, "INCONCLUSIVE: first night")
    nights.configure()
    nights.day(2)
    nights.queue(*valid_runs(2))
    nights.run(2, "INCONCLUSIVE: ")
    with open(nights.file("runs")) as f:
        check_equal(["--require p90 " in line for line in f], [True, True, False, False], "runs with --require")


def test_a_crashed_comparison_makes_no_reference():
    nights = Nights()
    nights.queue(*valid_runs(2))
    first, _ = nights.run(2, "INCONCLUSIVE: first night")
    nights.configure(tcpreport="bin/tcpreport")
    for day, says in ((2, "kill -SEGV $$"), (3, "echo PASS: all is well; exit 2"), (4, "exit 0")):
        write(f"{nights.bin}/tcpreport", f"#!/bin/sh\n{says}\n")
        nights.day(day)
        nights.queue(*valid_runs(2, day))
        night, _ = nights.run(2, "INCONCLUSIVE: tcpreport compare failed with ")
        check(not os.path.exists(f"{night}/reference"), f"a reference after {says}")
    check(os.path.exists(f"{first}/reference"), "the control: the first night is one")


def test_a_percentile_that_does_not_hold_is_not_judged():
    nights, noise = Nights(), random.Random(3)

    def night(day, holds, effect=0.0):
        runs = [synthetic(noise, effect=effect) for _ in range(2)]
        for run in runs:
            run["holds"]["p50"] = holds
        nights.day(day)
        nights.queue(*[(run, 0) for run in runs])
    for day in range(1, 8):
        night(day, True)
        nights.run(2)
    night(8, False, effect=0.5)
    directory, _ = nights.run(0, "PASS: ")
    check("; not judged: response p50" in nights.summary(directory), nights.summary(directory))
    check("response p50" in verdict_json(directory)["not_judged"], "verdict.json")
    night(9, True, effect=0.5)
    nights.run(1, "REGRESSION: response p50 +")


def series(nights, noise, days, effect=0.0):
    """The exit codes of a series' nights, ten runs each; a PASS is silent."""
    codes = []
    for day in days:
        of_night = noise.gauss(0, 0.005)
        nights.day(day)
        nights.queue(*[(synthetic(noise, of_night, effect), 0) for _ in range(10)])
        process = nights.start()
        out, err = process.communicate(timeout=HANGS_S)
        check((out, err) == ("", "") or process.returncode != 0, f"a PASS says {out}{err}")
        codes.append(process.returncode)
    return codes


def test_a_damaged_reference_night_is_left_out_and_named():
    nights, noise = Nights(runs=10), random.Random(1)
    check_equal(series(nights, noise, range(1, 9)), [2] * 7 + [0], "exit codes of 8 nights")
    damaged = f"{nights.all()[2]}/run-05.json"
    os.truncate(damaged, os.path.getsize(damaged) - 20)
    code, = series(nights, noise, [9])
    night = nights.all()[-1]
    said = read_text(f"{night}/compare.txt")
    check(f"{damaged}: " in said, f"the file in {said}")
    figures = verdict_json(night)
    check_equal((figures["verdict"], figures["nights"]), (("PASS", "REGRESSION")[code], 7), f"a verdict by the others: {said}")


def test_references_without_results_are_ignored():
    nights = Nights()
    for day in (1, 2):
        nights.day(day)
        nights.queue(*valid_runs(2, day))
        night, _ = nights.run(2, "INCONCLUSIVE: first night of a series")
        check(os.path.exists(f"{night}/reference"), "it is a reference")
        for name in names_of(night):
            os.remove(f"{night}/{name}")


def test_a_slower_night_is_a_regression_until_a_new_series():
    """By so much that it is certain: unit/report/nights has the statistics of 5 %."""
    nights, noise = Nights(runs=10), random.Random(1)
    check_equal(series(nights, noise, range(1, 10)), [2] * 7 + [0] * 2, "exit codes of 9 quiet nights")
    shutil.copytree(nights.results, nights.file("quiet"))
    check_equal(series(nights, noise, range(10, 13), 0.1), [1] * 3, "a regression stays one")
    nights.configure(runs=10, results="quiet")
    check_equal(series(nights, random.Random(2), range(10, 13)), [0] * 3, "the control: quiet nights")
    nights.configure(runs=10, series="accepted")
    check_equal(series(nights, noise, (13, 14), 0.1), [2] * 2, "a new series")


if __name__ == "__main__":
    main()
