# SPDX-License-Identifier: MIT
"""A server that accepts connections and never answers: the most likely cause is named first, and the client gives up after
the first window of connections. It waits for a server that answers late."""

import socketserver
import threading

from helpers.faults import *
from helpers.namespace import Namespace

MANY = ("-c", 2000, "--connect-window", 50, "-r", 100, "-t", 1, "--threads", 2)


@contextlib.contextmanager
def tcp_server(talk):
    """Calls talk(socket) for each connection, in a thread, then closes it."""
    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                talk(self.request)

    class Threads(socketserver.ThreadingTCPServer):
        request_queue_size = 1024
        daemon_threads = True

    with Threads(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def check_gave_up(r, remedy, evidence):
    check_conservation(r)
    check_code(r, 3)
    c = r.json["connections"]
    check_equal(c["proven"], 0, "proven")
    check_equal(c["attempted"], 50, "connections attempted: the first window alone")
    first = r.json["diagnosis"][0]
    check_equal(first["limit"], "nobody answers", "what is named first")
    check(remedy in first["remedy"], first["remedy"])
    check(evidence in first["evidence"], first["evidence"])
    check_equal(len(r.json["diagnosis"]), 1, f"lines: {r.json['diagnosis']}")
    for wrong in ("raise the server's backlog", "fd limit"):
        check(all(wrong not in line["limit"] + line["remedy"] for line in r.json["diagnosis"]), f"'{wrong}'")
    check("gave up: none of the first connections (--connect-window) got an answer" in r.err, r.err)


def test_dns_to_a_server_of_another_protocol_is_given_up():
    with Server("--protocol", "ping") as server:
        r = run_client("-p", server.port, *MANY, "--timeout", "500ms", "127.0.0.1")
    check_gave_up(r, "the server speaks another --protocol", "(dns)")
    check(r.json["connections"]["half_open"] >= 50, f"{r.json['connections']}")
    check("never answered: if other connections were, raise" in r.err, f"the remedy of their outcome: {r.err}")


def test_plain_queries_to_a_tls_port_are_given_up():
    def alert(s):
        s.recv(4096)
        s.sendall(b"\x15\x03\x03\x00\x02\x02\x0a")  # fatal, unexpected message (RFC 8446, 6)

    with tcp_server(alert) as port:
        r = run_client("-p", port, *MANY, "127.0.0.1")
    check_gave_up(r, "the port expects TLS (--tls)", " closed,")


def test_proxy_with_a_dead_backend_is_given_up():
    with tcp_server(lambda s: s.recv(4096)) as port:
        r = run_client("-p", port, *MANY, "127.0.0.1")
    check_gave_up(r, "a proxy whose backend is down", " closed,")


def test_tls_to_a_plain_port_is_given_up():
    with Server("--protocol", "ping") as server:
        r = run_client("-p", server.port, "--tls", "--tls-insecure", *MANY, "--connect-timeout", "500ms", "127.0.0.1")
    check_gave_up(r, "check that the port uses TLS", "(dns over TLS)")


def test_silence_is_named_where_queries_open_or_replace_connections():
    """No connection fails: each one ends when its queries have timed out, or with the run."""
    for options in (("--on-demand",), ("--on-demand", "--idle-close", "100ms"), ("--queries-per-conn", 2), ("--prove", "no")):
        server = FaultServer("--silent")
        r = run_client("-p", server.port, "-c", 5, "-r", 100, "-t", 1, "--timeout", "200ms", *options, "127.0.0.1")
        server.stop()
        check_conservation(r)
        c, lines = r.json["connections"], r.json["diagnosis"]
        check_equal([line["limit"] for line in lines], ["nobody answers"], f"{options}: limits")
        check_equal((lines[0]["connections"], c["proven"]), (c["with_timeouts"], 0), f"{options}: silent, proven")


def test_queries_larger_than_the_path_mtu_are_lost_on_the_way():
    with Namespace() as ns:
        with Server(prefix=ns.prefix) as server:
            ns.drop(f"tcp dport {server.port} meta length > 1500")
            for size, evidence, remedy in ((3000, "2 silent (2 unacknowledged)", "path MTU (ping"), (1000, None, None)):
                r = run_client("-p", server.port, "-c", 2, "-r", 10, "-t", 1, "--protocol", "echo", "--size", size, "--timeout", "1s",
                               "127.0.0.1", prefix=ns.prefix)
                check_conservation(r)
                lines = r.json["diagnosis"]
                if evidence is None:
                    check_equal(lines, [], "the diagnosis of queries that fit")
                else:
                    check_equal([line["limit"] for line in lines], ["nobody answers"], "diagnosis")
                    check(evidence in lines[0]["evidence"] and remedy in lines[0]["remedy"], lines[0])


def test_firewall_of_the_server_is_given_up():
    """It rejects SYNs with an ICMP message, as that of Fedora does: EHOSTUNREACH over IPv4, EACCES over IPv6."""
    with Namespace() as ns:
        try:
            ns.run("nft", "add table inet wall; add chain inet wall in { type filter hook input priority 0; }; "
                   "add rule inet wall in tcp dport 4242 reject with icmpx type admin-prohibited")
        except subprocess.CalledProcessError as error:
            skip(f"no nftables here: {error.stderr.strip()}")
        for target, outcome in (("127.0.0.1", "connect/unreachable"), ("::1", "connect/unreachable")):
            r = run_client(*MANY, target, prefix=ns.prefix)
            check_conservation(r)
            check_code(r, 3)
            check_equal(r.json["connections"]["outcomes"], {outcome: 50, "run/cancelled": 1950}, f"{target}: the first window alone")
            check("gave up: none of the first connections (--connect-window) got an answer" in r.err, r.err)


def test_connections_that_this_host_cannot_open_are_all_attempted():
    """The control: without a route each connect(2) fails."""
    with Namespace() as ns:
        r = run_client(*MANY, "192.0.2.1", prefix=ns.prefix)
    check_conservation(r)
    check_equal(r.json["connections"]["outcomes"], {"connect/no route": 2000}, "outcomes")


class InTurn:
    """Numbers the connections that a server accepts, from 0 on."""

    def __init__(self):
        self.lock, self.n = threading.Lock(), itertools.count()

    def __call__(self):
        with self.lock:
            return next(self.n)


def test_connections_that_end_are_not_replaced_before_one_is_answered():
    """The first one is neither answered nor closed, and all others end while the client waits for it."""
    number = InTurn()

    def keep_the_first(s):
        s.recv(4096)
        if number() == 0:
            s.recv(4096)  # until the client closes it

    with tcp_server(keep_the_first) as port:
        r = run_client("-p", port, *MANY, "--timeout", "1s", "127.0.0.1")
    with stall_may_spoil():
        check_gave_up(r, "a proxy whose backend is down", "1 silent, 49 closed")
        check_equal(r.json["connections"]["half_open"], 1, "waited for")


def test_one_answer_lets_every_thread_continue():
    """The control: of the first window of two threads all but one connection end, and that one is answered late."""
    number = InTurn()

    def answer_one_of_the_first_window(s):
        query = s.recv(4096)
        mine = number()
        if mine == 0:
            time.sleep(0.3)
        while query and (mine == 0 or mine >= 20):
            s.sendall(query)
            query = s.recv(4096)

    with tcp_server(answer_one_of_the_first_window) as port:
        r = run_client("-p", port, "-c", 60, "--connect-window", 20, "--threads", 2, "-r", 50, "-t", 1, "127.0.0.1")
    check_conservation(r)
    c = r.json["connections"]
    check_equal((c["attempted"], c["proven"]), (60, 41), "attempted, proven")


def test_server_that_answers_late_but_in_time_is_waited_for():
    """The control: every proof takes longer than a window takes to be opened."""
    server = FaultServer("--late-proof-every", 1, "--delay-ms", 700)
    r = run_client("-p", server.port, "-c", 60, "--connect-window", 20, "--timeout", "20s", "-r", 50, "-t", 1,
                   "127.0.0.1")
    server.stop()
    check_conservation(r)
    check_equal(r.json["connections"]["proven"], 60, "proven, window after window")
    check_equal(r.json["diagnosis"], [], "diagnosis")


def test_run_whose_first_answer_comes_after_the_timeout_ends():
    """Half-open after 4 ms, answered after 8; the client checks every 20 ms whether a connection was answered. It goes on, or gives up
    if it has looked before the answer; connections that the answer lets it open until then are attempted as well."""
    server = FaultServer("--late-proof-every", 1, "--delay-ms", 8)
    r = run_client("-p", server.port, "-c", 5, "--connect-window", 1, "--threads", 1, "--timeout", "4ms", "-r", 10, "-t", 0.2,
                   "127.0.0.1")
    server.stop()
    check_conservation(r)
    check_between(r.json["connections"]["attempted"], 1 if "gave up" in r.err else 5, 5, "attempted")


def test_one_answer_in_the_first_window_is_enough_to_continue():
    """The control: of the window of 5 four stay silent, and so of the next ones."""
    number = InTurn()

    def one_in_five(s):
        answers = number() % 5 == 0
        while query := s.recv(4096):
            if answers:
                s.sendall(query)

    with tcp_server(one_in_five) as port:
        r = run_client("-p", port, "-c", 20, "--connect-window", 5, "--threads", 1, "--timeout", "500ms", "-r", 20, "-t", 1,
                       "127.0.0.1")
    check_conservation(r)
    c = r.json["connections"]
    with stall_may_spoil():
        check_equal((c["attempted"], c["connected"]), (20, 20), "all were begun")
        check(c["proven"] >= 1 and c["half_open"] >= 1, f"{c}")
        check("nobody answers" not in [line["limit"] for line in r.json["diagnosis"]], f"{r.json['diagnosis']}")


if __name__ == "__main__":
    main()
