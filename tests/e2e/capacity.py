# SPDX-License-Identifier: MIT
"""--find: a server whose capacity is known; searches that are interrupted, and sweeps."""

import threading

from helpers.authority import *
from helpers.harness import *


def start_search(*arguments):
    """A client and its file of trials. What is not answered in 5 s holds up a trial for as long as that."""
    trials = temp_path("trials.csv")
    return Client("--find-out", trials, "--timeout", "5s", *arguments, "127.0.0.1"), trials


def check_trials(result, trials, low, high):
    """The trials are in the range, judged by their own counts, and the same in JSON and CSV."""
    s = result.json["search"]
    rows = read_rows(trials)
    check_equal([(r["step"], float(r["load"]), r["class"]) for r in rows],
                [(t["step"], t["load"], t["class"] or "") for t in s["trials"]], "trials in CSV and JSON")
    for t in s["trials"]:
        check(t["lost"] <= t["scheduled"], f"lost in {t}")
        check_between(t["load"], low, high, "load")
        if t["class"] == "good":
            check_equal((t["reason"], t["grew"]), (None, False), "a good trial")
    check_conservation(result)
    return s


@measures_time
def test_search_finds_how_many_connections_a_server_takes():
    """tests/sim/searches.py has the other ends of a search, in virtual time."""
    with Server("--max-connections", 20) as server:
        client, trials = start_search("-p", server.port, "--find", "connections", "-r", 100, "--find-range", "18-22", "--find-width",
                                      "20%", "--connect-timeout", "300ms", "--find-time", "60s")
        r = client.wait()
    s = check_trials(r, trials, 18, 22)
    with stall_may_spoil():
        check_equal((s["status"], s["confirmed"], r.code), ("found", True, 0), r.err)
        check(18 <= s["lower"] <= 20 < s["upper"] <= 22, f"bounds: {s['lower']} to {s['upper']}")
        check_equal((s["limited_by"], s["unit"]), ("connections", "connections"), "what limits")


def test_an_interrupted_search_reports_what_is_known():
    with Server() as server:
        client, trials = start_search("-p", server.port, "-c", 10, "--find", "rate", "--find-range", "100-10k",
                                      "--stats-interval", "200ms")
        wait_for_client(client, lambda: "trial 3 " in client.stderr(), "the third trial")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    s = r.json["search"]
    with stall_may_spoil():  # it can have given up by then
        check_equal((r.code, s["status"], s["reason"]), (130, "inconclusive", "stopped"), r.err)
        n, rate = r.json["queries"]["scheduled"], r.json["rate"]
        check_between(rate["asked_qps"] * rate["duration_s"], n - 7 * n**0.5, n + 7 * n**0.5, "requested, as far as it was measured")
    check(s["lower"] is None or s["lower"] >= 100, f"lower: {s['lower']}")
    check(len(s["trials"]) >= 2, f"trials: {s['trials']}")
    check_equal(len(read_rows(trials)), len(s["trials"]), "rows")


def check_search_without_connections(port, *arguments):
    for what in ("rate", "-c", 2), ("connections", "-r", 100), ("connect-rate",):
        client, _ = start_search("-p", port, "--find", *what, "--slo", "p99<50ms", "--find-range", "100-200", "--connect-timeout",
                                 "100ms", "--find-time", "60s", *arguments)
        r = client.wait()
        s = r.json["search"]
        check_equal((s["status"], s["reason"], r.code), ("inconclusive", "no-connection", 3), r.err)
        check_equal([s[key] for key in ("lower", "upper", "limited_by", "bound_by")], 4 * [None], "bounds, and what limited it")
        check_equal(len(s["trials"]), 1, f"trials: {s['trials']}")
        check("no connection became usable (see the connection outcomes)" in r.err, r.err)


def test_a_search_without_a_server_ends_after_a_trial():
    check_search_without_connections(free_port())


def test_a_search_over_tls_of_a_server_without_it_ends_after_a_trial():
    with Server() as server:
        check_search_without_connections(server.port, "--tls", "--tls-insecure")


def test_a_search_reports_the_end_of_its_server():
    with Server() as server:
        client, _ = start_search("-p", server.port, "-c", 2, "--find", "rate", "--find-range", "100-10k", "--connect-timeout", "100ms",
                                 "--find-time", "60s", "--stats-interval", "200ms")
        wait_for_client(client, lambda: "trial 2 " in client.stderr(), "the second trial")
    r = client.wait()
    s = r.json["search"]
    check_equal((s["status"], s["reason"], r.code), ("inconclusive", "server-gone", 3), r.err)
    check_equal((s["limited_by"], s["bound_by"]), (None, None), "what limited it")
    check("the server does not answer" in r.err, r.err)


def test_connections_per_second_are_opened_on_schedule_and_closed():
    """Each query has a connection of its own; interrupted, the search reports what it knows."""
    with Server() as server:
        client, trials = start_search("-p", server.port, "--find", "connect-rate", "--find-range", "100-10k", "--slo",
                                      "connect.p50<90ms,p50<90ms", "--close", "rst", "--stats-interval", "200ms")
        wait_for_client(client, lambda: "trial 3 " in client.stderr(), "the third trial")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    s, c = r.json["search"], r.json["connections"]
    check_equal((s["find"], s["unit"]), ("connect-rate", "connections/s"), r.err)
    with stall_may_spoil():  # it can have given up by then
        check_equal((r.code, s["reason"]), (130, "stopped"), r.err)
    check(len(s["trials"]) >= 2, f"trials: {s['trials']}")
    for t in s["trials"]:
        check_between(t["scheduled"], 0.5 * t["load"] * t["duration_s"], 1.5 * t["load"] * t["duration_s"], "connections due")
        with stall_may_spoil():
            check_equal(t["lost"], 0, f"lost, of {t}")
    check(c["connected"] >= sum(t["scheduled"] - t["lost"] for t in s["trials"]), f"connections: {c}")
    check_equal((c["asked"], c["live_at_end"]), (sum(c["outcomes"].values()), 0), "each connection has one outcome, none is left")
    check_equal([float(row["connect_p99_ns"] or 0) for row in read_rows(trials)],
                [t["connect_p99_ns"] or 0 for t in s["trials"]], "in CSV")


def test_a_search_for_handshakes_distinguishes_full_from_resumed():
    """The first connections of a thread have no ticket yet; with --tls-resume no, none resumes."""
    ca = Authority()
    with serve_with(ca.sign()) as server:
        searches = {resume: start_search("-p", server.port, "--tls", "--tls-ca", ca.cert, "--tls-resume", resume, "--find",
                                         "connect-rate", "--find-range", "100-200", "--slo", "connect.p50<300ms,p50<300ms",
                                         "--threads", 1, "--close", "rst", "--stats-interval", "200ms")
                    for resume in ("yes", "no")}
        for client, _ in searches.values():
            wait_for_client(client, lambda: "trial 2 " in client.stderr(), "the second trial")
            client.process.send_signal(signal.SIGINT)
        results = {resume: client.wait() for resume, (client, _) in searches.items()}
        server.stop()
    n_resumed = {}
    for resume, r in results.items():
        check_conservation(r)
        done = [t for t in r.json["search"]["trials"] if t["handshakes"] is not None]
        check(done, f"trials: {r.json['search']}")
        for t in done:
            check(t["handshakes"] >= t["scheduled"] - t["lost"] > 0, f"a handshake for each connection: {t}")
            check(t["resumed"] < t["handshakes"] or t != done[0], f"the first ones have no ticket: {t}")
        n_resumed[resume] = sum(t["resumed"] for t in done)
        check_equal([(row["handshakes"], row["resumed"]) for row in read_rows(searches[resume][1])],
                    [tuple("" if t[key] is None else str(t[key]) for key in ("handshakes", "resumed"))
                     for t in r.json["search"]["trials"]], "in CSV")
        check_equal("TLS handshakes at the lower bound: " in r.err, r.json["search"]["lower"] is not None, r.err)
    check_equal(n_resumed["no"], 0, "resumed although told not to")
    n_handshakes = sum(t["handshakes"] or 0 for t in results["yes"].json["search"]["trials"])
    with stall_may_spoil():  # while it is stalled, connections begin and no ticket arrives
        check(n_resumed["yes"] > 0.5 * n_handshakes, f"resumed: {n_resumed} of {n_handshakes}")
    check(server.result["tls_resumed"] >= n_resumed["yes"], "the server's count")


def test_a_sweep_keeps_its_connections_between_searches():
    """No search has time for an answer. One after the first is interrupted."""
    table, values = temp_path("sweep.csv"), [5, 12, 30, 50]
    with Server() as server:
        client, trials = start_search("-p", server.port, "--find", "rate", "--sweep", "connections=" + ",".join(map(str, values)),
                                      "--find-range", "100-200", "--find-time", "6s", "--sweep-out", table, "--stats-interval",
                                      "200ms")
        wait_for_client(client, lambda: "12 live, connections 12: " in client.stderr(), "the second search and its connections")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
        server.stop()
    check_conservation(r)
    sweep = r.json["sweep"]
    begun = [p for p in sweep["points"] if p["search"] is not None]
    check_equal(begun, sweep["points"][:len(begun)], "one after the other")
    with stall_may_spoil():  # the signal can come after the second search
        check_equal([p["search"]["reason"] for p in begun], ["time", "stopped"], "why they ended")
    check_equal((r.code, r.json["search"], sweep["over"], [p["at"] for p in sweep["points"]]),
                (130, None, "connections", values), r.err)
    for p in begun:
        check_equal({t["live"] for t in p["search"]["trials"]} | {p["at"]}, {p["at"]}, f"connections at {p['at']}")
    opened = r.json["connections"]["connected"]
    check_equal(opened, server.result["accepted"], "accepted")
    check(opened <= begun[-1]["at"], f"{opened} opened: none was opened twice")
    check_equal([(int(row["connections"]), row["status"]) for row in read_rows(table)],
                [(p["at"], "inconclusive") for p in begun], "the table")
    check_equal([int(row["at"]) for row in read_rows(trials)],
                [p["at"] for p in begun for _ in p["search"]["trials"]], "trials")
    check("Sweep " in r.err and "not reached" in r.err, r.err)
    if TCPREPORT:
        shown = run_command([TCPREPORT, "show", client.json_path])
        check("not reached" in shown.stdout and "inconclusive" in shown.stdout, shown.stdout + shown.stderr)


def test_late_answers_of_the_previous_size_end_no_connection():
    """One connection has its answers of 64 bytes when queries are larger: the second search has begun."""
    n_held, first = [], threading.Lock()

    def hold(stream):
        """Holds what it receives until a query has another byte where those of 64 bytes begin."""
        data = stream.recv(64, socket.MSG_WAITALL)  # the proof
        stream.sendall(data)
        held, ends = b"", []
        while not ends:
            data = stream.recv(65536)
            if not data:
                return
            held += data
            ends = [i for i in range(0, len(held), 64) if held[i] != held[0]]
        n_held.append(ends[0] // 64 - 1)
        stream.sendall(held)

    def echo(_, stream):
        if first.acquire(blocking=False):
            hold(stream)
        while data := stream.recv(65536):
            stream.sendall(data)

    with PythonServer(echo) as server:
        r = run_client("-c", 5, "--protocol", "echo", "--find", "rate", "--sweep", "size=64,1k", "--find-range", "50-100",
                       "--find-time", "6s", "--slo", "p50<100ms", "--timeout", "500ms", f"127.0.0.1:{server.port}")
    check_conservation(r)
    check_equal(r.json["connections"]["outcomes"].get("protocol/malformed reply", 0), 0, "connections ended")
    with stall_may_spoil():
        check(n_held and n_held[0] > 0, f"answers held: {n_held}")
        check(r.json["queries"]["late"] >= n_held[0], f"late: {r.json['queries']['late']}, held: {n_held}")
        check_equal(r.json["connections"]["live_at_end"], 5, "live")


@measures_time
def test_a_starved_client_reports_no_capacity():
    """Stopped for 30 ms five times a second: every bad trial is this host's doing."""
    with Server() as server:
        client, _ = start_search("-p", server.port, "-c", 10, "--find", "rate", "--slo", "p90<2ms", "--find-range", "1k-10k",
                                 "--find-time", "100s", "--kernel-ts")
        over = threading.Event()

        def starve():
            while not over.wait(0.12):
                client.process.send_signal(signal.SIGSTOP)
                time.sleep(0.03)
                client.process.send_signal(signal.SIGCONT)
        thread = threading.Thread(target=starve)
        thread.start()
        try:
            r = client.wait()
        finally:
            over.set()
            thread.join()
    check(r.json is not None, f"exit code {r.code}: {r.err}")
    s = r.json["search"]
    with stall_may_spoil():  # of the server: such a trial is bad
        check_equal((s["status"], s["reason"], s["capacity"], r.code), ("inconclusive", "void-trials", None, 3), r.err)
    check("INCONCLUSIVE" in r.err and "this host" in r.err, f"summary: {r.err}")


if __name__ == "__main__":
    main()
