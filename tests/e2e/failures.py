# SPDX-License-Identifier: MIT
"""Failures during a run are counted, reported and survived: the server dies or stalls, the user interrupts, the reader
of the rows goes away or is slow."""

import glob

from faults import *
from gate import open_gate, wait_ready
from namespace import *


def wait_until_answered(client, n):
    """At least n queries, by the progress lines. They round the time to 0.1 s: a line may cover that much less."""
    def answered():
        lines = [(float(s), int(per_s)) for s, per_s in
                 re.findall(r"running ([\d.]+) .* (\d+) answered/s", client.stderr())]
        return sum(max(0, s - before - 0.1) * (per_s - 0.5) for (s, per_s), before in zip(lines, [0, *(s for s, _ in lines)]))

    wait_for_client(client, lambda: answered() >= n, f"{n} answers")


def test_killed_server_leaves_a_full_report_that_counts_every_query_once():
    server = Server()
    client = Client("-p", server.port, "-c", 200, "-r", 2000, "-t", 5, "--stats-interval", "200ms",
                    "127.0.0.1")
    wait_until_answered(client, 500)
    server.process.kill()
    r = client.wait()
    check_conservation(r)
    c, q = r.json["connections"], r.json["queries"]
    check(q["answered"] >= 500, f"answered before: {q['answered']}")
    with stall_may_spoil():  # the server may be killed late in the run, or after it
        check(q["unsent"] > 1000, f"unsent after: {q['unsent']}")
    lost = sum(n for name, n in c["outcomes"].items()
               if "reset" in name or "closed by peer" in name)
    check_equal(lost, 200, f"connections lost, by FIN or RST: {c['outcomes']}")
    check_code(r, 3)
    check_equal(c["live_at_end"], 0, "live connections")
    first = r.json["diagnosis"][0]
    with stall_may_spoil():  # it spreads the losses, which are then not sudden
        check_equal((first["limit"], first["connections"]), ("the server went away", 200), "diagnosis")
    for reason in ("connections-short", "unsent"):
        check(reason in r.json["reasons"], f"{reason} in {r.json['reasons']}")
    check("Verdict      SUSPECT" in r.err, "the summary is there")


def test_idle_timeout_of_the_server_is_named_with_its_length():
    with Server("--idle-timeout", "1s") as server:
        client = Client("-p", server.port, "-c", 50, "--stats-interval", "200ms", "127.0.0.1")
        wait_until_prints(client, "running .* 0 live")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    check_equal(r.json["connections"]["live_at_end"], 0, "live connections")
    with stall_may_spoil():
        check_equal([(line["limit"], line["connections"]) for line in r.json["diagnosis"]],
                    [("the server's idle timeout", 50)], "diagnosis")
        evidence = r.json["diagnosis"][0]["evidence"]
        number, unit = re.search(r"idle for at least ([\d.]+) (m?s)", evidence).groups()
        check_between(float(number) / (1000 if unit == "ms" else 1), 0.9, 1.4, evidence)  # the least of 50
        check("50 closed by the server, idle for at least " in r.err, r.err)


def run_with_timeouts(*arguments):
    """6 queries on each of 200 connections."""
    server = FaultServer(*arguments)
    r = run_client("-p", server.port, "-c", 200, "-r", 400, "--arrival", "constant", "--select", "round-robin",
                   "-t", 3, "--timeout", "1s", "127.0.0.1")
    did = server.stop()
    check_conservation(r)
    with stall_may_spoil():
        check_equal(r.json["connections"]["live_at_end"], 200, "live")
        check_equal(r.json["queries"]["timeout"], did["dropped"], "timed out")
    return r, r.json["connections"]


def test_connections_that_go_deaf_are_counted_and_named():
    r, c = run_with_timeouts("--deaf-every", 20)
    check_equal((c["with_timeouts"], c["deaf_at_end"], c["deaf_unacknowledged"]), (10, 10, 0), "connections with timeouts, deaf")
    n = r.json["queries"]["timeout"]
    check("all timeouts are on 10 connections, 10 deaf at the end: their last queries timed out\n" in r.err, r.err)
    check_equal([(line["limit"], line["connections"]) for line in r.json["diagnosis"]],
                [("connections gone deaf", 10)], "diagnosis")
    check_equal(r.json["diagnosis"][0]["evidence"], f"all {n:,} timeouts are on 10 connections; 10 did not answer the last queries, "
                "but acknowledged them", "evidence")
    check("a thread of the server hangs" in r.json["diagnosis"][0]["remedy"], r.err)


def test_connections_whose_packets_are_dropped_do_not_acknowledge_them():
    """The control: the network, not the server. It begins when all connections are proven, before the load."""
    gate = temp_path("start")
    with Namespace() as n, Server(prefix=n.prefix) as server:
        client = Client("-p", server.port, "-c", 200, "-r", 400, "--arrival", "constant", "--select", "round-robin", "-t", 3,
                        "--timeout", "1s", "--sport", "20000-20199", "--start-file", gate, "--late-max", "60s", "127.0.0.1",
                        prefix=n.prefix)
        wait_ready(gate)
        n.drop("tcp sport 20000-20009")
        open_gate(gate, time.time())
        r = client.wait()
    check_conservation(r)
    c, line = r.json["connections"], r.json["diagnosis"][0]
    check_equal((line["limit"], line["connections"]), ("connections gone deaf", 10), "diagnosis")
    check_equal((c["deaf_at_end"], c["deaf_unacknowledged"]), (10, 10), "deaf, without an acknowledgement")
    check("; 10 of these did not acknowledge them" in line["evidence"], line)
    check("firewall" in line["remedy"] and "thread" not in line["remedy"], line)


def test_timeouts_here_and_there_make_no_connection_deaf():
    """The control: one query in seven is lost, never three in a row of one connection."""
    r, c = run_with_timeouts("--drop-every", 7)
    with stall_may_spoil():  # after it the server reads several queries of a connection at once, and drops others
        check(c["with_timeouts"] > 100, f"{c}")
        check_equal((c["deaf_at_end"], r.json["diagnosis"]), (0, []), "deaf, diagnosis")


def test_no_server_at_all_is_reported():
    port = free_port()
    r = run_client("-p", port, "-c", 20, "-r", 100, "-t", 100, "127.0.0.1")
    check_conservation(r)
    check_code(r, 3)
    check_equal(r.json["connections"]["outcomes"], {"connect/refused": 20}, "outcomes")
    check(f"20 of 20 connects refused: nothing listens on 127.0.0.1:{port}\n" in r.err, r.err)
    check(r.seconds < 100, "it does not wait for a load that cannot be")


def test_loss_probes_to_a_server_that_stalls_are_no_lost_segments():
    """The server's kernel has received them and acknowledges late; until then TCP sends loss probes."""
    server = FaultServer("--stall-every", 1, "--stall-for", 370)
    r = run_client("-p", server.port, "-c", 100, "-r", 1000, "-t", 3, "127.0.0.1")
    server.stop()
    check_conservation(r)
    c, host = r.json["connections"], r.json["resources"]
    with stall_may_spoil():
        check(c["retransmits"] > 0 and host["loss_probes"] > 0 and host["dsacks"] > 0, f"probes and answers: {c}, {host}")
        check_equal(c["needless_retransmits"], c["retransmits"], "needless")
        check_equal(c["lost_segments"], 0, "lost")
    check(not any("lost" in text for text in r.json["explanations"]), r.err)
    check(f"{c['retransmits']:,} spurious" in r.err, r.err)


def test_segments_that_loopback_drops_are_lost_ones():
    """The control: 1 in 50 packets to the server is dropped."""
    with Namespace() as n, Server(prefix=n.prefix) as server:
        n.drop(f"tcp dport {server.port} numgen inc mod 50 == 0")
        r = run_client("-p", server.port, "-c", 20, "-r", 500, "-t", 2, "127.0.0.1", prefix=n.prefix)
    check_conservation(r)
    with stall_may_spoil():  # after it many queries share a packet
        check(r.json["connections"]["lost_segments"] > 0, f"lost: {r.json['connections']}")
        check("host-noise" in r.json["reasons"], r.err)


def test_interrupted_run_reports_what_it_did():
    with Server() as server:
        client = Client("-p", server.port, "-c", 50, "-r", 1000, "--stats-interval", "200ms",
                        "127.0.0.1")
        wait_until_answered(client, 300)
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    check_code(r, 130)
    check_equal(r.json["interrupted"], True, "interrupted")
    check(r.json["queries"]["answered"] >= 300, f"answered: {r.json['queries']}")
    check("interrupted" in r.err, "the summary says so")


def test_interrupted_while_connecting_ends_at_once():
    with Server() as server:
        client = Client("-p", server.port, "-c", 1000, "-n", 2, "-r", 10, "--stats-interval", "200ms", "127.0.0.1")
        wait_for(lambda: "connecting" in client.stderr(), "the first connections")
        client.process.send_signal(signal.SIGTERM)
        r = client.wait(60)
    check_conservation(r)
    check_code(r, 130)
    check(r.json["connections"]["outcomes"]["run/cancelled"] >= 999 - 2 * r.seconds, "connections never begun")


def test_reader_that_goes_away_stops_the_rows_not_the_run():
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


def test_full_disk_stops_the_rows_not_the_run():
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


def test_json_that_cannot_be_written_is_said():
    with Server() as server:
        r = subprocess.run([TCPCLIENT, "-c", "2", "-r", "10", "-t", "1", "--json", "/dev/full",
                            f"127.0.0.1:{server.port}"], capture_output=True, text=True, timeout=100)
    check_equal(r.returncode, 3, f"exit code; stderr: {r.stderr}")
    check("--json: could not write '/dev/full'" in r.stderr, r.stderr)


def has_workers(pid):
    try:
        return any(open(name).read().startswith("client") for name in glob.glob(f"/proc/{pid}/task/*/comm"))
    except OSError:  # one of the threads has just ended
        return True


def wait_until_all_is_sent(client):
    wait_for(lambda: not has_workers(client.pid), "the workers' end", 100)


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
    reader.wait(60)
    with open(path) as f:
        r.out = f.read()
    return r


def lags_beside_readers():
    """The send lags beside a quick and a slow reader; every missing row is counted."""
    rate = 5000 if SANITIZED else 50000  # queries: twice as many rows
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
def test_slow_reader_delays_no_query_and_every_missing_row_is_counted():
    quick, slow = lags_beside_readers()
    with stall_may_spoil():
        # p99: a wait for the reader now and then; unit/measure/rows_output has tests of short ones
        for name, more_ns in (("p50", 50e3), ("p99", 10e6)):
            check(SANITIZED or slow[name] < 2 * quick[name] + more_ns, f"{name} of the send lag, quick and slow reader: "
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
def test_rows_that_must_not_be_lost_make_the_queries_wait_and_that_is_said():
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
    """By its last three progress lines: its rings are full."""
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


def test_signals_after_the_run_cost_no_report():
    """All queries are answered, but nobody reads the rows: SIGHUP changes nothing, SIGINT ends the wait and keeps the report."""
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


def test_sample_of_the_rows_has_whole_queries_and_counts_the_others():
    with Server() as server:
        runs = [run_client("-p", server.port, "-c", 20, "-r", 2000, "-t", 2, "-R", "--sample", share,
                           "127.0.0.1") for share in ("1/10", "1/1")]
    for r in runs:
        check_conservation(r)
        output, q = r.json["output"], r.json["queries"]
        check_equal(len(r.rows()), output["rows"], "rows")
        check_equal(output["rows"] + output["left_out_rows"], q["sent"] + q["answered"], "all rows")
        for kind, n in (("Q", q["sent"]), ("A", q["answered"])):
            check(any(row["type"] == kind for row in r.rows()), f"{kind} rows of {n}")
    sample, everything = ([(row["connection_id"], row["query_id"]) for row in r.rows()
                           if row["type"] == kind] for r, kind in ((runs[0], "Q"), (runs[1], "Q")))
    answers = [(row["connection_id"], row["query_id"]) for row in runs[0].rows() if row["type"] == "A"]
    check_equal(sorted(sample), sorted(answers), "the queries of the answers")
    check_between(len(sample) / len(everything), 0.08, 0.12, "share of the queries")
    check(set(sample) <= set(everything), "the same seed: the same queries")
    check_equal(runs[1].json["output"]["left_out_rows"], 0, "the control leaves nothing out")


def test_file_opened_by_a_client_without_stderr_gets_no_words():
    """If stderr is closed at the start, the result file must not get descriptor 2: the summary would be written to it."""
    with Server() as server:
        result = temp_path("result.json")
        r = subprocess.run(["sh", "-c", f"exec {TCPCLIENT} {' '.join(PATIENCE)} -p {server.port} -c 5 -r 100 -t 1 "
                            f"--json {result} 127.0.0.1 2>&-"], timeout=100)
    check(r.returncode in (0, 3), f"exit code {r.returncode}")
    with open(result) as f:
        check_equal(json.load(f)["connections"]["proven"], 5, "the result is JSON")


@plain_build_only  # localedef(1) takes 2 s of CPU time, the client none
def test_numbers_do_not_depend_on_the_locale():
    environment = german()
    point = subprocess.run([sys.executable, "-c", "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.str(1.5))"],
                           capture_output=True, text=True, env=environment, timeout=100)
    check_equal(point.stdout, "1,5\n", f"the control: a program that obeys it; {point.stderr}")
    with Server() as server:
        r = subprocess.run([TCPCLIENT, "-c", "2", "-r", "2.5", "-t", "1.5", "--json", "-",
                            f"127.0.0.1:{server.port}"], capture_output=True, text=True, timeout=100,
                           env=environment)
    check_equal(json.loads(r.stdout)["rate"]["duration_s"], 1.5, "duration")
    check("2.5 requested" in r.stderr, r.stderr)


if __name__ == "__main__":
    main()
