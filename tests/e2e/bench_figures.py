# SPDX-License-Identifier: MIT
"""bench/: what its programs count, and how they judge it."""

import collections
import contextlib
import importlib.machinery
import importlib.util
import io

from helpers.bench_programs import *
import blocks
import compare_report
import compare_targets
import ending
import peers
import picture
import stack_samples

# --- what is counted ---

def program(name):
    """An executable of bench/ as a module."""
    loader = importlib.machinery.SourceFileLoader(f"bench_{name}", os.path.join(BENCH, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@plain_build_only
def test_cost_of_a_query_excludes_that_of_its_connection():
    """4,000 connections take 0.2 s of CPU time, 1,000 queries over them a fifth of that."""
    need_program("cc", "taskset")
    peers.unpin()
    peers.build_floor()
    with peers.TARGETS["tcpserver"] as server:
        whole = peers.run_tcpclient(server, 4000, 1000, 1, whole=True)
        loaded = {"tcpclient": peers.run_tcpclient(server, 4000, 1000, 1), "floor": peers.run_floor(server, 4000, 1000, 1)}
    for name, figures in loaded.items():
        for figure in "cpu", "server_cpu":
            check(figures[figure] < 0.7 * whole[figure], f"{figure} of {name}: {figures[figure]:.0f} us, with opening {whole[figure]:.0f}")
        # by the part that was sent in time: a stall delays the last ones
        check_between(figures["rate"] / figures["achieved"], 0.999, 1.001, f"kq/s of {name} that were due: at constant intervals")


def test_cpus_of_the_server_are_over_the_time_in_which_it_used_them():
    """The figures of a load of 3 s, with 0.5 s to open and close connections, which count for both clients next to dnsperf."""
    figures = peers.costs((3.5, 3.5, (1, 2, 10)), 1000)
    found = figures["server_busy"], figures["server_cpu"], figures["cpu"]
    check_equal(found, (1, 3500, 3000), "CPUs, us per query of both sides")


def test_cost_of_a_connection_excludes_that_of_starting_up():
    scale = program("scale")
    first = scale.Used(memory=10 ** 9, client=9 * 10 ** 6, server=5 * 10 ** 6, cpu_s=[0.1, 0.2, 0.3, 0.4])
    opened = scale.Used(memory=10 ** 9 + 9 * 10 ** 6, client=9250000, server=5200000, cpu_s=[0.11, 0.22, 0.33, 0.44])
    costs = scale.costs(first, opened, 1000)
    check_equal({name: round(cost, 6) for name, cost in costs.items()}, {"client": 250, "server": 200, "kernel": 8550, "cpu_us": 100},
                "costs of one of 1,000 connections")
    loaded = opened._replace(cpu_s=[0.31, 0.72, 0.43, 0.64])
    check_equal([round(us, 6) for us in scale.of_a_query(opened, loaded, 10000)], [20, 50, 10, 20], "us of one of 10,000 queries")


def test_floor_that_cannot_run_is_a_failed_run():
    directory = temp_path("bin")
    os.mkdir(directory)
    write_program(os.path.join(directory, "cc"), "#!/bin/sh\nfor f; do [ \"$was\" != -o ] || out=$f; was=$f; done\n"
                                                 "printf '#!/bin/sh\\necho no fds >&2; exit 1\\n' >$out; chmod 755 $out\n")
    push, path, out = program("push"), os.environ["PATH"], io.StringIO()
    os.environ["PATH"] = f"{directory}:{path}"
    try:
        with contextlib.redirect_stdout(out):
            n_failed = push.print_floor(1000, 1000)
    finally:
        os.environ["PATH"] = path
    check_equal((n_failed, out.getvalue()), (1, "floor        FAIL: no fds\n"), "failed runs, and what it prints")


def test_run_whose_server_ended_meanwhile_is_a_failed_run():
    peers.unpin()
    with peers.Target("a server", lambda stack: (0, spawn(["sleep", "3600"]).pid)) as server:
        peers.run(["true"], server)  # the control
        os.kill(server.pid, signal.SIGKILL)
        wait_for(lambda: has_ended(server.pid), "its end")
        compare = program("compare")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            compare.attempt("x", lambda: peers.run(["true"], server))
    check_equal((compare.failed, out.getvalue()), (["x"], "FAIL x: a server ended during the run\n"), "failed runs, and what it prints")


def test_server_that_ends_at_once_is_a_failed_run():
    peers.unpin()
    with contextlib.ExitStack() as stack:
        try:
            peers.start_command(stack, free_port(), ["sh", "-c", "echo no luck; exit 1"])
        except AssertionError as failed:
            check_equal(str(failed), "sh ended: no luck", "what it says")
        else:
            raise Certain("it is taken for a server")


STACKS = """ 7 
	ffffffff81a2 clear_page_erms ([kernel.kallsyms])
	ffffffff81a1 __alloc_frozen_pages_noprof ([kernel.kallsyms])
	ffffffff81a0 inet_bind_bucket_create ([kernel.kallsyms])

 7 
	ffffffff81a4 _raw_spin_lock ([kernel.kallsyms])
	ffffffff81a3 __inet_hash_connect ([kernel.kallsyms])
	           f786a __libc_connect (/usr/lib/x86_64-linux-gnu/libc.so.6)

 8 
	ffffffff81a6 __inet_lookup_established ([kernel.kallsyms])
	ffffffff81a5 net_rx_action ([kernel.kallsyms])

 8 
	ffffffff81a7 tcp_v4_rcv ([kernel.kallsyms])
	ffffffff81a5 net_rx_action ([kernel.kallsyms])

 8 
	ffffffff81a8 do_epoll_ctl ([kernel.kallsyms])
	            e05f event_add (/usr/lib/libevent_core-2.1.so.7.0.1)

 8 
	            e05f event_add (/usr/lib/libevent_core-2.1.so.7.0.1)
	            1000 client_conn_open (/usr/bin/tcpclient)

 8 
	           163b1b __memcmp_evex_movbe (/usr/lib/x86_64-linux-gnu/libc.so.6)

 8 
	            1000 client_conn_open (/a directory (of mine)/tcpclient)

 9 

"""


def test_stack_counts_as_the_first_part_that_fits():
    counts = stack_samples.count(stack_samples.parse(STACKS))
    check_equal(counts, {7: {"pages": 1, "port table": 1},
                         8: {"connection table": 1, "packets": 1, "rest of kernel": 1, "libevent": 1, "other libraries": 1, "own code": 1}},
                "samples of the parts")


def test_program_that_perf_never_saw_has_no_shares():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        program("shares").print_program(20, "tcpclient", [0, 0.001], collections.Counter())
        program("shares").print_program(20, "tcpserver", [0.01, 0.001], collections.Counter({"pages": 1, stack_samples.OWN: 3}))
    unseen, seen = (line.split() for line in out.getvalue().splitlines())
    check_equal(" ".join(unseen), "20 tcpclient was never seen by perf: too few connections", "the line of one without samples")
    check_equal((seen[:6], seen[-2:]), (["20", "tcpserver", "500", "+", "50", "4"], ["75.0", "%"]), "the control")


@plain_build_only
def test_shares_of_the_cpu_time_add_up():
    need_program("perf")
    if run_command(["perf", "record", "-q", "-g", "-e", "cpu-clock", "-o", temp_path("perf.data"), "true"]).returncode != 0:
        skip("perf may not look into the kernel here")
    r = run_command([os.path.join(BENCH, "shares"), "15k"])
    check_equal(r.returncode, 0, f"exit code: {r.stderr}")
    header, *lines = r.stdout.splitlines()
    check_equal([line.split()[:2] for line in lines], [["15,000", "tcpclient"], ["15,000", "tcpserver"]], r.stdout)
    for line in lines:
        shares = [float(share) for share in re.findall(r"([\d.]+) %", line)]
        check_equal(len(shares), len(stack_samples.PARTS), header)
        check_between(sum(shares), 99.5, 100.5, f"all shares: {line}")


@plain_build_only
def test_scale_excludes_the_startup_of_the_client():
    """It takes 6 MB and more: 3,000 bytes of each of these connections."""
    r = run_command([os.path.join(BENCH, "scale"), "2k"])
    check_equal(r.returncode, 0, f"exit code: {r.stderr}")
    rows = blocks.table(r.stdout)
    check_equal([row["proven"] for row in rows], ["2,000"], r.stdout)
    each = int(rows[0]["client B"])
    check(each <= 2500, f"bytes of the client per connection: {each}")
    with stall_may_spoil():  # they are opened in 0.1 s
        check(each > 0, "it saw the first of them")


def test_figure_of_scale_that_other_programs_spoiled_leaves_the_others_in_place():
    scale = program("scale")
    names = [name for name, _, _ in scale.COLUMNS]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        scale.print_row(names)
        scale.print_row(["+1683.8 %" if name == "plan" else "7" for name in names])
    check_equal(blocks.table(out.getvalue()), [{name: "-" if name == "plan" else "7" for name in names}], out.getvalue())


def test_control_uses_the_windows_in_which_queries_were_due():
    path = temp_path("rows.csv")
    write_text(path, "type,timestamp,connection_id,response_us,send_lag_us\n"
                     "Q,100.250000000,7,,250000.000\nA,100.500000000,7,500000.000,250000.000\n")
    check_equal(program("control").answers(path), [(100.0, 500000.0, 100.0)], "due, response, first query of the connection")


def test_rate_of_a_closed_loop_counts_only_the_answers_in_its_time():
    """The last 100 of 3,000 answers came after the 3 s."""
    check_equal(peers.closed_loop_qps(3000, 100, 3), 2900 / 3, "queries per second")
    check_equal(peers.closed_loop_qps(50, 100, 3), 0, "when only queries of the end were answered")


# --- how it is judged ---

def case(title, **figures):
    """A case with one run of each program; the first is the reference."""
    return {"case": title, "reference": next(iter(figures)), "runs": {name: [run] for name, run in figures.items()}}


def verdict(targets, section, cases, title):
    """(whether it is met, what was measured)."""
    return next((met, got) for text, got, met in targets({section: cases}) if title in text)


def test_cpu_time_is_judged_only_where_the_programs_are_not_saturated():
    busy = case("1000 kq/s over 5 connections to tcpserver", floor={"rate": 1000, "cpu": 1}, tcpclient={"rate": 1000, "cpu": 1})
    for cpu, is_met in ((11, True), (13, False)):
        idle = case("20 kq/s over 5 connections to tcpserver", floor={"rate": 20, "cpu": 10}, tcpclient={"rate": 20, "cpu": cpu})
        met, got = verdict(compare_targets.floor_targets, "clients", [busy, idle], "tcpclient, 20 kq/s over 5: <= 1.2 of its CPU")
        check_equal((met, got), (is_met, f"{cpu / 10:.2f}"), f"{cpu} us, the floor's 10")


def test_end_of_the_ladder_is_a_bound():
    compare = program("compare")
    compare.LADDER_KQPS = 1000, 2800, 4000
    for ours, theirs, is_met, ratio in ((4000, 4000, compare_targets.UNKNOWN, "-"), (2800, 4000, False, "<= 0.70"),
                                        (4000, 2800, True, ">= 1.43"), (1000, 1000, True, "1.00")):
        found = case("limit over 5 connections", floor=compare.of_ladder(theirs), tcpclient=compare.of_ladder(ours))
        met, got = verdict(compare_targets.floor_targets, "limits", [found], "limit over 5")
        check_equal((met, compare_report.ratio_text(found, "tcpclient", "rate")), (is_met, ratio), f"{ours} next to {theirs}")
        check_equal(got.count(">= 4,000"), (ours, theirs).count(4000), got)


def test_single_run_has_no_spread():
    for rates, spread in (([100], None), ([90, 110], 20), ([], None)):
        check_equal(compare_report.spread_percent([{"rate": rate} for rate in rates], "rate"), spread, f"spread in % of {rates}")


def test_suspect_runs_are_reported():
    runs = [{"reasons": []}, {"reasons": ["host-noise", "generator-limited"]}, {"rate": 1}]
    check_equal(compare_report.doubts(runs), "SUSPECT in 1 of 3 runs: generator-limited, host-noise", "what is said")
    check_equal(compare_report.doubts(runs[:1] + runs[2:]), None, "what is said of runs without a doubt")


def test_lost_queries_do_not_help_to_meet_a_target():
    for ours, theirs, is_met in ((0, 0, True), (1, 0, False), (0, 1204, compare_targets.UNKNOWN), (1, 1204, False)):
        found = case("knot, 2,000 connections and queries in flight", dnsperf={"rate": 78, "cpu": 27, "lost": theirs},
                     tcpclient={"rate": 99, "cpu": 10, "lost": ours})
        check_equal(verdict(compare_targets.dnsperf_targets, "dns", [found], "knot")[0], is_met, f"{ours} and {theirs} lost")


def script_of(sections, earlier=None):
    """What gnuplot is given for these; the JSON file has sections of an earlier run."""
    before, drawn = (compare_report.JSON_PATH, picture.draw), []
    compare_report.JSON_PATH = temp_path("compare.json")
    picture.draw = lambda _, __, script: drawn.append(script)
    try:
        for name, cases in (earlier or {}).items():
            compare_report.write_json(name, cases, {})
        compare_report.draw(sections, "x.png")
    finally:
        compare_report.JSON_PATH, picture.draw = before
    check_equal(len(drawn), 1, "pictures")
    return drawn[0]


def test_picture_shows_a_single_run():
    found = case("1000 kq/s over 5 connections to tcpserver", floor={"rate": 1000, "cpu": 1}, tcpclient={"rate": 1000, "cpu": 1})
    script = script_of({"clients": [found]}, {"limits": [case("limit over 5 connections", floor={"rate": 9})]})
    check_equal(("$cost" in script, "$limit" in script), (True, False), "what is drawn of an earlier run")


def test_picture_omits_programs_that_did_not_run():
    """gnuplot would fail, and there would be no picture."""
    name = "unbound, 2,000 connections and queries in flight"
    for others, titles in (({}, ["tcpclient"]), ({"dnsperf": {"rate": 78}}, ["dnsperf", "tcpclient"])):
        script = script_of({"dns": [case(name, tcpclient={"rate": 99}, **others)]})
        check_equal(re.findall(r'using (\d):xtic\(1\) title "(\w+)"', script), [(str(i + 2), t) for i, t in enumerate(titles)], "columns")


def test_picture_that_gnuplot_refuses_is_a_failed_run():
    need_program("gnuplot")
    path, out = temp_path("x.png"), io.StringIO()
    with contextlib.redirect_stdout(out):
        drawn = [picture.draw(path, "300,200", script) for script in ("plot x", "plot nothing")]
    check_equal(drawn, [True, False], "pictures drawn")
    found = re.fullmatch(rf"The picture: {re.escape(path)}\nFAIL the picture: .*undefined variable: nothing\n", out.getvalue())
    check(found, out.getvalue())


def test_picture_does_not_depend_on_the_terminal_of_the_user():
    need_program("gnuplot")
    for terminal in ("no terminal of gnuplot", ""):
        path = temp_path("x.png")
        code = f"import sys; sys.path.append({BENCH!r}); import picture; picture.draw({path!r}, '300,200', 'plot x')"
        r = run_command([sys.executable, "-c", code], env={**os.environ, "GNUTERM": terminal, "PYTHONDONTWRITEBYTECODE": "1"})
        check_equal(r.stdout, f"The picture: {path}\n", f"what it prints with GNUTERM={terminal!r}")
        check(os.path.getsize(path) > 0, "the picture")


def test_missed_targets_and_failed_runs_set_the_exit_code():
    compare = program("compare")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        codes = [ending.exit_code(*counts) for counts in ((0,), (1,), (0, 1))]
        compare.attempt("x", lambda: 1 / 0)
        compare.attempt("y", lambda: skip("not installed"))
    check_equal(codes, [0, 1, 1], "exit codes")
    check_equal(compare.failed, ["x"], "failed runs")
    check_equal(out.getvalue().splitlines(), ["targets missed: 1", "runs failed: 1", "FAIL x: division by zero", "SKIP y: not installed"],
                "what they print")
    missed = case("limit over 5 connections", floor=compare.of_ladder(1000), tcpclient=compare.of_ladder(100))
    check_equal(compare_targets.judge({"limits": [missed]}), 1, "targets missed")
    saturation = program("saturation")
    kept = {200: (0.125, 0.13, 5e-6, 0), 400: (0.14, 0.15, 2.5e-6, 0)}
    c_s, c_q = saturation.costs({kqps * 1000: p50 for kqps, (p50, *_) in kept.items()})
    check_equal(saturation.judge(kept, c_s, c_q), 0, "targets missed")
    check_equal(saturation.judge({**kept, 800: (0.16, 0.16, 1e-6, 1)}, c_s, c_q), 1, "targets missed, with one query lost")
    check_equal(saturation.judge(kept, c_s, 1 / 300e3), 1, "targets missed, with a theory below 0")


def test_killed_benchmark_counts_as_too_slow():
    failure = program("all").failure
    check_equal([failure(*found) for found in ((124, 60.1, 1), (-9, 90.0, 1), (137, 90.0, 1))], ["took more than 1 minutes"] * 3,
                "after the time")
    check_equal([failure(*found) for found in ((1, 5.0, 1), (-9, 5.0, 1))], ["exit code 1", "exit code -9"], "before")


if __name__ == "__main__":
    main()
