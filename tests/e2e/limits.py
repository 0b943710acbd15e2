# SPDX-License-Identifier: MIT
"""At the limits: file descriptors, ports, backlog, restarts; each limit is named, and nothing spins or crashes."""

import socket

from helpers.authority import Authority, ask, serve_with
from helpers.harness import *


def local_tuples(port):
    """(address, port) of the clients of IPv4 connections to a server port, from the kernel."""
    return [(socket.inet_ntoa(bytes.fromhex(s.local[:8])[::-1]), s.local_port) for s in tcp_sockets()
            if s.state == ESTABLISHED and s.remote_port == port]


def test_server_out_of_fds_keeps_serving_and_recovers():
    with Server("--threads", "1", prefix=under_fd_limit(200)) as server:
        client = Client("-p", server.port, "-c", 1000, "-r", 500, "-t", 4, "--connect-timeout", "2s",
                        "--timeout", "1s", "--stats-interval", "200ms", "127.0.0.1")
        wait_until_running(client)
        before, begin = cpu_seconds(server.pid), time.monotonic()
        time.sleep(1.5)
        used = (cpu_seconds(server.pid) - before) / (time.monotonic() - begin)
        r = client.wait()
        wait_for(lambda: server_ends(server.port) == 0, "the server to close them")
        again = run_client("-p", server.port, "-c", 50, "-r", 100, "-t", 1, "127.0.0.1")
        server.stop()
    check_conservation(r)
    live = r.json["connections"]["live_at_end"]
    check(live <= 199, f"connections that fit under 'ulimit -n 200': {live}")
    with stall_may_spoil():
        check(live >= 150, f"connections that fit and were proven in time: {live}")
        check(r.json["queries"]["answered"] > 1500, "those that fit are served")
    check(used < 0.5, f"CPU of the full server: {used:.2f} cores")
    check_code(r, 3)
    check("connections-short" in r.json["reasons"], "the verdict says so")
    check_equal(again.json["connections"]["proven"], 50, "proven after the first client left")
    check(server.result["accept_pauses"] > 0, "accept pauses are counted")
    check_between(server.result["refused"], 1, 851, "refused ones are counted")
    check("cannot accept" in server.stderr(), "it says so")


@plain_build_only
def test_client_that_cannot_start_names_what_the_system_is_out_of():
    need_program("strace")
    r = run_command(["strace", "-D", "-qq", "-o", "/dev/null", "-e", "trace=eventfd2", "-e", "inject=eventfd2:error=ENFILE:when=2",
                     TCPCLIENT, "-q", "-t", "1", "127.0.0.1"])
    check_equal(r.returncode, 2, "exit code")
    check_equal(r.stderr, "tcpclient: cannot start: Too many open files in system (see fs.file-max)\n", "stderr")


@plain_build_only
def test_stack_of_64_kib_is_enough():
    small, result = ["sh", "-c", 'ulimit -s 64 && exec "$0" "$@"'], temp_path("result.json")
    with Server(prefix=small) as server:
        r = run_command([*small, TCPCLIENT, "-q", "-c", "10", "-r", "100", "-t", "200ms", "--json", result, f"127.0.0.1:{server.port}"])
        check(r.returncode in (0, 3), f"{r.returncode}: {r.stderr}")
    for command in (["html", "-o", "-"], ["merge"], ["show"]) if TCPREPORT else ():
        r = run_command([*small, TCPREPORT, *command, result])
        check(r.returncode in (0, 3), f"{command}: {r.returncode}: {r.stderr}")


@plain_build_only
def test_server_without_memory_for_new_connections_names_memory():
    need_program("strace")
    with Server(prefix=["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=accept4",
                        "-e", "inject=accept4:error=ENOMEM:when=1..3"]) as server:
        r = run_client("-p", server.port, "-c", 20, "-r", 100, "-t", 2, "--reconnect", "127.0.0.1")
    check_conservation(r)
    with stall_may_spoil():
        check_equal(r.json["connections"]["live_at_end"], 20, "live when there is memory again")
    check("Cannot allocate memory" in server.stderr() and "net.ipv4.tcp_mem" in server.stderr(), server.stderr())


def test_max_connections_refuses_all_others():
    with Server("--max-connections", "100") as server:
        r = run_client("-p", server.port, "-c", 150, "-r", 100, "-t", 1, "127.0.0.1")
        server.stop()
    check_conservation(r)
    check_between(r.json["connections"]["live_at_end"], 100, 101, "live")
    check_between(server.result["refused"], 49, 50, "refused")
    check_between(server.result["peak"], 1, 101, "peak")


@needs_own_fd_tables
def test_client_that_does_not_fit_names_the_limit():
    r = run_command([*under_fd_limit(100), TCPCLIENT, "--threads", "1", "-c", "200", "127.0.0.1"])
    check_equal(r.returncode, 2, f"exit code: {r.stderr}")
    check_equal(len(r.stderr.splitlines()), 1, "lines")
    for part in ("--connections 200", "fd limit per table: available 100, needed 264",
                 "--threads auto"):
        check(part in r.stderr, f"'{part}' in: {r.stderr}")


@plain_build_only
def test_exhausted_address_space_of_the_client_is_named():
    """tcp_mem is not visible in the network namespace of the harness."""
    ca = Authority()
    with serve_with(ca.sign()) as server:
        r = ask(ca, server.port, "-c", 600, "--threads", 1, "-r", 100, "-t", 0.5, "--force",
                prefix=["sh", "-c", 'ulimit -v 44000; ulimit -s 8192; exec "$@"', "sh"])
    check_conservation(r)
    check_code(r, 3)
    limits = {line["limit"]: line["evidence"] for line in r.json["diagnosis"]}
    check("ulimit -v" in limits and "net.ipv4.tcp_mem" not in limits, f"{limits}")
    check(not re.search("18,?446,?744|EiB", r.err), f"an unknown figure: {r.err}")


@covered_by_others
@needs_own_fd_tables
def test_fd_tables_of_the_workers_multiply_the_limit():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 500, "-r", 500, "-t", 1, "127.0.0.1",
                       prefix=under_fd_limit(200))
    check_complete(r)
    check_equal(r.json["connections"]["proven"], 500, "proven")
    check(r.json["host"]["threads"] >= 4, "threads")
    check_equal(r.json["host"]["own_fd_tables"], True, "own fd tables")


@covered_by_others
def test_restart_after_kill_binds_at_once():
    for bind in ("::", "127.0.0.1"):
        first = Server(bind=bind, port=free_port())
        client = Client("-p", first.port, "-c", 200, "-r", 500, "--stats-interval", "200ms", "127.0.0.1")
        wait_until_running(client)
        first.process.kill()
        first.process.wait()
        with Server(port=first.port, bind=bind) as second:
            check_equal(second.port, first.port, "port")
            r = run_client("-p", second.port, "-c", 10, "-r", 100, "-t", 1, "127.0.0.1")
            check_equal(r.json["connections"]["proven"], 10, f"proven on {bind}")
        client.process.send_signal(signal.SIGINT)
        client.wait()


def test_backlog_is_as_requested_up_to_somaxconn():
    need_program("ss")
    somaxconn = int(read_text("/proc/sys/net/core/somaxconn"))
    for asked in (256, 512, 1 << 20):
        with Server("--backlog", asked, "--threads", "2") as server:
            out = subprocess.run(["ss", "-Hltn", f"sport = :{server.port}"], capture_output=True,
                                 text=True, check=True).stdout
        check_equal([int(line.split()[2]) for line in out.splitlines()], [min(asked, somaxconn)] * 2,
                    "Send-Q of both listeners")


def test_planned_tuples_are_used_in_order():
    with Server() as server:
        client = Client("-p", server.port, "-c", 25, "--threads", "2", "--source", "127.0.0.{2,5}", "--sport",
                        "21000-21009,!21003,22000-22010", "--stats-interval", "100ms", "127.0.0.1")
        wait_until_running(client)
        tuples = sorted(local_tuples(server.port))
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    ports = [p for p in range(21000, 21010) if p != 21003] + list(range(22000, 22011))
    check_equal(r.json["connections"]["proven"], 25, "proven")
    check_equal(tuples, [("127.0.0.2", p) for p in ports] + [("127.0.0.5", p) for p in ports[:5]],
                "tuples")


@covered_by_others
def test_tuples_in_time_wait_are_free_at_once():
    with Server() as server:
        for _ in range(3):  # fin at the end: the client's side stays in TIME_WAIT
            r = run_client("-p", server.port, "-c", 20, "-r", 100, "-t", 1, "--source", "127.0.0.2",
                           "--sport", "23000-23019", "127.0.0.1")
            check_complete(r)
            check_equal(r.json["connections"]["proven"], 20, "proven")


def test_ports_in_use_are_replaced_by_spare_ones():
    taken = []
    for port in range(24000, 24005):  # bound and not listening: found out by bind(2) only
        s = socket.socket()
        s.bind(("127.0.0.2", port))
        taken.append(s)
    listener = socket.socket()
    listener.bind(("127.0.0.2", 24005))
    listener.listen()
    with Server() as server:
        r = run_client("-p", server.port, "-c", 14, "-r", 100, "-t", 1, "--source", "127.0.0.2",
                       "--sport", "24000-24019", "--threads", "2", "127.0.0.1")
        short = run_client("-p", server.port, "-c", 16, "-r", 100, "-t", 1, "--source", "127.0.0.2",
                           "--sport", "24000-24019", "--threads", "2", "127.0.0.1")
    check_complete(r)
    check_equal(r.json["connections"]["proven"], 14, "all 14 of the 14 that are free")
    check_conservation(short)
    check_equal(short.json["connections"]["outcomes"].get("bind/source ports exhausted"), 2,
                "the two without a tuple")
    check("add source tuples" in short.err, "the remedy")
    for s in (*taken, listener):
        s.close()


def test_source_address_that_is_not_local_is_named():
    with Server() as server:
        run = ["-p", str(server.port), "-c", "3", "-r", "10", "-t", "1", "--source", "192.0.2.77", "127.0.0.1"]
        refused = run_command([TCPCLIENT, *run])
        r = run_client("--force", *run)
    check_equal((refused.returncode, len(refused.stderr.splitlines())), (2, 1), refused.stderr)
    check("192.0.2.77 is not an address of this host" in refused.stderr, refused.stderr)
    check_conservation(r)
    check_equal(r.json["connections"]["outcomes"], {"bind/unreachable": 3}, "outcomes")
    check("source address is local" in r.err, "the remedy")


@covered_by_others
def test_automatic_ports_in_time_wait_can_be_planned():
    with Server() as server:
        before = read_text("/proc/sys/net/ipv4/ip_local_port_range")
        client = Client("-p", server.port, "-c", 50, "--stats-interval", "100ms", "127.0.0.1")
        wait_until_running(client)
        ports = sorted(port for _, port in local_tuples(server.port))
        client.process.send_signal(signal.SIGINT)
        client.wait()
        r = run_client("-p", server.port, "-c", 50, "-r", 100, "-t", 1, "--source", "127.0.0.1",
                       "--sport", ",".join(map(str, ports)), "127.0.0.1")
    check_equal(len(ports), 50, f"ports of the kernel's choice, of {before}")
    check_equal(r.json["connections"]["proven"], 50, "proven on the same ports")


@covered_by_others
def test_rst_leaves_no_time_wait():
    def in_time_wait(port):
        """The client ends of these connections; the server of an earlier test may have had the same port."""
        return {s.local for s in tcp_sockets() if s.state == TIME_WAIT and s.remote_port == port}

    with Server() as server:
        before = in_time_wait(server.port)
        run_client("-p", server.port, "-c", 20, "-t", 1, "--close", "rst", "127.0.0.1")
        check_equal(len(in_time_wait(server.port) - before), 0, "TIME_WAIT after rst")
        run_client("-p", server.port, "-c", 20, "-t", 1, "--close", "fin", "127.0.0.1")
        with stall_may_spoil():  # while another program runs, some connections ended with a reset by the kernel
            wait_for(lambda: len(in_time_wait(server.port) - before) == 20, "20 in TIME_WAIT after fin")


if __name__ == "__main__":
    main()
