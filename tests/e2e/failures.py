# SPDX-License-Identifier: MIT
"""Failures during a run are counted, reported and survived: the server dies or stalls, the user interrupts."""

from helpers.authority import Authority, serve_with
from helpers.faults import *
from helpers.namespace import *
from helpers.start_file import open_gate, wait_ready


def wait_until_answered(client, n):
    """At least n queries, by the progress lines. They round the time to 0.1 s: a line may cover that much less."""
    def answered():
        lines = [(float(s), int(per_s)) for s, per_s in
                 re.findall(r"running ([\d.]+) .* (\d+) answered/s", client.stderr())]
        return sum(max(0, s - before - 0.1) * (per_s - 0.5) for (s, per_s), before in zip(lines, [0, *(s for s, _ in lines)]))

    wait_for_client(client, lambda: answered() >= n, f"{n} answers")


def test_killed_server_leaves_a_report_that_counts_every_query_once():
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


@covered_by_others
def test_killed_server_is_named_on_demand():
    server = Server()
    client = Client("-p", server.port, "-c", 50, "-r", 1000, "-t", 3, "--on-demand", "--stats-interval", "200ms", "127.0.0.1")
    wait_until_answered(client, 500)
    server.process.kill()
    r = client.wait()
    check_conservation(r)
    with stall_may_spoil():  # the server may be killed late in the run, or after it
        check(r.json["queries"]["unconnected"] > 0, r.json["queries"])
        ended = {line["limit"]: line for line in r.json["diagnosis"]}
        check_equal(sorted(ended), ["nobody listens", "the server went away"], "diagnosis")
        check(ended["the server went away"]["connections"] >= 50, "all were lost, and new ones that the server had not accepted")
        check("--reconnect" not in ended["the server went away"]["remedy"], "the next query opens a connection")


# The server must answer every connection before it closes the first one: with a sanitizer, 50 TLS handshakes take 2 s.
IDLE_S = 4 if SANITIZED else 1
IDLE_TIMEOUT = "--idle-timeout", f"{IDLE_S}s"


def check_idle_timeout_is_reported(server, *options):
    """The server has IDLE_TIMEOUT."""
    with server:
        client = Client("-p", server.port, "-c", 50, "--stats-interval", "200ms", *options, "127.0.0.1")
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
        check_between(float(number) / (1000 if unit == "ms" else 1), IDLE_S - 0.1, IDLE_S + 0.4, evidence)  # the least of 50
        check("50 closed by the server, idle for at least " in r.err, r.err)


@covered_by_others
def test_idle_timeout_of_the_server_is_reported_with_its_length():
    check_idle_timeout_is_reported(Server(*IDLE_TIMEOUT))


def test_close_notify_does_not_end_the_idle_time():
    """It is the last that arrives of a server with TLS, just before the connection is closed."""
    ca = Authority()
    check_idle_timeout_is_reported(serve_with(ca.sign(), *IDLE_TIMEOUT), "--tls", "--tls-ca", ca.cert)


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


@covered_by_others
def test_unresponsive_connections_are_counted_and_named():
    r, c = run_with_timeouts("--unresponsive-every", 20)
    check_equal((c["with_timeouts"], c["unresponsive_at_end"], c["unresponsive_unacknowledged"]), (10, 10, 0),
                "connections with timeouts, unresponsive")
    n = r.json["queries"]["timeout"]
    check("all timeouts are on 10 connections, 10 unresponsive at the end: their last queries timed out\n" in r.err, r.err)
    check_equal([(line["limit"], line["connections"]) for line in r.json["diagnosis"]],
                [("unresponsive connections", 10)], "diagnosis")
    check_equal(r.json["diagnosis"][0]["evidence"], f"all {n:,} timeouts are on 10 connections; 10 did not answer the last queries, "
                "but acknowledged them", "evidence")
    check("a thread of the server hangs" in r.json["diagnosis"][0]["remedy"], r.err)


def test_connections_never_accepted_do_not_count_as_unresponsive():
    """Without proofs they are live: the server's backlog has room for all."""
    for options in (("--prove", "no"), ("--queries-per-conn", 1000)):
        server = FaultServer("--accept-only", 5)
        r = run_client("-p", server.port, "-c", 20, "-r", 400, "--select", "round-robin", "-t", 2, "--timeout", "300ms", *options,
                       "127.0.0.1")
        server.stop()
        check_conservation(r)
        with stall_may_spoil():  # after a long one few queries of a connection have timed out
            check_equal((r.json["connections"]["unresponsive_at_end"], r.json["connections"]["live_at_end"]), (15, 20),
                        "unresponsive, live")
            check_equal([(line["limit"], line["connections"]) for line in r.json["diagnosis"]],
                        [("the server's accept queue or connection limit", 15)], "diagnosis")


def test_connections_of_a_server_that_hangs_are_given_up_and_named():
    server = Server()
    client = Client("-p", server.port, "-c", 20, "-r", 1000, "-t", 3, "--timeout", "300ms", "--on-timeout", "close",
                    "--stats-interval", "200ms", "127.0.0.1")
    wait_until_answered(client, 500)
    server.process.send_signal(signal.SIGSTOP)
    r = client.wait()
    server.process.send_signal(signal.SIGCONT)
    check_conservation(r)
    with stall_may_spoil():  # the server may be stopped late in the run
        check_equal(r.json["connections"]["outcomes"], {"receive/timed out": 20}, "outcomes")
        check_equal([(line["limit"], line["connections"]) for line in r.json["diagnosis"]], [("unanswered queries", 20)], "diagnosis")
        check("the server hangs" in r.json["diagnosis"][0]["remedy"], r.err)


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
    check_equal((line["limit"], line["connections"]), ("unresponsive connections", 10), "diagnosis")
    check_equal((c["unresponsive_at_end"], c["unresponsive_unacknowledged"]), (10, 10), "unresponsive, without an acknowledgement")
    check("; 10 of these did not acknowledge them" in line["evidence"], line)
    check("firewall" in line["remedy"] and "thread" not in line["remedy"], line)


@covered_by_others
def test_scattered_timeouts_make_no_connection_unresponsive():
    """The control: one query in seven is lost, never three in a row of one connection."""
    r, c = run_with_timeouts("--drop-every", 7)
    with stall_may_spoil():  # after it the server reads several queries of a connection at once, and drops others
        check(c["with_timeouts"] > 100, f"{c}")
        check_equal((c["unresponsive_at_end"], r.json["diagnosis"]), (0, []), "unresponsive, diagnosis")


@covered_by_others
def test_queries_lost_among_answered_ones_make_no_connection_unresponsive():
    """Many are in flight at the end: the lost ones time out one after the other, when all others have been answered."""
    server = FaultServer("--drop-every", 10)
    r = run_client("-p", server.port, "-c", 2, "-r", 200, "-t", 1, "--timeout", "1s", "127.0.0.1")
    server.stop()
    check_conservation(r)
    check(r.json["queries"]["timeout"] > 10, f"{r.json['queries']}")
    with stall_may_spoil():
        check_equal((r.json["connections"]["unresponsive_at_end"], r.json["diagnosis"]), (0, []), "unresponsive, diagnosis")


def test_missing_server_is_reported():
    port = free_port()
    r = run_client("-p", port, "-c", 20, "-r", 100, "-t", 100, "127.0.0.1")
    check_conservation(r)
    check_code(r, 3)
    check_equal(r.json["connections"]["outcomes"], {"connect/refused": 20}, "outcomes")
    check(f"20 of 20 connections refused: nothing listens on 127.0.0.1:{port}\n" in r.err, r.err)
    check(r.seconds < 100, "it does not wait for a load that cannot be")


def run_without_connection(n, target):
    """Eight clients that connect on demand, and must not lose a query."""
    r = Client("-c", 8, "-r", 20, "-t", 3, "--drain", "10s", "--on-demand", "--assert", "lost=0", target, prefix=n.prefix).wait()
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], 0, "answered")
    return list(r.json["connections"]["outcomes"]), r.json["goals"][0]["result"], r.code


def test_firewall_that_rejects_is_no_failure_of_this_host():
    with Namespace() as n:
        n.drop("tcp dport 4242 meta nfproto ipv4", "reject with icmp type host-unreachable")
        n.drop("tcp dport 4242 meta nfproto ipv6", "reject with icmpv6 type admin-prohibited")
        for target in ("127.0.0.1", "::1"):
            check_equal(run_without_connection(n, target), (["connect/unreachable"], "missed", 1), target)


def test_missing_route_is_a_failure_of_this_host():
    with Namespace() as n:
        n.run("ip", "route", "add", "unreachable", "198.51.100.0/24")
        for target in ("192.0.2.1", "198.51.100.1"):
            check_equal(run_without_connection(n, target), (["connect/no route"], "undecided", 3), target)


@covered_by_others
def test_loss_probes_to_a_stalled_server_are_not_lost_segments():
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


@covered_by_others
def test_segments_dropped_on_loopback_are_counted_as_lost():
    """The control: 1 in 50 packets to the server is dropped."""
    with Namespace() as n, Server(prefix=n.prefix) as server:
        n.drop(f"tcp dport {server.port} numgen inc mod 50 == 0")
        r = run_client("-p", server.port, "-c", 20, "-r", 500, "-t", 2, "127.0.0.1", prefix=n.prefix)
    check_conservation(r)
    with stall_may_spoil():  # after it many queries share a packet
        check(r.json["connections"]["lost_segments"] > 0, f"lost: {r.json['connections']}")
        check("host-noise" in r.json["reasons"], r.err)


@covered_by_others
def test_interrupted_run_reports_what_it_measured():
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


def test_run_interrupted_while_connecting_ends_at_once():
    with Server() as server:
        client = Client("-p", server.port, "-c", 1000, "-n", 2, "-r", 10, "--stats-interval", "200ms", "127.0.0.1")
        wait_for(lambda: "connecting" in client.stderr(), "the first connections")
        client.process.send_signal(signal.SIGTERM)
        r = client.wait()
    check_conservation(r)
    check_code(r, 130)
    check(r.json["connections"]["outcomes"]["run/cancelled"] >= 999 - 2 * r.seconds, "connections never begun")


if __name__ == "__main__":
    main()
