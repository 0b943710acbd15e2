# SPDX-License-Identifier: MIT
"""The rows of a run: their reader goes away or is slow, the disk is full, and only a sample of them is written."""

import glob

from helpers.harness import *


@covered_by_others
def test_run_continues_when_the_reader_of_its_rows_goes_away():
    with Server() as server:
        reading, writing = os.pipe()
        client = Client("-p", server.port, "-c", 10, "-r", 2000, "-t", 2, "-R", "127.0.0.1",
                        stdout=writing)
        os.close(writing)
        os.read(reading, 100)
        os.close(reading)
        r = client.wait()
    check_conservation(r)
    check_code(r, 3)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    check("output-lost" in r.json["reasons"], "the verdict says so")
    rows = r.json["queries"]["sent"] + r.json["queries"]["answered"]
    check_equal(r.json["output"]["rows"] + r.json["output"]["dropped_rows"], rows, "rows")
    check("Broken pipe" in r.err, "the summary says why")


@covered_by_others
def test_run_continues_when_the_disk_is_full():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 10, "-r", 1000, "-t", 1, "-o", "/dev/full",
                       "127.0.0.1")
    check_conservation(r)
    check_code(r, 3)
    q, output = r.json["queries"], r.json["output"]
    check_equal(q["answered"], q["scheduled"], "answered")
    check("output-lost" in r.json["reasons"], "the verdict says so")
    check("No space left" in r.err, "the summary says why")
    check_equal((output["rows"], output["dropped_rows"]), (0, q["sent"] + q["answered"]), "rows written, rows missing")


def has_workers(pid):
    try:
        return any(read_text(name).startswith("client") for name in glob.glob(f"/proc/{pid}/task/*/comm"))
    except OSError:  # one of the threads has just ended
        return True


def wait_until_all_is_sent(client):
    wait_for(lambda: not has_workers(client.pid), "the workers' end")


def slow_reader_run(server, rate, *options, wait=wait_until_all_is_sent):
    """The rows go to a pipe that is not read until wait(client) returns: by default until all queries are sent."""
    reading, writing = os.pipe()
    path = temp_path("rows")
    client = Client("-p", server.port, "-c", 100, "-r", rate, "-t", 3, "-R", "--stats-interval", "200ms", *options,
                    "127.0.0.1", stdout=writing)
    os.close(writing)
    wait_until_running(client)
    wait(client)
    reader = spawn(["sh", "-c", f"exec cat > {path}"], stdin=reading)
    os.close(reading)
    r = client.wait()
    reader.wait(HANGS_S)
    r.out = read_text(path)
    return r


def lags_beside_readers():
    """The send lags with a quick and with a slow reader; every missing row is counted."""
    rate = 20000  # queries: twice as many rows
    with Server() as server:
        quick = run_client("-p", server.port, "-c", 100, "-r", rate, "-t", 3, "-o", "/dev/null",
                           "127.0.0.1")
        slow = slow_reader_run(server, rate)
    check_conservation(slow)
    q, output = slow.json["queries"], slow.json["output"]
    rows = slow.rows()
    check_equal(len(rows), output["rows"], "rows in the file")
    check_equal(output["rows"] + output["dropped_rows"], q["sent"] + q["answered"], "rows")
    check_equal(sum(row["type"] == "A" for row in rows) + output["dropped_answer_rows"],
                q["answered"], "answer rows")
    check_equal(slow.out.splitlines()[-1].count(","), 8, "the last row is whole")
    lags = [r.json["latency_ns"]["send_lag"] for r in (quick, slow)]
    print(f"     {output['rows']} rows, {output['dropped_rows']} missing; send lag p50/p99 "
          f"{lags[1]['p50'] / 1000:.1f}/{lags[1]['p99'] / 1000:.1f} us, with a quick reader "
          f"{lags[0]['p50'] / 1000:.1f}/{lags[0]['p99'] / 1000:.1f} us")
    return lags


@measures_time
@plain_build_only
def test_slow_reader_delays_no_query_and_missing_rows_are_counted():
    quick, slow = lags_beside_readers()
    with stall_may_spoil():
        # p99: a wait for the reader now and then; unit/measure/rows_output has tests of short ones
        for name, more_ns in (("p50", 50e3), ("p99", 10e6)):
            check(slow[name] < 2 * quick[name] + more_ns, f"{name} of the send lag, quick and slow reader: "
                  f"{quick[name]}, {slow[name]} ns")


@plain_build_only
def test_rows_lost_to_a_full_ring_are_counted_and_make_the_run_suspect():
    """The control of the test above: too many rows for the rings."""
    with Server() as server:
        r = slow_reader_run(server, 400000)
    check_conservation(r)
    q, output = r.json["queries"], r.json["output"]
    check(output["dropped_rows"] > 0, f"dropped rows of {q['sent']} queries")
    check_equal(output["rows"] + output["dropped_rows"], q["sent"] + q["answered"], "rows")
    check_equal(len(r.out.splitlines()) - 1, output["rows"], "rows in the file")
    check("output-lost" in r.json["reasons"], "the verdict says so")
    check_code(r, 3)
    print(f"     {output['rows']} rows, {output['dropped_rows']} missing, all counted")


@plain_build_only
def test_rows_that_must_not_be_lost_delay_queries_and_the_verdict_says_so():
    """The same with --raw-full block: every row, and queries that are late for it."""
    with Server() as server:
        r = slow_reader_run(server, 400000, "--raw-full", "block", "--timeout", "30s", wait=lambda _: time.sleep(4))
    check_conservation(r)
    q, output = r.json["queries"], r.json["output"]
    check_equal(output["dropped_rows"], 0, "dropped rows")
    check_equal(output["rows"], q["sent"] + q["answered"], "rows")
    check(r.json["latency_ns"]["send_lag"]["max"] > 0.5e9, "the wait is in the send lag")
    check("generator-limited" in r.json["reasons"], f"the verdict: {r.json['reasons']}")


def has_stopped_sending(client):
    """Whether its last three progress lines show that its rings are full."""
    sent = [int(n) for n in re.findall(r"(\d+) of \d+ sent/s", client.stderr())]
    return sent[-3:] == [0, 0, 0] and max(sent) > 0


@plain_build_only  # to fill the rings takes a sanitizer 30 s of CPU time; unit/measure/rows_output has tests of the wait
def test_interrupt_ends_the_wait_of_a_run_whose_rows_nobody_reads():
    reading, writing = os.pipe()
    with Server() as server:
        client = Client("-p", server.port, "-c", 10, "-r", 200000, "-R", "--raw-full", "block", "--stats-interval", "100ms",
                        "127.0.0.1", stdout=writing)
        os.close(writing)
        wait_until_running(client)
        wait_for(lambda: has_stopped_sending(client), "the workers to wait for the reader")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
        os.close(reading)
    check_code(r, 130)
    check_conservation(r)
    output = r.json["output"]
    check(output["dropped_rows"] > 0, "rows missing")


@covered_by_others
def test_signals_after_the_run_do_not_cost_the_report():
    """All queries are answered, but the rows are not read: SIGHUP changes nothing, SIGINT ends the wait and keeps the report."""
    reading, writing = os.pipe()
    with Server() as server:
        client = Client("-p", server.port, "-c", 10, "-r", 5000, "-t", 2, "-R", "--raw-full", "block", "--threads", 2,
                        "--stats-interval", "200ms", "127.0.0.1", stdout=writing)
        os.close(writing)
        wait_until_running(client)
        wait_until_all_is_sent(client)
        for number in (signal.SIGHUP, signal.SIGUSR1):
            client.process.send_signal(number)
        time.sleep(0.3)
        check_equal(client.process.poll(), None, "exit code after SIGHUP and SIGUSR1")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
        os.close(reading)
    check_code(r, 130)
    check_conservation(r)
    q, output = r.json["queries"], r.json["output"]
    check_equal((q["answered"], r.json["interrupted"]), (q["scheduled"], True), "answered, interrupted")
    check_equal(output["rows"] + output["dropped_rows"], q["sent"] + q["answered"], "rows")


@covered_by_others
def test_sampled_rows_have_whole_queries_and_the_others_are_counted():
    with Server() as server:
        runs = [run_client("-p", server.port, "-c", 20, "-r", 2000, "-t", 2, "-R", "--sample", share,
                           "127.0.0.1") for share in ("1/10", "1/1", "1/10")]
    for r in runs:
        check_conservation(r)
        output, q = r.json["output"], r.json["queries"]
        check_equal(len(r.rows()), output["rows"], "rows")
        check_equal(output["rows"] + output["left_out_rows"], q["sent"] + q["answered"], "all rows")
        for kind, n in (("Q", q["sent"]), ("A", q["answered"])):
            check(any(row["type"] == kind for row in r.rows()), f"{kind} rows of {n}")
    sample, everything, again = ([(row["connection_id"], row["query_id"]) for row in r.rows() if row["type"] == "Q"] for r in runs)
    answers = [(row["connection_id"], row["query_id"]) for row in runs[0].rows() if row["type"] == "A"]
    check_equal(sorted(sample), sorted(answers), "the queries of the answers")
    check_between(len(sample) / len(everything), 0.08, 0.12, "share of the queries")
    check_equal(sorted(sample), sorted(again), "the same seed: the same queries")
    check_equal(runs[1].json["output"]["left_out_rows"], 0, "the control leaves nothing out")


def test_sample_is_as_large_if_each_connection_has_one_query():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 5, "-r", 1000, "-t", 2, "--queries-per-conn", 1, "-R", "--sample", "1/10", "127.0.0.1")
    check_conservation(r)
    slots = [row["connection_id"] for row in r.rows() if row["type"] == "Q"]
    with stall_may_spoil():  # few of the queries due meanwhile are sent
        check_between(len(slots) / r.json["queries"]["sent"], 0.06, 0.14, "share of the queries")
        check_equal(len(set(slots)), 5, "slots with rows")


if __name__ == "__main__":
    main()
