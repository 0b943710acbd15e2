# SPDX-License-Identifier: MIT
"""Connections on demand: opened when a query is due, reused, closed when idle. The counts are those of the server."""

import ctypes
import errno
import stat

from helpers.authority import *
from helpers.control_api import *
from helpers.witness import *


def accepted_by(server):
    wait_for(lambda: waiting_to_be_accepted(server) == 0, "the server to accept the last ones")
    server.stop()
    return server.result["accepted"]


def check_demand(r):
    """The laws, recomputed from the JSON.  Returns the queries sent."""
    check_conservation(r)
    d, c = r.json["on_demand"], r.json["connections"]
    sent = sum(r.json[name]["sent"] for name in ("queries", "warmup", "probes"))
    check_equal(d["reused"] + d["waited"], sent, "queries on an open connection, and after waiting for one")
    check_equal(d["requested"], c["attempted"] + d["withdrawn"], "connections requested")
    check_equal(d["clients_connected"], c["asked"], "clients that connected")
    check_equal(sum(d["queries_per_connection"].values()), d["opened"], "connections by the queries they carried")
    if sent > 0:
        check_equal(round(d["reuse_ratio"], 9), round(max(0, 1 - d["opened"] / sent), 9), "reuse ratio")
        check_equal(round(d["waited_ratio"], 9), round(d["waited"] / sent, 9), "share that waited")
    return sent


def run_on_demand(server, *arguments, clients=20):
    return run_client("-p", server.port, "-c", clients, "--on-demand", "--stats-interval", 0, *arguments, "127.0.0.1")


@covered_by_others
def test_a_connection_opens_when_a_query_is_due_and_closes_when_idle():
    server, path = Server(), temp_path("clients.csv")
    r = run_on_demand(server, "-i", "300ms", "-t", 2, "--warmup", "300ms", "--idle-close", "20ms", "--connections-out",
                      path)
    sent = check_demand(r)
    d, c = r.json["on_demand"], r.json["connections"]
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    check_equal(set(c["outcomes"]) - {"run/idle", "run/finished"}, set(), "ends")
    with stall_may_spoil():  # the next query may be due first
        check(c["outcomes"].get("run/idle", 0) > 20, f"closed when idle, and opened again: {c['outcomes']}")
    check_equal((accepted_by(server), c["connected"]), (d["opened"], d["opened"]), "accepted by the server, connected")
    rows = read_rows(path)
    check_equal(sum(int(row["connections"]) for row in rows), d["opened"], "connections of the rows")
    check_equal(sum(int(row["queries"]) for row in rows), sent, "queries of the rows")
    check_complete(r)


def stamped_sockets(pid):
    """How many sockets of a process's main thread request timestamps (SO_TIMESTAMPING)."""
    libc, pidfd, n = ctypes.CDLL(None, use_errno=True), os.pidfd_open(pid), 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        copy = libc.syscall(438, pidfd, int(fd), 0)  # pidfd_getfd(2), of Linux 5.6
        if copy < 0:  # closed meanwhile, as the connection of a control request
            check_equal(ctypes.get_errno(), errno.EBADF, "errno of pidfd_getfd(2)")
        elif stat.S_ISSOCK(os.fstat(copy).st_mode):
            with socket.socket(fileno=copy) as s:
                n += s.getsockopt(socket.SOL_SOCKET, 37) != 0
        else:
            os.close(copy)
    os.close(pidfd)
    return n


def test_kernel_timestamps_stay_on_while_no_connection_is_open():
    for on in (True, False):
        server, path = Server(), control_path()
        client = Client("-p", server.port, "--on-demand", "--control", path, *([] if on else ["--kernel-ts=no"]), "127.0.0.1")
        wait_for(lambda: "control at" in client.stderr() and stats(path)["state"] == "running", "the load")
        check_equal(stats(path)["connections"]["live_at_end"], 0, "open connections")
        check_equal(stamped_sockets(client.process.pid), on, "sockets with timestamps")
        ask(path, "/stop")
        client.wait()


@covered_by_others
def test_connection_that_is_never_idle_long_enough_carries_all_queries():
    server = Server()
    r = run_on_demand(server, "-i", "100ms", "-t", 1, "--idle-close", "10m")
    sent = check_demand(r)
    d, c = r.json["on_demand"], r.json["connections"]
    check_equal((d["opened"], c["reopened"], d["clients"]), (20, 0, 20), "a connection for each client")
    check_equal(c["outcomes"], {"run/finished": 20}, "ends")
    check_equal(round(d["mean_queries_per_connection"], 9), round(sent / 20, 9), "queries per connection")
    check_equal(accepted_by(server), 20, "accepted by the server")


@covered_by_others
def test_response_time_includes_the_connect_and_the_tls_handshake():
    ca = Authority()
    cert, key = ca.sign()
    with Server("--tls-cert", cert, "--tls-key", key) as server:
        r = run_on_demand(server, "-r", 50, "-t", 1, "--select", "round-robin", "--tls", "--tls-ca", ca.cert, clients=500)
    check_demand(r)
    d, latency = r.json["on_demand"], r.json["latency_ns"]
    check_equal((d["waited"], d["opened"]), (r.json["queries"]["sent"],) * 2, "a connection for each query")
    check_equal(latency["handshake"]["count"], d["opened"], "handshakes")
    fastest = latency["connect"]["min"] + latency["handshake"]["min"]
    check(latency["response"]["min"] >= fastest, f"both are in the response time: {latency}")


@covered_by_others
def test_queries_of_a_failed_connection_have_its_outcome():
    server = Server(port=free_port())  # an automatic one could be the source port of a connection, which meets itself
    server.stop()
    r = run_on_demand(server, "-r", 100, "-t", 1)
    check_demand(r)
    q, c = r.json["queries"], r.json["connections"]
    check_equal((q["unsent"], q["unconnected"], q["sent"]), (q["scheduled"], q["scheduled"], 0), "queries")
    check_equal(q["outcomes"], {"connect/refused": q["scheduled"]}, "outcomes of the queries")
    check_equal(c["outcomes"], {"connect/refused": c["attempted"]}, "outcomes of the connections")
    check_equal(r.json["on_demand"]["reuse_ratio"], None, "reuse ratio of no query")
    check(q["scheduled"] > 0, "queries were due")


# --- edns-tcp-keepalive ---

def run_keepalive(witness, *arguments):
    r = run_on_demand(witness, "--keepalive", *arguments, clients=10)
    sent, keepalive = check_demand(r), r.json["on_demand"]["keepalive"]
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    check_equal(sum(keepalive[name] for name in ("timeouts", "none", "malformed")), sent, "answers by what they said")
    check_equal(len(witness.stop()), r.json["on_demand"]["opened"], "connections, by the witness")
    return r, sent, keepalive


def check_closed_as_told(connections, told_s):
    """By the log of the witness.  How late a close may be seen depends on this host, how early does not."""
    by_client = [c for c in connections if c.closed_by == "client" and c.answered is not None]
    idle_s = sorted(c.closed - c.answered for c in by_client)
    print(f"     {len(connections)} connections, {len(by_client)} closed by the client, idle for {idle_s[0]:.3f} to "
          f"{idle_s[-1]:.3f} s; told {told_s} s")
    with stall_may_spoil():
        check(idle_s[-1] <= told_s + 1, f"closed later than told: {idle_s[-5:]}")
    return idle_s


@covered_by_others
def test_connection_is_closed_after_the_timeout_of_its_server():
    server = KeepaliveServer(lambda number: 5)  # 500 ms
    r, sent, keepalive = run_keepalive(server, "-i", "1200ms", "-t", 3)
    check_equal(keepalive, {"timeouts": sent, "none": 0, "malformed": 0, "min_s": 0.5, "max_s": 0.5,
                            "most_common_s": 0.5, "most_common": sent}, "timeouts")
    check_equal(server.n_asked, sent, "queries that asked")
    idle_s = check_closed_as_told(server.connections, 0.5)
    # the last connections of the run close at its end
    n_told = r.json["connections"]["outcomes"].get("run/keepalive timeout", 0)
    check(n_told == 0 or idle_s[-n_told] >= 0.45, f"{n_told} closed as told, none earlier: {idle_s}")
    with stall_may_spoil():  # the next query may be due first
        check(n_told > 0, f"closed as told: {r.json['connections']['outcomes']}")


@covered_by_others
def test_shorter_idle_time_of_the_client_takes_precedence():
    server = KeepaliveServer(lambda number: 65535)
    r, sent, keepalive = run_keepalive(server, "-i", "300ms", "-t", 1, "--idle-close", "10ms")
    check_equal(keepalive["most_common_s"], 6553.5, "timeout")
    check_equal(set(r.json["connections"]["outcomes"]) - {"run/idle", "run/finished"}, set(), "ends")
    with stall_may_spoil():
        check(r.json["connections"]["outcomes"].get("run/idle", 0) > 0, "idle connections are closed")


def test_timeout_of_0_closes_after_the_answers_in_flight():
    server = KeepaliveServer(lambda number: 0, delay_s=0.05)
    r, sent, keepalive = run_keepalive(server, "-r", 500, "-t", 1)
    outcomes = r.json["connections"]["outcomes"]
    check_equal(outcomes, {"run/keepalive timeout": r.json["on_demand"]["opened"]}, "ends")
    check_equal((keepalive["timeouts"], keepalive["min_s"], keepalive["max_s"]), (sent, 0, 0), "timeouts")
    with stall_may_spoil():  # the first answers may come when all queries are queued
        check(r.json["on_demand"]["opened"] > 10, "the clients connect again")
    check_equal({c.closed_by for c in server.connections}, {"client"}, "who closes")


def test_answers_without_and_with_malformed_timeouts_are_counted():
    values = [None, b"", b"\x01", b"\x01\x02\x03", 20, 30, 30]
    server = KeepaliveServer(lambda number: values[number % len(values)])
    r, sent, keepalive = run_keepalive(server, "-r", 70 * 7, "-t", 1, "--arrival", "constant")
    check_equal(sent, 70 * 7, "queries")
    check_equal(keepalive, {"timeouts": 70 * 3, "none": 70, "malformed": 70 * 3, "min_s": 2, "max_s": 3,
                            "most_common_s": 3, "most_common": 70 * 2}, "what the answers said")


if __name__ == "__main__":
    main()
