# SPDX-License-Identifier: MIT
"""--start-at and --start-file: the load starts at a given time, not before, at the same time on all clients; a missed
start is not made up for."""

import ctypes

from helpers.start_file import *

NS = 10**9


def intended_span(result):
    """When the first and the last query were due, since the epoch."""
    due = [intended_ns(row) for row in result.rows() if row["type"] == "Q"]
    return min(due), max(due)


def in_time(run):
    """Returns what run() returns, the results first. A stall of the machine can last past the start time."""
    results, at = run()
    with stall_may_spoil():
        check_equal([r.json["start"]["missed"] for r in results], [False] * len(results), "missed")
    return results, at


def client_with_a_moment():
    with Server() as server:
        at_ns = time.time_ns() + 3 * NS
        r = run_client("-p", server.port, "-c", 10, "-r", 1000, "--arrival", "constant", "-t", 1, "-R", "--start-at",
                       f"{at_ns / NS:.6f}", "127.0.0.1")
    return [r], at_ns


def late_start_with_a_log(log):
    with Server() as server:
        return run_client("-p", server.port, "-c", 10, "-r", 1000, "-t", 1, "--settle", "5s", "--hlog", log, "--start-at",
                          f"{time.time() + 0.5:.6f}", "--late-max", "20s", "127.0.0.1")


@covered_by_others
def test_settle_time_before_the_program_started_is_no_interval():
    log = temp_path("run.hlog")
    r = late_start_with_a_log(log)
    check_conservation(r)
    begins = [float(line.split(",")[0]) for line in open(log) if line[0].isdigit()]
    check(begins and all(0 <= begin < 60 for begin in begins), f"intervals begin at {begins}")


@covered_by_others
def test_schedule_begins_at_the_start_time():
    (r,), at_ns = in_time(client_with_a_moment)
    check_complete(r)
    check_conservation(r)
    at_ns = at_ns // 1000 * 1000
    first, last = intended_span(r)
    start = r.json["start"]
    check_between(start["at_epoch_ns"] - at_ns, -1000, 1000, "at_epoch_ns")
    check_between(last - first, 989_000_000, 1_001_000_000, "the last one is of the same schedule")
    with stall_may_spoil():  # between the readings of two clocks, too
        check_between(first - at_ns, -2000, 2_000_000, "the first query is due at the moment, in ns")
        check_between(start["margin_s"], 0.1, 3, "margin")
    check_equal(start["missed"], False, "missed")
    # of all threads
    lags_ns = {int(row["send_lag_us"].replace(".", "")) for row in r.rows() if row["type"] == "Q"}
    sent = min(int(row["timestamp"].replace(".", "")) for row in r.rows() if row["type"] == "Q")
    check(start["late_ns"] in lags_ns and start["late_ns"] >= sent - first,
          f"the first query's lateness: {start['late_ns']}, {sent - first} or more")
    check(re.search(r"^Start +at \S+Z, known .* before; first query .* late; clock ", r.err, re.M), r.err)


@covered_by_others
def test_run_without_a_start_time_reports_none():
    """The control of the tests here: the same client does not wait."""
    with Server() as server:
        begin_ns = time.time_ns()
        r = run_client("-p", server.port, "-c", 10, "-r", 1000, "-t", "200ms", "-R", "127.0.0.1")
    check_equal(r.json["start"], None, "start")
    check("\nStart" not in r.err, r.err)
    with stall_may_spoil():
        check_between(intended_span(r)[0] - begin_ns, 0, 2.5 * NS, "begin")


def clients_at_a_file():
    with Server() as server:
        paths = [temp_path("start") for _ in range(3)]
        write_text(paths[0] + ".ready", "an earlier run's")
        clients = [Client("-p", server.port, "-c", 10, "-r", 500, "--arrival", "constant", "-t", 1, "-R", "-s", i,
                          "--start-file", path, "127.0.0.1") for i, path in enumerate(paths)]
        for path in paths:
            wait_for(lambda p=path: os.path.exists(p + ".ready") and os.path.getsize(p + ".ready") > 20, path)
            check_equal(wait_ready(path), {"asked": 10, "connected": 10, "proven": 10, "half_open": 0, "live": 10},
                        "FILE.ready")
        time.sleep(0.5)
        for client in clients:
            check_equal(client.process.poll(), None, "they wait")
        at = time.time() + 1.5
        for path in paths:
            open_gate(path, at)
        return [client.wait() for client in clients], at


@covered_by_others
def test_clients_waiting_for_a_file_start_together():
    results, at = in_time(clients_at_a_file)
    begins = [intended_span(r)[0] for r in results]
    for r in results:
        check_complete(r)
        with stall_may_spoil():
            check_between(r.json["start"]["margin_s"], 0.01, 1.5, "margin")
    with stall_may_spoil():  # between the readings of two clocks, too
        check_between(max(begins) - min(begins), 0, 1_000_000, "spread of the begins, in ns")
        check_between(min(begins) - at * NS, -1000, 2_000_000, "begin after the moment, in ns")


def missed(*arguments, before_start=None):
    """A client that is too late: it proves its connections and sends no queries."""
    with Server() as server:
        client = Client("-p", server.port, "-c", 5, "-r", 1000, "-t", "500ms", "-R", *arguments, "127.0.0.1")
        if before_start:
            before_start()
        r = client.wait()
    check_code(r, 3)
    check_conservation(r)
    check_equal(r.json["reasons"], ["start-missed"], "doubts")
    check_equal(r.json["start"]["missed"], True, "missed")
    check_equal(r.json["queries"]["scheduled"], 0, "queries")
    check_equal(r.rows(), [], "rows")
    check_equal(r.json["connections"]["proven"], 5, "proven")
    return r


@covered_by_others
def test_start_time_in_the_past_is_missed():
    path, moments = temp_path("start"), []

    def open_late():
        wait_ready(path)
        moments.append(time.time() - 0.5)
        open_gate(path, moments[0])

    r = missed("--threads", 4, "--start-file", path, before_start=open_late)
    check_equal(r.err.count("the start was missed"), 1, "said once, whenever the threads end")
    check(re.search(r"the start was missed by \S+ m?s \(--late-max 50.0 ms\): nothing is sent; allow more time\n", r.err), r.err)
    check_between(r.json["start"]["margin_s"], moments[0] - time.time(), -0.5, "margin")
    check(re.search(r"^Start +at \S+Z, known \S+ m?s after it; clock ", r.err, re.M), r.err)


@covered_by_others
def test_late_max_allows_a_late_start():
    """The control of the test above: the same lateness, allowed; the queries of that time are late, not left out."""
    path = temp_path("start")
    with Server() as server:
        client = Client("-p", server.port, "-c", 5, "-r", 1000, "--arrival", "constant", "-t", 2, "-R", "--late-max",
                        "20s", "--start-file", path, "127.0.0.1")
        wait_ready(path)
        open_gate(path, time.time() - 0.5)
        r = client.wait()
    check_equal(r.json["start"]["missed"], False, "missed")
    check_equal(r.json["queries"]["sent"], 2000, "the whole schedule")
    check_between(r.json["start"]["late_ns"], 0.5 * NS, 20 * NS, "lateness of the first query")
    check_between(r.json["latency_ns"]["response"]["max"], 0.5 * NS, 50 * NS, "response time counts from when it was due")


def before_boot():
    return time.time() - time.clock_gettime(time.CLOCK_MONOTONIC) - 10


def test_start_time_before_the_boot_is_refused():
    """The load is sent by a clock that begins at the boot."""
    r = run_client("-c", 1, "-r", 100, "-t", 1, "--late-max", "8784h", "--start-at", f"{before_boot():.3f}", "127.0.0.1")
    check_code(r, 2)
    check(re.search(r"^tcpclient: --start-at: '[0-9.]+' is before this machine was booted$", r.err, re.M), r.err)


def test_start_time_before_the_boot_in_a_file_is_missed():
    path = temp_path("start")

    def open_long_ago():
        wait_ready(path)
        open_gate(path, before_boot())

    r = missed("--late-max", "8784h", "--start-file", path, before_start=open_long_ago)
    check(re.search(r"the start was \S+ \S+ ago, before this machine was booted: nothing is sent", r.err), r.err)


def test_search_that_missed_its_start_has_no_answer():
    path = temp_path("start")
    with Server() as server:
        client = Client("-p", server.port, "-c", 5, "--find", "rate", "--find-range", "100-1k", "--start-file", path, "127.0.0.1")
        wait_ready(path)
        open_gate(path, time.time() - 0.5)
        r = client.wait()
    s = r.json["search"]
    check_equal((r.code, s["status"], s["reason"], s["trials"]), (3, "inconclusive", "stopped", []), r.err)
    check("the run ended before the search began\n" in r.err, r.err)


def test_file_without_a_time_ends_the_run():
    path = temp_path("start")

    def write_words():
        wait_ready(path)
        write_text(path, "soon\n")

    r = missed("--start-file", path, before_start=write_words)
    check(f"--start-file: invalid start time in '{path}'" in r.err, r.err)


def test_client_waits_for_the_end_of_the_line():
    path = temp_path("start")
    with Server() as server:
        client = Client("-p", server.port, "-c", 5, "-r", 100, "-t", "200ms", "--late-max", "20s", "--start-file", path,
                        "127.0.0.1")
        wait_ready(path)
        with open(path, "w") as f:
            f.write("17")
            f.flush()
            time.sleep(0.3)
            check_equal(client.process.poll(), None, "17 is not yet a time")
            f.seek(0)
            f.write(f"{time.time() + 3:.3f}\n")
        check_complete(client.wait())


def test_unreadable_file_is_reported_once_and_waited_for():
    path = temp_path("start")
    with Server() as server:
        client = Client("-p", server.port, "-c", 5, "-r", 100, "-t", "200ms", "--late-max", "20s", "--start-file", path,
                        "127.0.0.1")
        wait_ready(path)
        os.mkdir(path)
        wait_for(lambda: "cannot read" in client.stderr(), "what it says of the file")
        os.rmdir(path)
        open_gate(path, time.time() + 1)
        r = client.wait()
    check_complete(r)
    check_equal(r.err.count(f"--start-file: cannot read '{path}': Is a directory; trying again"), 1, r.err)


@covered_by_others
def test_interrupt_ends_the_wait():
    path = temp_path("start")
    with Server() as server:
        client = Client("-p", server.port, "-c", 5, "-r", 100, "-t", 1, "--start-file", path, "127.0.0.1")
        wait_ready(path)
        client.process.send_signal(signal.SIGTERM)
        r = client.wait()
    check_code(r, 130)
    check_equal(r.json["queries"]["scheduled"], 0, "queries")
    check_equal(r.json["start"]["at_epoch_ns"], None, "the moment")


def test_impossible_start_times_are_refused():
    with Server() as server:
        for arguments, words in (
                (["--start-at", "tomorrow"], "--start-at: invalid value 'tomorrow': expected seconds since"),
                (["--start-at", "1e9"], "--start-at: invalid value '1e9'"),
                (["--start-at", "1700000000"], "--start-at: '1700000000' was more than --late-max (50.0 ms) ago: expected a later time"),
                (["--start-at", "9000000000", "--start-file", "x"], "--start-at: conflicts with --start-file"),
                (["--late-max", "1s"], "--late-max: requires"),
                (["--start-file", "/nowhere/start"], "--start-file: cannot write '/nowhere/start.ready'")):
            r = run_client("-p", server.port, "-t", 1, *arguments, "127.0.0.1")
            check_code(r, 2)
            check(words in r.err, r.err)
        server.stop()
        check_equal(server.result["accepted"], 0, "nobody connected")


@covered_by_others
def test_clock_error_is_the_bound_of_the_kernel():
    class Timex(ctypes.Structure):  # struct timex of 64-bit Linux: its first fields
        _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long),
                    ("maxerror", ctypes.c_long), ("esterror", ctypes.c_long), ("status", ctypes.c_int),
                    ("rest", ctypes.c_char * 256)]

    def bound_ns():
        timex = Timex()
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
        return state != 5 and not timex.status & 0x40, timex.maxerror * 1000  # TIME_ERROR, STA_UNSYNC

    path = temp_path("start")
    write_text(path, "soon\n")
    with Server() as server:
        for arguments in (["--start-at", f"{time.time() + 1:.3f}", "--late-max", "20s"], ["--start-file", path],
                          ["--start-at", f"{time.time() + 60:.3f}", "-p", 1]):  # nothing listens there: it never waits
            before = bound_ns()
            r = run_client("-p", server.port, "-c", 1, "-r", 100, "-t", "100ms", *arguments, "127.0.0.1")
            after, start = bound_ns(), r.json["start"]
            with stall_may_spoil():  # so may an adjustment of the clock
                check_equal(start["missed"], arguments[0] == "--start-file", f"missed, {arguments}")
                check_equal(start["clock_is_synchronized"], before[0], f"synchronized, {arguments}")
                check_between(start["clock_max_error_ns"], before[1], after[1], f"bound, {arguments}")


if __name__ == "__main__":
    main()
