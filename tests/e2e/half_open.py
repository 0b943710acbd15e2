# SPDX-License-Identifier: MIT
"""Established on the client, unknown to the server: a full accept queue and a slow link."""

from helpers.control_api import *
from helpers.faults import *
from helpers.namespace import *
from helpers.ranks import *

RTT_MS, BACKLOG, CONNECTIONS = 120, 2, 10
IN_QUEUE = BACKLOG + 1  # the kernel lets one more in


def half_open_run():
    with Namespace("a") as a, Namespace("b") as b:
        wire = Wire(a, b, "--delay-ms", RTT_MS / 2)
        server = FaultServer("--bind", "10.99.0.2", "--backlog", BACKLOG, "--accept-only", IN_QUEUE,
                             "--accept-after", 0.8, prefix=b.prefix)
        wire.process.send_signal(signal.SIGSTOP)
        client = Client("-p", server.port, "-c", CONNECTIONS, "-r", 30, "-t", 3, "--timeout", "2s", "--threads", 4, "-R",
                        "10.99.0.2", prefix=a.prefix)
        # all SYNs arrive before the queue is full, however late a thread sends its own
        wait_for(lambda: sum(s.state == SYN_SENT for s in tcp_sockets(client.pid)) == CONNECTIONS, "the SYNs")
        wire.process.send_signal(signal.SIGCONT)
        r = client.wait()
        server.stop()
        wire.stop()
    check_conservation(r)
    return r, r.json["latency_ns"]["response"]


def test_half_open_connections_are_counted_exactly_and_stay_out_of_the_figures():
    r, response = half_open_run()
    with stall_may_spoil():
        check(response["max"] < 1e9, f"slowest answer: {response['max']} ns; the queue took 0.8 s")
        check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered within 2 s")
    c = r.json["connections"]
    check_equal((c["connected"], c["proven"], c["half_open"]),
                (CONNECTIONS, IN_QUEUE, CONNECTIONS - IN_QUEUE), "connected, proven, half-open")
    check_equal(c["outcomes"], {"run/finished": IN_QUEUE, "receive/half-open": CONNECTIONS - IN_QUEUE},
                "outcomes")
    check_equal(response["count"], r.json["queries"]["answered"], "answers in the figures")
    check(response["min"] >= RTT_MS * 1e6, f"fastest answer: {response['min']} ns")
    answers = [row for row in r.rows() if row["type"] == "A"]
    check_equal(len({row["connection_id"] for row in answers}), IN_QUEUE, "connections that answered")
    of_rows = sorted(float(row["response_us"]) * 1000 for row in answers)
    p50 = at_rank(of_rows, 0.5)
    check_between(response["p50"], p50 * 0.999, p50 * 1.001, "p50, compared with the rows'")
    check("raise the server's backlog" in r.err, "the remedy")
    check_equal([(line["limit"], line["connections"]) for line in r.json["diagnosis"]],
                [("the server's accept queue or connection limit", CONNECTIONS - IN_QUEUE)],
                "diagnosis")
    check_code(r, 3)


def test_opening_ends_where_a_server_answers_no_more_connections():
    server = FaultServer("--accept-only", IN_QUEUE)
    r = Client("-p", server.port, "-c", 200, "--connect-window", 2, "--connect-timeout", "500ms", "--timeout", "1s", "--threads", 1,
               "-r", 20, "-t", 1, "127.0.0.1").wait()
    server.stop()
    check_conservation(r)
    c = r.json["connections"]
    with stall_may_spoil():
        check_equal((c["proven"], r.json["queries"]["answered"]), (IN_QUEUE, r.json["queries"]["scheduled"]), "proven, answered within 1 s")
    check(IN_QUEUE + 4 <= c["attempted"] < 100, f"{c['attempted']} attempted, of which {IN_QUEUE} were accepted")
    check_equal(c["outcomes"], {"run/finished": IN_QUEUE, "receive/half-open": c["attempted"] - IN_QUEUE,
                                "run/cancelled": 200 - c["attempted"]}, "outcomes")
    check(re.search(f"stopped opening: none of the last [1-9][0-9]* got an answer; {200 - c['attempted']} not attempted", r.err),
          f"what ended the opening, in\n{r.err}")
    check_equal(r.json["diagnosis"][0]["limit"], "the server's accept queue or connection limit", "diagnosis")
    check_code(r, 3)


@covered_by_others
def test_a_request_for_more_goes_on_opening_where_it_had_ended():
    """One for fewer gives up connections that are not open, and closes none of those that the server has accepted."""
    server, control = FaultServer("--accept-only", IN_QUEUE), control_path()
    client = Client("-p", server.port, "-c", 200, "--connect-window", 2, "--connect-timeout", "100ms", "--timeout", "200ms", "--threads", 1,
                    "-r", 20, "-t", "1h", "--control", control, "127.0.0.1")
    wait_for(lambda: "opening no more connections" in client.stderr() and stats(control)["state"] == "running", "the load")
    n = stats(control)["connections"]["attempted"]
    check(n < 100, f"{n} attempted, of which {IN_QUEUE} were accepted")
    check_equal(ask(control, "/connections/start?n=1")["wanted"], 201, "wanted")
    wait_for(lambda: stats(control)["connections"]["attempted"] > n + 2, "more than what was requested")
    check_equal(ask(control, "/connections/stop?n=50")["wanted"], 151, "wanted")
    n = stats(control)["connections"]["attempted"]
    wait_for(lambda: stats(control)["connections"]["attempted"] > n + 2, "others after the request for fewer")
    ask(control, "/stop")
    r = client.wait()
    server.stop()
    check_conservation(r)
    c = r.json["connections"]
    check_equal((c["outcomes"]["run/finished"], c["live_at_end"]), (IN_QUEUE, IN_QUEUE), "finished, live")


def listen_overflows(pid):
    """In the namespace of a process."""
    with open(f"/proc/{pid}/net/netstat") as f:
        names, values = (line.split() for line in f if line.startswith("TcpExt:"))
    return int(dict(zip(names, values))["ListenOverflows"])


def test_fault_server_can_be_stopped_before_all_connections_came():
    server = FaultServer("--accept-only", 2)
    with socket.create_connection(("127.0.0.1", server.port)):
        check_equal(server.stop()["queries"], 0, "queries, when asked to end")


@covered_by_others
def test_server_counts_accept_queue_overflows():
    """The control: when it takes them in the end, the same connections all prove themselves."""
    with Namespace("a") as a, Namespace("b") as b:
        wire = Wire(a, b, "--delay-ms", RTT_MS / 2)
        with Server("--backlog", BACKLOG, "--threads", 1, prefix=b.prefix) as server:
            server.process.send_signal(signal.SIGSTOP)
            client = Client("-p", server.port, "-c", CONNECTIONS, "-r", 30, "-t", 2, "10.99.0.2",
                            prefix=a.prefix)
            wait_for(lambda: listen_overflows(server.pid) >= CONNECTIONS - IN_QUEUE, "the accept queue to overflow")
            server.process.send_signal(signal.SIGCONT)
            r = client.wait()
            server.stop()
        wire.stop()
    check_conservation(r)
    c = r.json["connections"]
    check_equal((c["connected"], c["proven"], c["half_open"]), (CONNECTIONS, CONNECTIONS, 0),
                "connected, proven, half-open")
    check(server.result["listen_overflows"] >= CONNECTIONS - IN_QUEUE,
          f"overflows: {server.result['listen_overflows']}")


@covered_by_others
def test_lost_segments_are_counted():
    with Namespace("a") as a, Namespace("b") as b:
        wire = Wire(a, b, "--delay-ms", 5, "--drop-every", 7)
        with Server(prefix=b.prefix) as server:
            out = temp_path("connections.csv")
            r = run_client("-p", server.port, "-c", 60, "-r", 30, "-t", 1, "--timeout", "30s",
                           "--connect-timeout", "60s", "--connections-out", out, "10.99.0.2", prefix=a.prefix)
        did = wire.stop()
    check_conservation(r)
    check(did["dropped"] > 10, f"the wire dropped: {did}")
    c = r.json["connections"]
    check_equal(c["proven"], 60, "proven nevertheless")
    with stall_may_spoil():
        check_between(c["syn_retransmits"], 1, did["dropped"], "SYNs sent again")
    rows = [line.split(",") for line in read_text(out).splitlines()[1:]]
    check_equal(sum(int(row[9]) for row in rows), c["syn_retransmits"], "in the rows")
    for row in rows:
        if int(row[9]) > 0:
            check(float(row[3]) > 900e3, f"a connect whose SYN was lost took {row[3]} us")
    check(f"{c['syn_retransmits']:,} SYN retransmit" in r.err, f"in the summary: {r.err}")
    check_equal(sum(int(row[10]) for row in rows), c["retransmits"], "retransmits of the rows")
    check(c["retransmits"] > c["syn_retransmits"], f"not only SYNs are lost: {c}")
    check_between(c["lost_segments"], 1, c["retransmits"] - c["syn_retransmits"] - c["needless_retransmits"], "lost")
    check_equal(sum(int(row[10]) > 0 for row in rows), c["with_retransmits"], "connections with any")
    with stall_may_spoil():
        for row in rows:
            check_between(int(row[11]), 10000, 1e6, "least RTT in us over a wire of 2 x 5 ms")
    check_equal(r.json["latency_ns"]["min_rtt"]["count"], 60, "least RTTs")
    check(r.json["network"]["interface"] != "lo", f"the interface: {r.json['network']}")
    check(r.json["resources"]["retransmits"] > 0, "of the host")


if __name__ == "__main__":
    main()
