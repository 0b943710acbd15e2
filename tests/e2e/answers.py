# SPDX-License-Identifier: MIT
"""Answers as a bad network or server gives them: split, coalesced, reordered, duplicated, dropped,
late, unknown, malformed; connections reset and closed. Counts are compared with the server's own."""

from helpers.faults import *
from helpers.ranks import *


def run_against(faults, *options):
    server = FaultServer(*faults)
    r = run_client("-p", server.port, "-c", 10, "-r", 500, "-t", 2, "-s", 3, *options, "127.0.0.1")
    return r, server.stop()


def test_answers_may_arrive_one_byte_at_a_time():
    r, did = run_against(["--split", 1])
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], did["queries"], "answered")


@covered_by_others
def test_many_answers_may_share_a_segment():
    r, did = run_against(["--coalesce", 100])
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], did["queries"], "answered")
    check(r.json["latency_ns"]["service"]["max"] > 50e6, "the delay is in the figures")


@covered_by_others
def test_reordered_answers_are_matched_by_id():
    """Ten or so come at once, the last first: matched in the order of the queries, their ids would never decrease."""
    r, did = run_against(["--coalesce", 200, "--reverse"], "-R")
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], did["queries"], "answered")
    check_equal(r.json["queries"]["duplicate"] + r.json["queries"]["unknown_id"], 0, "strays")
    ids = collections.defaultdict(list)
    for row in r.rows():
        if row["type"] == "A":
            check(0 < int(row["rtt_us"]) < 31_000_000, f"rtt {row['rtt_us']}, of a timeout of 30 s")
            ids[row["connection_id"]].append(int(row["query_id"]))
    n_backwards = sum(b < a for of_one in ids.values() for a, b in itertools.pairwise(of_one))
    check(n_backwards > did["queries"] / 2, f"{n_backwards} of {did['queries']} answers are to an earlier query than the one before")


def test_duplicates_and_unknown_ids_are_counted_but_answer_no_query():
    r, did = run_against(["--duplicate-every", 7, "--unknown-every", 11])
    check_conservation(r)
    check(did["duplicated"] > 50 and did["unknown"] > 50, f"the server misbehaved: {did}")
    # the second answer to the last query of a connection may come when the run is over
    check_between(r.json["queries"]["duplicate"], did["duplicated"] - 10, did["duplicated"], "duplicates")
    check_equal(r.json["queries"]["unknown_id"], did["unknown"], "unknown ids")
    check_equal(r.json["queries"]["answered"], did["queries"], "answered")


@covered_by_others
def test_dropped_answers_time_out_and_count_in_the_percentiles():
    r, did = run_against(["--drop-every", 20], "--timeout", "300ms")
    check_conservation(r)
    with stall_may_spoil():  # in the worst case no proof is answered in time, and no query is sent
        check(did["dropped"] >= 40, f"the server dropped: {did}")
        check_equal(r.json["queries"]["timeout"], did["dropped"], "timeouts")
    response = r.json["latency_ns"]["response"]
    check_equal(response["over"], did["dropped"], "beyond every percentile")
    check_equal(response["p99"], "beyond", "p99 with 5 % lost")
    check(isinstance(response["p90"], int), "p90 is a number")
    check(">300 ms" in r.err, "the summary prints where it lies")


@covered_by_others
def test_late_answer_is_counted_as_late_and_answers_no_query():
    out = temp_path("connections.csv")
    r, did = run_against(["--delay-every", 10, "--delay-ms", 400], "--timeout", "200ms", "--connections-out", out)
    check_conservation(r)
    answered = r.json["queries"]["answered"] + r.json["probes"]["answered"]
    check_equal(sum(int(row["answers"]) for row in read_rows(out)), answered + r.json["queries"]["late"], "answers, late ones included")
    with stall_may_spoil():
        check_equal(r.json["queries"]["timeout"], did["delayed"], "timeouts")
        # those still under way at the end of the drain never arrive
        check_between(r.json["queries"]["late"], did["delayed"] * 3 // 4, did["delayed"], "late")
        check(r.json["queries"]["answered"] > 0, "answered in time")
    check(r.json["latency_ns"]["service"]["max"] < 200e6, "no answer beyond the timeout")


@covered_by_others
def test_known_delay_shows_in_the_tail():
    r, did = run_against(["--delay-every", 50, "--delay-ms", 150], "-r", 1000, "-R")
    check_conservation(r)
    check(did["delayed"] >= 30, f"delayed {did}")
    p99 = r.json["latency_ns"]["service"]["p99"]
    check(p99 >= 149e6, f"p99 with 2 % delayed 150 ms: {p99}")
    rtt_us = sorted(int(row["rtt_us"]) for row in r.rows() if row["type"] == "A")
    in_rows = 1000 * at_rank(rtt_us, 0.99)
    check_between(p99, in_rows * 0.998, in_rows * 1.002 + 1000, "p99 of the rows")
    with stall_may_spoil():
        check(p99 < (1e9 if SANITIZED else 290e6), f"p99 with 2 % delayed 150 ms: {p99}")


def test_malformed_answer_ends_only_its_own_connection():
    r, did = run_against(["--malformed-every", 300])
    check_conservation(r)
    check_equal(r.json["connections"]["outcomes"]["protocol/malformed reply"], did["malformed"], "connections ended")
    check_equal(r.json["connections"]["live_at_end"], 10 - did["malformed"], "live")
    check_code(r, 3)
    check("connections-short" in r.json["reasons"], "the verdict says so")


@covered_by_others
def test_response_codes_and_truncated_answers_are_counted_by_name():
    r, did = run_against(["--rcodes", "0,0,3,2,5,12", "--truncate-every", 10])
    check_conservation(r)
    names = {"NOERROR": 0, "NXDOMAIN": 3, "SERVFAIL": 2, "REFUSED": 5, "RCODE12": 12}
    check_equal(r.json["answers"], {"rcodes": {name: did[f"rcode{code}"] for name, code in names.items()},
                                    "echoed": 0, "truncated": did["truncated"]}, "answers")
    check(did["rcode0"] > did["rcode3"] > 100 and did["truncated"] > 50, f"the server varied them: {did}")
    check(re.search(r"\nAnswers +[\d,]+ NOERROR, [\d,]+ SERVFAIL, .* truncated\n", r.err), "in the summary")


@covered_by_others
def test_echoed_queries_have_no_response_code():
    r, did = run_against([])
    check_equal(r.json["answers"], {"rcodes": {}, "echoed": did["answers"], "truncated": 0}, "answers")
    check("\nAnswers " not in r.err, "the summary has no line of them")


def test_corrupt_echo_is_malformed_not_an_answer():
    for corrupt in (["--corrupt-every", 150], []):
        r, did = run_against(["--size", 1000, *corrupt], "--protocol", "echo", "--size", 1000)
        check_conservation(r)
        q, ends = r.json["queries"], r.json["connections"]["outcomes"]
        check_equal(ends.get("protocol/malformed reply", 0), did["corrupted"], "connections ended")
        check(q["answered"] <= did["answers"] - did["corrupted"], f"answered {q['answered']}, {did}")
        check_equal(q["outcomes"].get("protocol/malformed reply", 0), q["error"], "failed queries")
        check_between(q["error"], did["corrupted"], q["sent"], "failed queries")
        check_equal(r.json["answers"], None, "an echo has no codes")
        if not corrupt:
            check_equal((q["error"], q["answered"]), (0, q["scheduled"]), "the control: nothing corrupt")
        else:
            check(did["corrupted"] >= 3, f"the server misbehaved: {did}")


@covered_by_others
def test_resets_and_closes_are_counted_separately():
    r, did = run_against(["--reset-every", 250])
    check_conservation(r)
    resets = sum(n for name, n in r.json["connections"]["outcomes"].items() if "reset" in name)
    check_equal(resets, did["resets"], "resets")
    r, did = run_against(["--close-every", 250])
    check_conservation(r)
    ends = r.json["connections"]["outcomes"]
    check_equal(sum(n for name, n in ends.items() if "run/" not in name), did["closes"], "closes")
    with stall_may_spoil():  # a client that writes to a closed connection before it reads sees a reset
        check(ends.get("receive/closed by peer", 0) > 0, f"closed by peer: {ends}")
        check(r.json["queries"]["rerouted"] > 0, "queries went to connections that live")


def test_silent_server_leaves_every_connection_half_open():
    server = FaultServer("--silent")
    r = run_client("-p", server.port, "-c", 20, "-r", 100, "-t", 1, "--timeout", "300ms",
                   "127.0.0.1")
    server.stop()
    check_conservation(r)
    c = r.json["connections"]
    check_equal((c["connected"], c["proven"], c["half_open"]), (20, 0, 20), "connections")
    check_equal(c["outcomes"], {"receive/half-open": 20}, "outcomes")
    check_code(r, 3)


def test_on_timeout_close_ends_every_connection_at_its_first_timeout():
    """A query every 5 ms: the last connection's first one is due after 95 ms and given up after 595, when 120 have been sent;
    100 ms later there are 20 more. Without --on-timeout they are all sent."""
    for close, ends in ((["--on-timeout", "close"], "receive/timed out"), ([], "run/finished")):
        server = FaultServer("--drop-every", 1)
        r = run_client("-p", server.port, "-c", 20, "-i", "100ms", "-t", 2, "--timeout", "500ms", *close, "127.0.0.1")
        server.stop()
        check_conservation(r)
        q = r.json["queries"]
        with stall_may_spoil():
            check_equal(r.json["connections"]["outcomes"], {ends: 20}, "outcomes")
            if close:
                check_between(q["sent"], 20, 20 * 7, "sent until the first timeouts")
                check_between(q["timeout"], 20, 20 * 2, "timeouts, those at the same moment included")
            else:  # the control
                check_between(q["timeout"], 20 * 18, 20 * 21, "timeouts")


@covered_by_others
def test_late_proof_makes_a_half_open_connection_live():
    server = FaultServer("--late-proof-every", 4, "--delay-ms", 800)
    client = Client("-p", server.port, "-c", 20, "-r", 400, "--timeout", "300ms", "--stats-interval", "100ms", "127.0.0.1")
    wait_until_prints(client, ", 20 live")
    client.process.send_signal(signal.SIGINT)
    r = client.wait()
    did = server.stop()
    check_conservation(r)
    check_equal(did["late_proofs"], 5, "connections whose proof came late")
    with stall_may_spoil():
        check("15 live" in r.err, "first only the others take queries")
        check_equal(r.json["probes"]["timeout"], 5, "proofs given up")
        check(r.json["queries"]["rerouted"] > 0, "queries of half-open connections went elsewhere")
    c = r.json["connections"]
    check_equal((c["proven"], c["half_open"], c["live_at_end"]), (20, 0, 20), "in the end")


if __name__ == "__main__":
    main()
