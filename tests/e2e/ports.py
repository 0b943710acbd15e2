# SPDX-License-Identifier: MIT
"""Source ports: those the kernel chooses after a run with explicit ones, TIME_WAIT, and no connection to itself."""

from helpers.control_api import ask, control_path, stats
from helpers.namespace import *

TIME_WAIT_S = 60  # TCP_TIMEWAIT_LEN of include/net/tcp.h


@covered_by_others
def test_plans_leave_out_the_targets_own_port():
    """Nothing listens: a connection from that port would connect to itself."""
    sources = [["--source", "127.0.0.1"], ["--source", "127.0.0.0-3"], []]
    for target, lists in (("127.0.0.1:15901", sources), ("[::1]:15901", [["--source", "::1"], []])):
        for source in lists:
            r = run_client("-c", 40, *source, "--sport", "15880-15929", "-r", 100, "-t", 0.2, target)
            check_conservation(r)
            check_equal(r.json["connections"]["outcomes"], {"connect/refused": 40}, f"{target} from {source}")
    # control: from other addresses it is a port as any other
    plan = ["--plan", "-c", "50", "--sport", "15880-15929", "--source"]
    for source, code in (("127.0.0.2", 0), ("127.0.0.1", 2)):
        r = run_command([TCPCLIENT, *plan, source, "127.0.0.1:15901"])
        check_equal(r.returncode, code, f"from {source}: {r.stdout}")


def test_a_plan_with_only_the_targets_port_is_refused():
    r = run_command([TCPCLIENT, "-c", "1", "-t", "1", "--source", "127.0.0.1", "--sport", "15901", "127.0.0.1:15901"])
    check_equal((r.returncode, len(r.stderr.splitlines())), (2, 1), f"exit code, lines of {r.stderr}")
    check("--sport" in r.stderr and "15901" in r.stderr, r.stderr)


# sysctl(8) writes no more of a value than the kernel takes at a time: a page
WRITE_IN_PARTS = """
import os, sys
fd, left = os.open(sys.argv[1], os.O_WRONLY), sys.argv[2].encode()
while left:
    left = left[os.write(fd, left):]
"""


def test_a_long_list_of_reserved_ports_is_left_out():
    with Namespace() as namespace:
        reserved = ",".join(str(port) for port in range(20000, 24000, 2))
        namespace.run(sys.executable, "-c", WRITE_IN_PARTS, "/proc/sys/net/ipv4/ip_local_reserved_ports", reserved)
        check_equal(namespace.run("cat", "/proc/sys/net/ipv4/ip_local_reserved_ports").stdout.strip(), reserved, "reserved ports")
        for n, code in ((2000, 0), (2001, 2)):
            r = run_command([*namespace.prefix, TCPCLIENT, "--plan", "-c", str(n), "--source", "127.0.0.1", "--sport",
                             "20000-23999", "127.0.0.1:15901"])
            check_equal(r.returncode, code, f"{n} of the 2,000 other ports: {r.stdout}{r.stderr}")


def test_connection_to_itself_is_counted_as_a_failure():
    with Namespace() as namespace:
        namespace.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40003")
        for target in "127.0.0.1:40002", "[::1]:40002":
            r = run_client("-c", 3, "-r", 100, "-t", 2, "--reconnect", "--backoff", "10ms-20ms", target,
                           prefix=namespace.prefix)
            check_conservation(r)
            c = r.json["connections"]
            check_equal((c["connected"], c["proven"]), (0, 0), f"connected, proven to {target}; {r.err}")
            with stall_may_spoil():  # it takes some attempts to meet itself
                check(c["outcomes"].get("connect/connected to itself", 0) > 0, f"{target}: {c['outcomes']}")
            check("themselves" in r.json["diagnosis"][0]["evidence"], str(r.json["diagnosis"]))


@covered_by_others
def test_reconnecting_does_not_take_the_port_of_a_stopped_server():
    """It is in the kernel's range, and free while the server is down."""
    control = control_path()

    def connections():
        return stats(control)["connections"]

    with Namespace() as namespace:
        namespace.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40007")
        with Server(prefix=namespace.prefix, port=40004) as server:
            client = Client("-c", 2, "-r", 100, "--reconnect", "--backoff", "10ms-20ms", "--stats-interval",
                            "100ms", "--control", control, f"127.0.0.1:{server.port}", prefix=namespace.prefix)
            wait_until_running(client)
        wait_for(lambda: connections()["outcomes"].get("connect/connected to itself", 0) > 0, "it to meet itself")
        wait_for(lambda: connections()["live_at_end"] == 0, "both connections to be lost")
        with Server(prefix=namespace.prefix, port=40004) as server:
            wait_for(lambda: connections()["live_at_end"] == 2, "both connections to be back")
            client.process.send_signal(signal.SIGINT)
            r = client.wait()
            server.stop()
    check_conservation(r)
    check_equal(r.json["connections"]["live_at_end"], 2, "live at the end")
    check(r.json["connections"]["outcomes"].get("connect/connected to itself", 0) > 0, "it met itself meanwhile")
    check_equal(server.result["accepted"], 2, "of the second server")


def await_closed(server):
    """Waits until the server has closed its ends: the rest is in TIME_WAIT."""
    wait_for(lambda: {s.state for s in tcp_sockets(server.pid)} <= {TIME_WAIT, LISTEN}, "both sides to be closed")


def leave_time_wait(server, first, last, target, prefix, *source):
    """A run with explicit ports, closed by FIN: each port of the range is in TIME_WAIT, and bound."""
    n, begin = last - first + 1, time.monotonic()
    r = run_client("-p", server.port, "-c", n, *source, "--sport", f"{first}-{last}", "-t", 0.1, target, prefix=prefix)
    check_conservation(r)
    check_equal(r.json["connections"]["proven"], n, "proven from explicit ports")
    ran_s = time.monotonic() - begin
    await_closed(server)
    took_s = time.monotonic() - begin
    with stall_may_spoil():  # the kernel forgets the first of them meanwhile
        check(took_s < TIME_WAIT_S / 2, f"TIME_WAIT may have ended after {ran_s:.1f} s of a run, {took_s:.1f} s until all are closed")


@plain_build_only
def test_automatic_ports_work_after_a_planned_run():
    """The planned run used another address, which makes no difference to the kernel."""
    with Namespace() as ns, Server("--threads", 3, prefix=ns.prefix, port=4242) as server:
        ns.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 47999")
        leave_time_wait(server, 40000, 47999, "127.0.0.1", ns.prefix, "--source", "127.0.0.2")
        r = run_client("-c", 1500, "-r", 100, "-t", 0.5, "127.0.0.1", prefix=ns.prefix)
    check_conservation(r)
    check_equal(r.json["connections"]["outcomes"], {"run/finished": 1500}, f"outcomes; {r.err}")
    check_equal(r.json["connections"]["proven"], 1500, "proven")
    check("explicitly" in r.err, r.err)


def test_threads_share_the_fallback_tuples_without_overlap():
    """1,000 ports in TIME_WAIT, all of which are needed at once; also over IPv6, and where connections follow others."""
    for target in "127.0.0.1", "::1":
        with Namespace() as ns, Server(prefix=ns.prefix, port=4242) as server:
            ns.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40999")
            leave_time_wait(server, 40000, 40999, target, ns.prefix)
            out = temp_path("connections.csv")
            for extra in ["--threads", 3], ["--threads", 3, "--reconnect"]:
                r = run_client("-c", 1000, "-r", 100, "-t", 0.2, "--connections-out", out, *extra, target, prefix=ns.prefix)
                check_equal(r.json["connections"]["outcomes"], {"run/finished": 1000}, f"{target} {extra}; {r.err}")
                check("explicitly" in r.err, f"the kernel had ports: {r.err}")
                check_equal(sorted(int(row["source_port"]) for row in read_rows(out)), list(range(40000, 41000)),
                            "ports")
                await_closed(server)


@covered_by_others
def test_connections_started_under_load_also_find_ports():
    control = control_path()
    with Namespace() as ns, Server(prefix=ns.prefix, port=4242) as server:
        ns.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40999")
        leave_time_wait(server, 40000, 40999, "127.0.0.1", ns.prefix)
        client = Client("-c", 10, "--max-connections", 900, "-r", 100, "--control", control, "--stats-interval",
                        "100ms", "127.0.0.1", prefix=ns.prefix)
        wait_until_running(client)
        ask(control, "/connections/start?n=800")
        wait_for(lambda: stats(control)["connections"]["live_at_end"] == 810, "the new connections")
        stop(client.process, signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    check_equal(r.json["connections"]["failed"], 0, f"failed; {r.err}")
    check("explicitly" in r.err, f"the kernel had ports: {r.err}")


def test_time_wait_that_blocks_tuples_is_planned_for_and_named():
    """Without time stamps no tuple is taken over."""
    with Namespace() as ns, Server(prefix=ns.prefix, port=4242) as server:
        ns.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40999", "net.ipv4.tcp_timestamps=0",
               "net.ipv4.tcp_rfc1337=1")  # else a reset of the server's kernel can end TIME_WAIT, see docs/limits.md

        def plan():
            r = run_command([*ns.prefix, TCPCLIENT, "--plan", "--json", "-", "-c", "500", "127.0.0.1"])
            return {line["limit"]: line for line in json.loads(r.stdout)["plan"]}

        def check_in_time_wait(n):
            await_closed(server)
            check_equal(sum(s.state == TIME_WAIT and s.remote_port == 4242 for s in tcp_sockets(server.pid)), n, "TIME_WAIT")

        before = plan()
        first = run_client("-c", 700, "127.0.0.1", "-t", "0.1", prefix=ns.prefix)
        check_equal(first.json["connections"]["outcomes"], {"run/finished": 700}, f"outcomes of the first run; {first.err}")
        check_in_time_wait(700)
        after = plan()
        refused = run_client("-c", 500, "-r", 100, "-t", 1, "127.0.0.1", prefix=ns.prefix)
        forced = run_client("-c", 500, "-r", 100, "-t", 1, "--force", "127.0.0.1", prefix=ns.prefix)
        check_conservation(forced)
        check_equal(forced.json["connections"]["outcomes"], {"connect/source ports exhausted": 200, "run/finished": 300},
                    f"outcomes; {forced.err}")
        ns.run("sysctl", "-qw", "net.ipv4.tcp_timestamps=1")
        with stall_may_spoil():  # an answer after the end of its connection is answered with a reset
            check_in_time_wait(1000)
            late = run_client("-c", 10, "-r", 100, "-t", 1, "127.0.0.1", prefix=ns.prefix)
            check_equal(late.json["connections"]["outcomes"], {"connect/source ports exhausted": 10},
                        f"tuples in TIME_WAIT whose connections had no time stamps; {late.err}")
        taken_over = plan()
        elsewhere = run_client("-c", 500, "-r", 100, "-t", 1, "--source", "127.0.0.2", "127.0.0.1", prefix=ns.prefix)
        check_equal(elsewhere.json["connections"]["outcomes"], {"run/finished": 500}, f"outcomes elsewhere; {elsewhere.err}")
    tuples, waiting = "source tuples", "source tuples in TIME_WAIT"
    check_equal((before[waiting]["is"], before[tuples]["level"]), (0, "ok"), "before")
    check_equal((after[waiting]["is"], after[tuples]["is"], after[tuples]["level"]), (700, 300, "stop"), "after")
    seconds = int(re.search(r"wait (\d+) s", after[tuples]["fix"]).group(1))
    check_between(seconds, 1, 61, "seconds until TIME_WAIT is over")
    check("add tuples with --source" in after[tuples]["fix"] and "sysctl" not in after[tuples]["fix"], str(after[tuples]))
    check_equal((taken_over[waiting]["is"], taken_over[tuples]["is"]), (1000, 1000), "with time stamps")
    check_equal((refused.code, len(refused.err.splitlines())), (2, 1), f"exit code, lines of {refused.err}")
    line = forced.json["diagnosis"][0]
    check("700 of 1,000 source tuples are in TIME_WAIT" in line["evidence"], str(line))
    check("net.ipv4.tcp_timestamps=1" in line["remedy"], str(line))


def accept_queue(port, backlog):
    """A listener; to be closed."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(backlog)
    listener.settimeout(HANGS_S)
    return listener


def test_connects_dropped_by_a_full_accept_queue_name_it_and_count_syns():
    """A server with a backlog of 4 that accepts nothing; 20 clients, of which 5 find room."""
    listener = accept_queue(port := free_port(), 4)
    out = temp_path("connections.csv")
    r = run_client("-c", 20, "-r", 10, "-t", 0.2, "--prove", "no", "--connect-timeout", "3500ms", "--connections-out", out,
                   "--drain", 0, f"127.0.0.1:{port}")
    listener.close()
    check_conservation(r)
    c = r.json["connections"]
    timed_out = c["outcomes"]["connect/timed out"]
    check(timed_out >= 10, f"connects dropped: {c['outcomes']}")
    check(c["syn_retransmits"] >= 2 * timed_out, f"SYNs sent again, after 1 s and 3 s: {c['syn_retransmits']}")
    rows = [row for row in read_rows(out) if "timed out" in row["ended"]]
    check_equal(len(rows), timed_out, "rows")
    check(all(int(row["syn_retransmits"]) >= 2 for row in rows), str(rows))
    line = next(line for line in r.json["diagnosis"] if line["connections"] == timed_out)
    check_equal(line["limit"], "the server's accept queue", str(line))
    check("accept queue overflows" in line["evidence"] and "firewall" not in line["remedy"], str(line))


def test_the_connect_window_is_shared_by_all_threads():
    listener = accept_queue(port := free_port(), 128)
    for window, n in ((10, 10), (2, 4)):  # at least one for each thread
        client = Client("-c", 40, "-r", 10, "--threads", 4, "--connect-window", window, f"127.0.0.1:{port}")
        held = [listener.accept() for _ in range(n)]
        listener.settimeout(1)
        try:
            held.append(listener.accept())
        except TimeoutError:
            pass
        listener.settimeout(HANGS_S)
        check_equal(len(held), n, f"connections under way with a window of {window}")
        stop(client.process, signal.SIGINT)
    listener.close()


def test_the_connect_window_still_holds_after_the_first_answer():
    """Until then no more are attempted at all. An answered one leaves it."""
    listener = accept_queue(port := free_port(), 128)
    client = Client("-c", 40, "-r", 10, "--threads", 1, "--connect-window", 10, f"127.0.0.1:{port}")
    held = [listener.accept()[0] for _ in range(10)]
    held[0].sendall(held[0].recv(1000))
    held.append(listener.accept()[0])
    listener.settimeout(1)
    try:
        held.append(listener.accept()[0])
    except TimeoutError:
        pass
    check_equal(len(held), 11, "one answered, and those under way with a window of 10")
    stop(client.process, signal.SIGINT)
    listener.close()


@covered_by_others
def test_the_connect_rate_accumulates_no_credit_while_idle():
    out = temp_path("connections.csv")
    with Server() as server:
        r = run_client("-p", server.port, "--conn-schedule", "2.5s:2,1.5s:12", "-n", 10, "--threads", 2, "-r", 10,
                       "--connections-out", out, "127.0.0.1")
    check_conservation(r)
    times = sorted(float(row["established_s"]) for row in read_rows(out) if row["established_s"])
    with stall_may_spoil():
        check_equal(len(times), 12, "connections")
        check(times[-1] - times[2] > 0.6, f"10 connections at 10/s: {times}")


def test_link_local_addresses_keep_their_zone():
    """Two interfaces with the same addresses: without the zone the kernel cannot tell which is meant."""
    with Namespace() as ns:
        ns.run("ip", "link", "add", "one", "type", "veth", "peer", "name", "two")
        for name in "one", "two":
            ns.run("ip", "link", "set", name, "up")
            for last in 1, 2, 3:
                ns.run("ip", "addr", "add", f"fe80::{last}/64", "dev", name, "nodad")
        with Server(prefix=ns.prefix, bind="::", port=4242):
            for source in ([], ["--source", "fe80::2"], ["--source", "fe80::2%two"], ["--source", "fe80::2-3%two"],
                           ["--source", "fe80::2%two", "--sport", "20000-20019"]):
                r = run_client("-c", 20, "-r", 100, "-t", 0.2, *source, "[fe80::1%two]:4242", prefix=ns.prefix)
                check_conservation(r)
                check_equal(r.json["connections"]["outcomes"], {"run/finished": 20}, f"from {source}: {r.err}")
                check("[fe80::1%two]:4242" in r.err, r.err)
        for source in "fe80::2%three", "fe80::2%", "10.0.0.1%one":
            r = run_command([*ns.prefix, TCPCLIENT, "-c", "1", "-t", "1", "--source", source, "[fe80::1%one]"])
            check_equal((r.returncode, len(r.stderr.splitlines())), (2, 1), f"{source}: {r.stderr}")


if __name__ == "__main__":
    main()
