# SPDX-License-Identifier: MIT
"""Replaced connections: after a number of queries, and after a failure. Exhausted source ports are named;
connections are reopened when a server comes back."""

from helpers.namespace import *


def check_counts_of_both_sides(server, r):
    wait_for(lambda: waiting_to_be_accepted(server) == 0, "the server to accept the last ones")
    server.stop()
    check_equal(server.result["accepted"], r.json["connections"]["connected"], "accepted by the server")


def run_churn(*arguments, connections=200, seconds=2, prefix=(), port=0):
    server = Server(port=port, prefix=prefix)
    r = run_client("-p", server.port, "-c", connections, "-t", seconds, "--stats-interval", 0, *arguments,
                   "127.0.0.1", prefix=prefix)
    check_conservation(r)
    check_counts_of_both_sides(server, r)
    return r


def check_ports_suffice(r, n_ports):
    """A query may be unsent, because a stall can leave no connection; in virtual time none is (tests/sim/populations.py)."""
    c, q = r.json["connections"], r.json["queries"]
    check_equal(q["answered"] + q["unsent"], q["scheduled"], "answered")
    check_equal(c["outcomes"].get("connect/source ports exhausted", 0), 0, f"ends: {c['outcomes']}")
    check_equal(r.json["churn"]["most_per_s"], None, "no limit on replacements")
    with stall_may_spoil():
        check(c["connected"] > 1.5 * n_ports, f"more connections than ports: {c['connected']}")


@covered_by_others
def test_a_connection_carries_the_requested_number_of_queries():
    for n in (1, 5):
        r = run_churn("-r", 500, "--queries-per-conn", n, "--close", "rst")
        c, q = r.json["connections"], r.json["queries"]
        # none is unsent in virtual time (tests/sim/populations.py); here a stall may leave no connection
        check_equal(q["answered"] + q["unsent"], q["scheduled"], "answered")
        check_equal(c["outcomes"]["run/finished"], c["connected"], "ends of established connections")
        check(set(c["outcomes"]) <= {"run/finished", "run/cancelled"}, f"and of the others: {c['outcomes']}")
        room = c["connected"] * n - q["answered"]
        check(0 <= room <= 200 * n, f"{c['connected']} connections for {q['answered']} queries")
        check_equal(r.json["probes"]["sent"], 0, "the first query proves a connection")
        check_equal(r.json["latency_ns"]["gap"]["count"], c["connected"] - 200, "gaps")
        with stall_may_spoil():
            check_complete(r)


@covered_by_others
def test_a_connection_per_query_in_a_closed_loop():
    r = run_churn("-i", "100ms", "--loop", "closed", "--queries-per-conn", 1, "--close", "rst")
    c, q = r.json["connections"], r.json["queries"]
    check_equal(q["answered"], q["sent"], "answered")
    # each slot sends a query no sooner than 100 ms after it was usable: 200 slots for 2 s, which the waits fill
    check(q["answered"] <= 4200, f"queries: {q['answered']}")
    waits_ns = [r.json["latency_ns"][name]["mean"] for name in ("response", "gap")]
    filled_s = q["answered"] * (0.1 + sum(waits_ns) / 1e9)
    check(filled_s > 200 * 1.5, f"{q['answered']} queries, {filled_s} s of 200 slots")
    check(c["connected"] >= q["answered"], "a connection for each")
    check_equal(r.json["rate"]["asked_qps"], None, "the rate that was asked for")


def churn_in_1000_ports(*arguments, timestamps=0):
    """1,000 automatic ports; without timestamps the kernel does not reuse one in TIME_WAIT for a minute."""
    with Namespace() as ns:
        ns.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40999", f"net.ipv4.tcp_timestamps={timestamps}",
               "net.ipv4.tcp_tw_reuse=0")
        return run_churn("-r", 400, "--queries-per-conn", 1, *arguments, connections=400, seconds=5, prefix=ns.prefix,
                         port=4242)


@covered_by_others
def test_exhausted_source_ports_are_named():
    r = churn_in_1000_ports()
    c = r.json["connections"]
    check(c["connected"] <= 1000, f"each port once: {c['connected']}")
    with stall_may_spoil():  # 600 replacements take 1.5 s of the 5, and the server must have closed its side of each
        check_equal(c["connected"], 1000, "connections before the ports ran out")
        check_equal(r.json["sockets"]["time_wait"], 1000, "in TIME_WAIT towards the server")
        check(c["outcomes"].get("connect/source ports exhausted", 0) > 0, f"ends: {c['outcomes']}")
    check_code(r, 3)
    check("churn-plateau" in r.json["reasons"], f"{r.json['reasons']}")
    check("source tuples: 1,000; sockets in TIME_WAIT towards the server: 1,000; " in r.err, r.err)
    check_equal(r.json["churn"]["most_per_s"], 16, "1,000 ports, 60 s of TIME_WAIT each")
    check("sustainable with fin: available 16, needed 400" in r.err, "said before the run")


@covered_by_others
def test_timestamps_keep_the_kernels_ports_from_running_out():
    r = churn_in_1000_ports(timestamps=1)
    check_ports_suffice(r, 1000)
    check_equal(r.json["connections"]["failed"], 0, f"failed: {r.json['connections']['outcomes']}")
    check("explicitly" in r.err, r.err)


@covered_by_others
def test_ports_do_not_run_out_if_connections_are_reset():
    r = churn_in_1000_ports("--close", "rst")
    check_ports_suffice(r, 1000)
    check_equal(r.json["sockets"]["time_wait"], 0, "in TIME_WAIT")
    check("churn-plateau" not in r.json["reasons"], f"{r.json['reasons']}")


def churn_over_planned_ports(timestamps, seconds):
    with Namespace() as ns:
        ns.run("sysctl", "-qw", f"net.ipv4.tcp_timestamps={timestamps}")
        return run_churn("-r", 100, "--queries-per-conn", 1, "--source", "127.0.0.1", "--sport",
                         "20000-20099", connections=50, seconds=seconds, prefix=ns.prefix)


@covered_by_others
def test_planned_ports_in_time_wait_are_reused():
    check_ports_suffice(churn_over_planned_ports(1, 4), 200)


def test_planned_ports_run_out_without_timestamps():
    r = churn_over_planned_ports(0, 2)
    c = r.json["connections"]
    check(c["connected"] <= 100, f"each port once: {c['connected']}")
    with stall_may_spoil():  # 50 replacements take 0.5 s of the 2
        check_equal(c["connected"], 100, "every port")
        check(c["outcomes"].get("connect/source ports exhausted", 0) > 0, f"ends: {c['outcomes']}")
    check("churn-plateau" in r.json["reasons"], f"{r.json['reasons']}")


def unsent_while_none_lives(client):
    """The counts of lost queries in the progress lines without a live connection, from the third on: by then all that the
    connections left behind has been counted, and what is added are the queries that are due meanwhile."""
    return sorted({line.lost for line in progress(client) if line.live == 0})[2:]


def restart_in_mid_run(*arguments, rows=None, is_back=lambda client: True):
    """Kills the server, and starts another on the same port once the client has lost every connection and then 3,000
    queries. A client without -t is interrupted once it is back. Returns both results, and the least and the most seconds for
    which any connection was away."""
    server = Server("--threads", 2, port=free_port())
    client = Client("-p", server.port, "-c", 300, "-r", 3000, "--threads", 1, "--stats-interval", "100ms",
                    "--connections-out", rows or temp_path("rows"), *arguments, "127.0.0.1")
    wait_until_running(client)
    killed = time.monotonic()
    server.process.kill()
    server.process.wait()
    wait_for_client(client, lambda: unsent_while_none_lives(client), "the loss of every connection")
    noticed = time.monotonic()
    wait_for_client(client, lambda: (lost := unsent_while_none_lives(client))[-1] - lost[0] > 3000, "the loss of 3,000 queries")
    away_s = time.monotonic() - noticed
    with Server("--threads", 2, port=server.port) as again:
        wait_for_client(client, lambda: is_back(client), "the client to be back")
        if "-t" not in arguments:
            client.process.send_signal(signal.SIGINT)
        r = client.wait()
        again.stop()
    check_conservation(r)
    check_code(r, 3 if "-t" in arguments else 130)
    return r, again.result, away_s, time.monotonic() - killed


def check_away_times(path, recovery):
    """Each row says when its connection was lost, and when it was back."""
    away_ns = [round(1e9 * (float(row["back_s"]) - float(row["lost_s"]))) for row in read_rows(path)]
    check_equal(len(away_ns), 300, "rows")
    check_between(min(away_ns), recovery["min"] - 2000, recovery["min"] + 2000, "the shortest, in whole microseconds")
    check_between(max(away_ns), recovery["max"] - 2000, recovery["max"] + 2000, "the longest")


@covered_by_others
def test_connections_are_reopened_when_the_server_comes_back():
    path = temp_path("rows")
    r, server, away_s, took_s = restart_in_mid_run("--reconnect", "--backoff", "50ms-500ms", rows=path,
                                                   is_back=lambda client: progress(client)[-1].live == 300)
    c, q = r.json["connections"], r.json["queries"]
    check_equal((c["live_at_end"], server["peak"]), (300, 300), "live connections on both sides")
    gap, recovery = r.json["latency_ns"]["gap"], r.json["latency_ns"]["recovery"]
    check_equal(gap["count"], 300, "gaps")
    check_between(gap["min"], 1, took_s * 1e9, "shortest gap")
    with stall_may_spoil():  # a client that is late tries less often
        check(gap["min"] > 0.1e9, f"the waits have grown: {gap['min']}")
    check_equal((recovery["count"], recovery["over"]), (300, 0), "connections that came back")
    check_between(recovery["min"], away_s * 1e9, recovery["max"], f"shortest recovery: the server was away for {away_s} s")
    check(recovery["max"] <= took_s * 1e9, f"the longest: {recovery['max']}")
    check_equal((r.json["recovery"]["lost"], r.json["recovery"]["back"]), (300, 300), "connections lost and back")
    said = re.search(r"^Recovery +300 connections lost, 300 back: 50 % within (.*), 90 % .*, all within (\S+ m?s)$", r.err, re.M)
    check(said, r.err)
    check_away_times(path, recovery)
    check_equal(q["error"] + q["unsent"], q["scheduled"] - q["answered"] - q["cancelled"], "the outage's queries")
    check(q["unsent"] > 3000, f"due while no connection lived: {q['unsent']}")
    check("unsent" in r.json["reasons"], "the verdict says so")
    check("connections-short" not in r.json["reasons"], f"{r.json['reasons']}")


@covered_by_others
def test_connections_are_not_reopened_without_reconnect():
    r, server, *_ = restart_in_mid_run("-t", 4)
    check_equal((r.json["connections"]["live_at_end"], r.json["connections"]["reopened"]), (0, 0), "connections")
    with stall_may_spoil():  # the run may be over before the second server listens
        check_equal((server["accepted"], server["bytes_received"]), (1, 0), "the trial whether anybody accepts; bytes")
    with stall_may_spoil():  # just before the kill it looks like an idle timeout; after it, the losses are not sudden
        check_equal([line["limit"] for line in r.json["diagnosis"]], ["the server's limits"], "diagnosis")
        check("or a restart" in r.json["diagnosis"][0]["remedy"], r.err)


def run_with_timeouts(between, *options):
    """Calls between(client) while the server is stopped, and interrupts the client some time after, when every connection
    lives. Returns the result and the rows of the connections."""
    server = Server()
    rows = temp_path("connections.csv")
    client = Client("-p", server.port, "-c", 20, "-i", "100ms", "--loop", "closed", "--timeout", "500ms",
                    "--on-timeout", "close", "--reconnect", "--stats-interval", "50ms",
                    "--connections-out", rows, *options, "127.0.0.1")
    wait_for(lambda: progress(client)[-1:] and progress(client)[-1].live == 20, "the load")
    suspend(server.process)
    between(client)
    server.process.send_signal(signal.SIGCONT)
    time.sleep(0.6)  # the timeouts of a client that is stopped expire
    n = len(progress(client)) + 20  # a second of its time: those in flight may still have been answered
    client.process.send_signal(signal.SIGCONT)
    wait_for(lambda: progress(client)[-1].live == 20 and (progress(client)[-1].lost > 0 or len(progress(client)) > n),
             "the client to go on")
    client.process.send_signal(signal.SIGINT)
    r = client.wait()
    stop(server.process)
    check_conservation(r)
    check_code(r, 130)
    return r, read_rows(rows)


def check_rows(r, table):
    check_equal(sum(int(row["connections"]) for row in table), r.json["connections"]["attempted"],
                "connections in the rows")
    check_equal(sum(int(row["answers"]) for row in table),
                r.json["queries"]["answered"] + r.json["probes"]["answered"] + r.json["queries"]["late"],
                "answers in the rows")


@covered_by_others
def test_a_connection_that_timed_out_is_reopened():
    r, table = run_with_timeouts(lambda client: wait_for(lambda: progress(client)[-1].lost >= 20, "a timeout of each"))
    check_rows(r, table)
    c = r.json["connections"]
    check(c["outcomes"]["receive/timed out"] >= 20, f"ends: {c['outcomes']}")
    with stall_may_spoil():  # at the end it looks like one more timeout
        check_equal(c["live_at_end"], 20, "live at the end")


def test_answers_that_arrive_with_their_timeout_are_not_counted():
    """The answers are in the client's sockets when it continues, but their timeouts have expired, and it does not know when they
    arrived."""
    def stop_the_client(client):
        n = len(progress(client)) + 1  # a line may be about to be printed
        wait_for(lambda: any(line.in_flight >= 10 or line.lost > 0 for line in progress(client)[n:]), "queries in flight")
        suspend(client.process)

    r, table = run_with_timeouts(stop_the_client, "--kernel-ts=no")
    check_rows(r, table)
    with stall_may_spoil():  # the answers to those in flight may have been there before the server stopped
        check(r.json["queries"]["timeout"] > 0, f"timed out: {r.json['queries']}")


if __name__ == "__main__":
    main()
