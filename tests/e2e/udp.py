# SPDX-License-Identifier: MIT
"""--transport udp: the same counts on both sides, and what became of each query: dropped, answered twice, late or
truncated, refused by ICMP, and dropped by this host's own kernel."""

import select
import socket

from helpers.faults import *
from helpers.harness import *


def run_udp(port, *arguments, **options):
    return run_client("-p", port, "--transport", "udp", "-c", 20, *arguments, "127.0.0.1", **options)


def check_udp(result, malformed=0):
    check_conservation(result)
    check_equal(result.json["udp"], {"malformed": malformed, "dropped": 0}, "datagrams")


# --- what both sides count ---

def test_counts_agree_on_both_sides():
    server = UdpServer()
    out = temp_path("connections.csv")
    r = run_udp(server.port, "-r", 2000, "-t", 2, "--connections-out", out)
    did = server.stop()
    check_udp(r)
    check_complete(r)
    check_equal({row[column] for row in read_rows(out) for column in ("connect_us", "syn_retransmits", "retransmits", "min_rtt_us")},
                {""}, "rows: what only TCP has")
    q, c = r.json["queries"], r.json["connections"]
    check_between(q["sent"], 3500, 4500, "queries")
    check_equal((q["sent"], q["answered"]), (did["queries"], did["answers"]), "queries and answers")
    check_equal((c["connected"], c["proven"], c["live_at_end"], c["outcomes"]), (20, 20, 20, {"run/finished": 20}), "sockets")
    check_equal(len(did["sources"]), 20, "sockets that the server saw")
    check_equal((r.json["resources"]["bytes_sent"], r.json["resources"]["bytes_received"]), (29 * q["sent"],) * 2,
                "bytes, without lengths")
    check_equal((r.json["answers"], r.json["options"]["transport"]),
                ({"rcodes": {"NOERROR": q["answered"]}, "echoed": 0, "truncated": 0}, "udp"), "answers, transport")
    check_equal(([r.json["latency_ns"][m]["count"] for m in ("connect", "handshake", "min_rtt")], r.json["sockets"]),
                ([0, 0, 0], None), "what only TCP has")
    check(": dns over UDP to 127.0.0.1:" in r.err and "\nUDP          0 datagrams malformed, 0 dropped by this host\n" in r.err,
          r.err)


@covered_by_others
def test_tcp_runs_report_nothing_of_udp():
    """The control: the same checks of a run over TCP."""
    server = FaultServer()
    r = run_client("-p", server.port, "-c", 5, "-r", 200, "-t", "300ms", "127.0.0.1")
    server.stop()
    check_conservation(r)
    check_equal((r.json["udp"], r.json["options"]["transport"], r.json["latency_ns"]["connect"]["count"]), (None, "tcp", 5), "TCP")
    check("UDP" not in r.err, r.err)


def test_sources_are_as_planned():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.3", 31002))
        server = UdpServer()
        r = run_client("-p", server.port, "--transport", "udp", "-c", 6, "-r", 600, "-t", "500ms", "--select", "round-robin",
                       "--source", "127.0.0.3-127.0.0.4", "--sport", "31000-31004", "127.0.0.1")
        did = server.stop()
    check_udp(r)
    check_equal([tuple(s) for s in did["sources"]],
                [("127.0.0.3", p) for p in (31000, 31001, 31003, 31004)] + [("127.0.0.4", p) for p in (31000, 31001)],
                "sources: one port is in use by another program, and a spare replaces it")


@covered_by_others
def test_ipv6_works_the_same():
    server = UdpServer("--bind", "::1")
    r = run_client("-p", server.port, "--transport", "udp", "-c", 5, "-r", 500, "-t", "500ms", "--sport", "32000-32004", "::1")
    did = server.stop()
    check_udp(r)
    check_equal((r.json["queries"]["answered"], [tuple(s[:2]) for s in did["sources"]]),
                (did["queries"], [("::1", p) for p in range(32000, 32005)]), "answers, sources")


@covered_by_others
def test_kernel_stamps_each_datagram():
    server = UdpServer()
    r = run_udp(server.port, "-r", 500, "-t", 1, "--kernel-ts=yes")
    server.stop()
    check_udp(r)
    check_equal(r.json["latency_ns"]["net"]["count"], r.json["queries"]["answered"], "answers with a stamp")
    with stall_may_spoil():
        check(r.json["latency_ns"]["net"]["p50"] < r.json["latency_ns"]["service"]["p50"], "the stamps are earlier")


@covered_by_others
def test_each_query_may_have_a_socket_of_its_own():
    server = UdpServer()
    r = run_udp(server.port, "-r", 500, "-t", 1, "--queries-per-conn", 1)
    did = server.stop()
    check_udp(r)
    q = r.json["queries"]
    check_equal((q["answered"], did["queries"]), (q["sent"],) * 2, "queries")
    check_equal(r.json["connections"]["connected"], 20 + r.json["connections"]["reopened"], "sockets")
    check_between(len(did["sources"]), q["sent"] * 0.9, q["sent"], "ports that the server saw; few were used twice")
    check_equal(r.json["churn"]["most_per_s"], None, "UDP has no TIME_WAIT")


def test_sockets_are_proven_if_requested():
    server = UdpServer("--drop-every", 4, "--first", 8)
    r = run_udp(server.port, "-c", 8, "--prove", "yes", "-r", 400, "-t", 1, "--timeout", "2s", "--select", "round-robin")
    did = server.stop()
    check_udp(r)
    p = r.json["probes"]
    with stall_may_spoil():
        check_equal((p["sent"], p["answered"], p["timeout"], did["dropped"]), (8, 6, 2, 2), "queries that prove a socket")
        check_equal(r.json["connections"]["outcomes"], {"run/finished": 6, "receive/half-open": 2}, "sockets")
        check_equal(r.json["queries"]["answered"], did["queries"] - 8, "the others carry the load")
        check_equal([d["limit"] for d in r.json["diagnosis"]], ["lost datagrams"], "diagnosis")
    check_equal(len(did["sources"]), 8, "sockets that the server saw")


# --- what may happen to a datagram ---

@covered_by_others
def test_exactly_the_dropped_queries_time_out():
    server = UdpServer("--drop-every", 50)
    r = run_udp(server.port, "-r", 1000, "-t", 2, "--timeout", "3s")
    did = server.stop()
    check_udp(r)
    q = r.json["queries"]
    check_equal(q["sent"], did["queries"], "no query is sent twice")
    with stall_may_spoil():
        check_equal((q["timeout"] - q["late"], q["answered"] + q["late"]), (did["dropped"], did["answers"]), "timed out, answered")
    check_equal(did["dropped"], did["queries"] // 50, "one in fifty")
    check_equal((r.json["latency_ns"]["response"]["over"], r.json["latency_ns"]["response"]["p99"]), (q["timeout"], "beyond"),
                "they are slower than all others")
    check_equal(r.json["connections"]["live_at_end"], 20, "sockets stay open")


@covered_by_others
def test_second_answers_are_duplicates():
    server = UdpServer("--duplicate-every", 10)
    r = run_udp(server.port, "-r", 1000, "-t", 1)
    did = server.stop()
    check_udp(r)
    q = r.json["queries"]
    check_equal((q["answered"], q["timeout"]), (did["queries"], 0), "answered")
    check_between(q["duplicate"], did["duplicated"] - 1, did["duplicated"], "duplicates; the last may come after the end")
    check(did["duplicated"] > 80 and q["unknown_id"] == q["late"] == 0, f"{q}")


def test_answers_after_the_timeout_are_late():
    server = UdpServer("--delay-every", 20, "--delay-ms", 3000, "--first", 1000)
    r = run_udp(server.port, "-r", 1000, "-t", 5, "--timeout", "1500ms")
    did = server.stop()
    check_udp(r)
    q = r.json["queries"]
    check_equal(did["delayed"], 50, "delayed")
    with stall_may_spoil():
        check_equal((q["timeout"] - q["late"], q["duplicate"], q["unknown_id"]), (0, 0, 0), "timed out and late")
    check(q["late"] >= 50, f"late: {q}")


def test_truncated_answers_are_counted_apart():
    server = UdpServer("--truncate-every", 7)
    r = run_udp(server.port, "-r", 700, "-t", 1)
    did = server.stop()
    check_udp(r)
    check_equal((r.json["answers"]["truncated"], r.json["queries"]["answered"]), (did["truncated"], did["queries"]), "truncated")
    check(did["truncated"] == did["queries"] // 7 > 50 and f"NOERROR, {did['truncated']} truncated\n" in r.err, r.err)


def test_short_datagram_costs_only_its_query():
    server = UdpServer("--short-every", 25)
    r = run_udp(server.port, "-r", 500, "-t", 2, "--timeout", "2s")
    did = server.stop()
    check_udp(r, malformed=did["short"])
    check(did["short"] > 30, f"{did}")
    with stall_may_spoil():
        check_equal((r.json["queries"]["timeout"], r.json["queries"]["answered"]), (did["short"], did["answers"]), "queries")
    check_equal(r.json["connections"]["live_at_end"], 20, "sockets stay open")


# --- nothing listens ---

def test_port_unreachable_ends_a_socket():
    port = free_port()
    with socket.create_server(("127.0.0.1", port)) as tcp:
        r = run_udp(port, "-r", 1000, "-t", 1, "--threads", 2)
        check_equal(select.select([tcp], [], [], 0)[0], [], "nothing tests the port over TCP")
    check_udp(r)
    c, q = r.json["connections"], r.json["queries"]
    check_equal((c["outcomes"], c["live_at_end"]), ({"receive/refused": 20}, 0), "sockets")
    check_equal((q["answered"], q["timeout"], q["outcomes"]), (0, 0, {"receive/refused": q["error"]}), "queries")
    check_equal(q["sent"] + q["unsent"], q["scheduled"], "all others had no socket left")
    check_equal([(d["limit"], d["connections"]) for d in r.json["diagnosis"]], [("nobody listens", 20)], "diagnosis")
    check("20 of 20 sockets got 'port unreachable' (ICMP)" in r.err, r.err)
    check_code(r, 3)


def test_a_proof_finds_out_that_nothing_listens():
    r = run_udp(free_port(), "--prove", "yes", "-r", 1000, "-t", 30, "--connect-window", 10)
    check_udp(r)
    check_equal((r.json["connections"]["attempted"], r.json["queries"]["scheduled"]), (10, 0), "it gives up after the first window")
    check(r.seconds < 25, f"it took {r.seconds} s")


def loses_nothing(client, n):
    """Its n sockets have been open, and no query was lost, for a second: each has sent several queries."""
    last = progress(client)[-6:]
    return {line.live for line in last} == {n} and len({line.lost for line in last}) == 1


@covered_by_others
def test_reconnecting_survives_a_restart():
    port = free_port()
    server = UdpServer("--port", port)
    client = Client("-p", port, "--transport", "udp", "-c", 20, "-r", 500, "--reconnect", "--backoff", "100ms-300ms",
                    "--stats-interval", "200ms", "127.0.0.1")
    wait_until_running(client)
    server.process.kill()
    server.process.wait()
    wait_for_client(client, lambda: sum(p.lost for p in progress(client)) > 0, "queries are lost")
    again = UdpServer("--port", port)
    wait_for_client(client, lambda: loses_nothing(client, 20), "all sockets to be back")
    client.process.send_signal(signal.SIGINT)
    r = client.wait()
    did = again.stop()
    check_udp(r)
    c = r.json["connections"]
    check_equal(set(c["outcomes"]), {"receive/refused", "run/finished"}, "sockets")
    check_equal((c["outcomes"]["run/finished"], c["live_at_end"]), (20, 20), "all are back")
    check(did["answers"] > 0 and set(r.json["queries"]["outcomes"]) == {"receive/refused"}, f"{did} {r.json['queries']}")


# --- this host's own losses ---

LEAST_RCVBUF_BYTES = 2304  # SOCK_MIN_RCVBUF, of any --rcvbuf below


def receive_queue(process, port):
    """The process's socket that is connected to this port: bytes waiting, and datagrams dropped (/proc/net/udp)."""
    with open(f"/proc/{process.pid}/net/udp") as f:
        row = next(fields for line in f if (fields := line.split())[2].endswith(f":{port:04X}"))
    return int(row[4].split(":")[1], 16), int(row[-1])


def flooded(*options):
    """A client that is stopped while more answers arrive on its only socket than the smallest buffer has room for."""
    server = UdpServer("--delay-every", 1, "--delay-ms", 1000)
    client = Client("-p", server.port, "--transport", "udp", "-c", 1, "-r", 200, "-t", 3, "--timeout", "4s", "--stats-interval",
                    "200ms", *options, "127.0.0.1")
    wait_for_client(client, lambda: any(p.in_flight > 100 for p in progress(client)), "queries are in flight")
    suspend(client.process)
    wait_for(lambda: (queue := receive_queue(client.process, server.port))[0] > 20 * LEAST_RCVBUF_BYTES or queue[1] > 20,
             "answers to be dropped, or twenty times what the smallest buffer holds to be queued")
    client.process.send_signal(signal.SIGCONT)
    r = client.wait()
    return r, server.stop()


def test_drops_by_the_clients_kernel_raise_a_doubt():
    r, did = flooded("--rcvbuf", 1)
    check_conservation(r)
    dropped, q = r.json["udp"]["dropped"], r.json["queries"]
    check(dropped > 20, f"dropped: {dropped}")
    with stall_may_spoil():
        check_equal(q["answered"] + q["late"] + dropped, did["answers"], "each answer was read or dropped")
    check_equal((r.code, "datagrams-dropped" in r.json["reasons"]), (3, True), r.err)
    check(f"datagrams-dropped: {dropped:,} datagrams: " in r.err and f", {dropped:,} dropped by this host\n" in r.err, r.err)


@covered_by_others
def test_a_larger_buffer_drops_nothing():
    """The control: the same with room for the answers."""
    r, did = flooded("--rcvbuf", "1M")
    check_conservation(r)
    with stall_may_spoil():
        check_udp(r)
        check_equal(r.json["queries"]["answered"], did["answers"], "answers")
        check("datagrams-dropped" not in r.json["reasons"], r.err)


def test_unreported_drops_are_unknown():
    ask = "import socket; socket.socket().getsockopt(socket.SOL_SOCKET, 55, 36)"
    check_equal([subprocess.run([*prefix, sys.executable, "-c", ask], capture_output=True).returncode
                 for prefix in ([], [*DENY, "SO_MEMINFO", "--"])], [0, 1], "SO_MEMINFO, with and without")
    server = UdpServer()
    r = run_udp(server.port, "-r", 500, "-t", "500ms", prefix=[*DENY, "SO_MEMINFO", "--"])
    server.stop()
    check_conservation(r)
    check_complete(r)
    check_equal(r.json["udp"], {"malformed": 0, "dropped": None}, "datagrams")
    check("warning: no drop counts per socket here (Protocol not available)" in r.err, r.err)
    check(", an unknown number dropped by this host\n" in r.err, r.err)


# --- with others ---

def test_capacity_is_searched_over_udp():
    """With sanitizers many trials are void: while other tests run, the client is late."""
    server = UdpServer()
    r = run_client("-p", server.port, "--transport", "udp", "--find", "rate", "--find-range", "50-100", "--find-time",
                   "10s" if SANITIZED else "20s", "--slo", "p50<100ms", "--sweep", "connections=1,5", "127.0.0.1")
    server.stop()
    check_conservation(r)
    points = r.json["sweep"]["points"]
    check_equal([p["at"] for p in points], [1, 5], "points")
    with stall_may_spoil():
        classes = {trial["class"] for p in points for trial in p["search"]["trials"]}
        check(classes and classes <= {"good", "void"}, f"{classes}: no load is too high; {r.err}")
        check(SANITIZED or [p["search"]["lower"] for p in points] == [100, 100], f"{points}; {r.err}")
    check_equal(r.json["options"]["transport"], "udp", "transport")


@covered_by_others
def test_classes_have_their_own_load_and_server():
    """Each class sends to its own port, in sockets of its own."""
    servers = UdpServer(), UdpServer("--drop-every", 10)
    r = run_udp(servers[0].port, "-t", 2, "--timeout", "2s", "--class", "name=often,share=25%,rate=600",
                "--class", f"name=seldom,share=75%,interval=100ms,port={servers[1].port}")
    did = [s.stop() for s in servers]
    check_udp(r)
    of = r.json["classes"]
    check_equal([of[name]["clients"] for name in ("often", "seldom")], [5, 15], "clients")
    check_equal([len(d["sources"]) for d in did], [5, 15], "sockets that each server saw")
    check_equal([of[name]["queries"]["sent"] for name in ("often", "seldom")], [d["queries"] for d in did], "queries")
    with stall_may_spoil():
        check_equal([of[name]["queries"]["timeout"] for name in ("often", "seldom")], [0, did[1]["dropped"]], "timed out")
    check(did[1]["dropped"] > 20 and r.json["sockets"] is None, f"{did}")


def test_options_that_need_tcp_are_refused_before_anything_is_sent():
    server = UdpServer()
    for why, option in (("conflicts with --tls: ", ["--tls"]), ("requires --protocol dns", ["--protocol", "ping"]),
                        ("conflicts with --close: ", ["--close", "rst"]), ("conflicts with --on-demand: ", ["--on-demand"]),
                        ("conflicts with --tls: ", ["--class", "name=a,share=100%,tls=yes"]),
                        ("conflicts with --on-demand: ", ["--on-demand", "--class", "name=a,share=100%,idle-close=1s"])):
        r = run_command([TCPCLIENT, "-p", str(server.port), "-r", "5", "-t", "1", "--transport", "udp", *option, "127.0.0.1"])
        check_equal((r.returncode, len(r.stderr.splitlines())), (2, 1), f"{option}: {r.stderr}")
        check(f"--transport: 'udp' {why}" in r.stderr, r.stderr)
    check_equal(server.stop()["sources"], [], "whom the server heard")


if __name__ == "__main__":
    main()
