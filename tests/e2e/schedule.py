# SPDX-License-Identifier: MIT
"""Rates that change: steps, slopes, and their boundaries."""

from helpers.harness import *
from helpers.namespace import *


def scheduled_run(*options, text=""):
    """(result, seconds since the first second of the schedule at which each query was due, sorted)."""
    with Server() as server:
        r = run_client("-p", server.port, "-c", 50, "--arrival", "constant", *options, "-R", "127.0.0.1",
                       text=text)
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    due_ns = sorted(intended_ns(row) for row in r.rows() if row["type"] == "Q")
    return r, [(at - due_ns[0]) / 1e9 for at in due_ns]


def rate_between(due_s, begin_s, end_s):
    return sum(begin_s <= at < end_s for at in due_s) / (end_s - begin_s)


def most_in_10_ms(due_s):
    bins = {}
    for at in due_s:
        i = round(at * 1e9) // 10**7
        bins[i] = bins.get(i, 0) + 1
    return max(bins.values())


STEP = "2\n2000 50\n2000 400\n"


@covered_by_others
def test_steps_of_the_predecessors_input_are_kept():
    r, due_s = scheduled_run("--stdin", text=STEP)
    rates = rate_between(due_s, 0, 1.99), rate_between(due_s, 2, 3.99)
    print(f"     50 -> 400 q/s: {rates[0]:.1f}, {rates[1]:.1f}")
    check_between(rates[0], 47.5, 52.5, "first rate")
    check_between(rates[1], 380, 420, "second rate")
    check_equal(most_in_10_ms(due_s), 4, "most in 10 ms: no burst at the boundary")
    check_equal(r.json["rate"]["asked_qps"], 225, "asked on average")
    check_equal(r.json["rate"]["duration_s"], 4, "duration")
    check("on a schedule" in r.err, "in the summary")


@covered_by_others
def test_interrupted_schedule_requested_what_was_due():
    with Server() as server:
        client = Client("-c", 5, "--schedule", "1h:50,1h:5000", "--stats-interval", "200ms",
                        f"127.0.0.1:{server.port}")
        wait_until_running(client)
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_equal(r.json["rate"]["asked_qps"], 50 if r.json["rate"]["duration_s"] > 0 else 2525, "asked until then")


def fitted_slope(due_s):
    """Least squares over the rates of half seconds."""
    points = [(t + 0.25, rate_between(due_s, t, t + 0.5)) for t in (x / 2 for x in range(0, 12))]
    mean_t = sum(t for t, _ in points) / len(points)
    mean_rate = sum(rate for _, rate in points) / len(points)
    return (sum((t - mean_t) * (rate - mean_rate) for t, rate in points) /
            sum((t - mean_t)**2 for t, _ in points))


@plain_build_only
def test_slopes_of_the_predecessors_input_are_kept():
    _, due_s = scheduled_run("--stdin-rateslope", "-r", 500, text="1\n6000 42\n")
    print(f"     +42 q/s/s: {fitted_slope(due_s):.2f}")
    check_between(fitted_slope(due_s), 42 * 0.98, 42 * 1.02, "slope")
    _, flat_s = scheduled_run("--stdin-rateslope", "-r", 500, text="1\n6000 0\n")
    check_between(fitted_slope(flat_s), -0.84, 0.84, "the control: no slope")


def test_rate_stays_zero_while_a_slope_is_below_zero():
    r, due_s = scheduled_run("--stdin-rateslope", "-r", 200, text="3\n1000 -400\n1000 -50\n1000 300\n")
    check_equal(len([at for at in due_s if 0.51 < at < 1.99]), 0, "queries while the rate is 0")
    check_between(len([at for at in due_s if at <= 0.51]), 49, 51, "queries down to 0")
    check_between(len([at for at in due_s if at >= 1.99]), 148, 151, "and up again")
    check_equal(r.json["rate"]["duration_s"], 3, "duration")


def test_schedule_forms_are_equivalent():
    path = temp_path("steps")
    write_text(path, "1s:50 # slowly\n1s:400\n")
    runs = [scheduled_run("--stdin", text="2\n1000 50\n1000 400\n")[1],
            scheduled_run("--schedule", "1s:50,1s:400")[1],
            scheduled_run("--schedule", f"@{path}")[1]]
    rounded = [[round(at, 6) for at in due_s] for due_s in runs]
    check(rounded[0] == rounded[1] == rounded[2], "the same queries are due at the same times")
    other = [round(at, 6) for at in scheduled_run("--schedule", "1s:50,1s:401")[1]]
    check(other != rounded[0], "the control: another rate, other times")


def test_warmup_comes_before_the_schedule_at_its_first_rate():
    r, _ = scheduled_run("--schedule", "1s:200,1s:400", "--warmup", "500ms")
    check_equal((r.json["warmup"]["scheduled"], r.json["queries"]["scheduled"]), (100, 600),
                "queries of the warm-up and of the schedule")


def distance_from_uniform(values, width):
    """Kolmogorov and Smirnov's: the most by which the share below a value is off."""
    values = sorted(values)
    return max(max(abs((i + 1) / len(values) - v / width), abs(i / len(values) - v / width))
               for i, v in enumerate(values))


@covered_by_others
def test_first_queries_of_the_connections_are_spread_over_the_interval():
    for loop in "open", "closed":
        with Server("--protocol", "ping") as server:
            r = run_client("-p", server.port, "-c", 500, "-i", "1s", "--loop", loop, "-t", 2, "--protocol", "ping",
                           "-R", "127.0.0.1")
        check_conservation(r)
        first = {}
        for row in r.rows():
            if row["type"] == "Q":
                first.setdefault(row["connection_id"], intended_ns(row) / 1e9)
        begin_s = min(first.values())
        check_equal(len(first), 500, "connections that asked")
        distance = distance_from_uniform([at - begin_s for at in first.values()], 1)
        check(distance < 0.02, f"{loop}: {distance:.4f} from uniform")
        # the control: offsets of half the width are not uniform over the whole
        check(distance_from_uniform([(at - begin_s) / 2 for at in first.values()], 1) > 0.3, "the control")


def live_by_the_progress_lines(text):
    """[(seconds since the load began, live connections)]"""
    return [(float(at), int(live)) for at, live in re.findall(r"running ([\d.]+) of [\d.]+ s, (\d+) live", text)]


def run_with_population(*options):
    """100 to 300 connections in a second, held for one, and away in another: how exactly is for virtual time to tell, in
    tests/sim/populations.py."""
    server = Server("--threads", 1)
    r = run_client("-p", server.port, "--conn-schedule", "1s:100-300,1s:300,1s:300-0", "--threads", 1,
                   "--stats-interval", "100ms", *options, "127.0.0.1")
    server.stop()
    check_conservation(r)
    check_equal(server.result["accepted"], r.json["connections"]["connected"], "connections of the server")
    check(server.result["peak"] <= 300, f"at most 300 at a time: {server.result['peak']}")
    with stall_may_spoil():  # of a second, for which there are as many
        check_equal(server.result["peak"], 300, "connections at a time")
    return r


def most_off_the_schedule(r):
    """By how many connections; the lines show tenths of a second."""
    want, off = [(0, 100), (1, 300), (2, 300), (3, 0)], 0
    for at, live in live_by_the_progress_lines(r.err):
        at = min(at, 3)  # a late line shows the end
        (begin, low), (end, high) = next((a, b) for a, b in zip(want, want[1:]) if at <= b[0])
        off = max(off, abs(live - (low + (high - low) * (at - begin) / (end - begin))))
    return off


@measures_time
def test_connection_schedule_is_punctual():
    # 20 queries per second of each: (100 + 300) / 2 + 300 + 300 / 2 connection seconds
    for loop, least in ("open", 0.99 * 20 * 650), ("closed", 0.7 * 20 * 650):
        r = run_with_population("-i", "50ms", "--loop", loop)
        off = most_off_the_schedule(r)
        with stall_may_spoil():
            check(off <= 50, f"at most {off:.0f} connections off the schedule: {live_by_the_progress_lines(r.err)}")
            check(r.json["queries"]["scheduled"] >= least, f"{loop} loop: {r.json['queries']['scheduled']} queries")
            check_between(r.json["connections"]["wanted_at_end"], 0, 6, "wanted at the end: the last look comes 10 ms before it")


def test_queries_due_during_a_pause_are_sent_together():
    """100,000 fell due while the client was stopped, 50 of each connection: a write each, or two, not one for each query."""
    with Namespace() as ns, Server(prefix=ns.prefix) as server:
        client = Client("-p", server.port, "-c", 2000, "--schedule", "1s:100,1s:100000,3s:1", "--threads", 1, "--timeout",
                        "5m", "--arrival", "constant", "--stats-interval", "100ms", "127.0.0.1", prefix=ns.prefix)
        wait_until_running(client)
        suspend(client.process)
        time.sleep(2.5)
        client.process.send_signal(signal.SIGCONT)
        r = client.wait()
    check_conservation(r)
    check(r.json["queries"]["answered"] > 100000, f"answered: {r.json['queries']['answered']}")
    print(f"     {r.json['network']['tx_packets']} packets", flush=True)
    with stall_may_spoil():  # the client may be stopped too late
        check(r.json["network"]["tx_packets"] < 25000, f"{r.json['network']['tx_packets']} packets")


def test_connections_follow_a_schedule():
    r = run_with_population("-i", "50ms")
    q = r.json["queries"]
    check_equal(q["answered"] + q["cancelled"], q["sent"], "those that go have their answers first")
    check_between(q["scheduled"], 1, 1.01 * 20 * 650, "queries")
    check("on a schedule" in r.err, "in the summary")


@covered_by_others
def test_progress_compares_sent_with_due_since_the_last_line():
    """A step between two lines: neither the rate before it nor the one after it is what was due."""
    with Server() as server:
        r = run_client("-p", server.port, "-c", 20, "--schedule", "1.3s:200,1.7s:2000", "--arrival", "constant",
                       "--stats-interval", "1s", "127.0.0.1")
    lines = [(int(sent), int(due)) for sent, due in re.findall(r"(\d+) of (\d+) sent/s", r.err)]
    with stall_may_spoil():
        check(len(lines) >= 2 and max(due for _, due in lines) > 250, r.err)
        for sent, due in lines:
            check(abs(sent - due) <= 30 + due / 20, f"sent and due: {lines}")


def arrivals_by(threads, *arguments):
    """(microseconds after the first query was due, connection) of each query, in order."""
    with Server() as server:
        r = run_client("-p", server.port, "-c", 50, "-r", 2000, "-t", 1, "--seed", 11, "--threads", threads, "-R", *arguments,
                       "127.0.0.1")
    check_conservation(r)
    rows = sorted((intended_ns(row), int(row["connection_id"])) for row in r.rows() if row["type"] == "Q")
    return [((due - rows[0][0]) // 1000, connection) for due, connection in rows]


def apart(arrivals):
    """The numbers of those that are so far from both neighbours that rounding cannot change their order."""
    close = {i for i, ((a, _), (b, _)) in enumerate(itertools.pairwise(arrivals)) if b - a <= 4}
    return [i for i in range(len(arrivals)) if not {i - 1, i} & close]


def test_same_seed_gives_the_same_schedule_with_any_number_of_threads():
    """Rows have microseconds, rounded: an instant may differ by two."""
    for arguments in ((), ("--arrival", "constant", "--select", "round-robin")):
        one = arrivals_by(1, *arguments)
        check(len(apart(one)) > 0.95 * len(one), f"{len(apart(one))} of {len(one)} queries have a place of their own")
        is_constant = all(abs(b - a - 500) <= 1 for (a, _), (b, _) in itertools.pairwise(one))
        is_in_turn = all(len({c for _, c in one[i:i + 50]}) == 50 for i in range(len(one) - 50))
        check_equal((is_constant, is_in_turn), (bool(arguments), bool(arguments)), "constant, in turn")
        for threads in 2, 5:
            many = arrivals_by(threads, *arguments)
            check_equal(len(many), len(one), f"queries of {threads} threads")
            check_equal(sorted(c for _, c in many), sorted(c for _, c in one), "their connections")
            check(all(abs(a - b) <= 2 for (a, _), (b, _) in zip(one, many)), f"{threads} threads: the same instants")
            check_equal([many[i][1] for i in apart(one)], [one[i][1] for i in apart(one)], "each on the same connection")


if __name__ == "__main__":
    main()
