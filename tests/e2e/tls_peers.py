# SPDX-License-Identifier: MIT
"""TLS with others: handshakes that fail, tcpserver with openssl and Python's ssl, memory of a peer that does not read."""

import contextlib
import socket
import ssl

from helpers.authority import *
from helpers.control_api import control_path, curl, stats
from helpers.dns_server import query_bytes


def drip(_, stream):
    """A handshake record that grows by a byte ten times a second, forever."""
    stream.sendall(b"\x16\x03\x03\x40\x00")
    while True:
        time.sleep(0.1)
        stream.sendall(b"\x02")


@covered_by_others
def test_handshake_that_never_ends_times_out_on_time():
    for serve in (never_answer, drip):
        with PythonServer(serve) as server:
            r = run_client("--tls", "--tls-insecure", "-c", 20, "--connect-timeout", "700ms", *FEW,
                           f"127.0.0.1:{server.port}")
        check_all_refused(r, "tls/timed out")
        with stall_may_spoil():
            check_between(r.seconds, 0.7, 5, f"seconds against {serve.__name__}")


def test_peers_that_do_not_speak_tls_are_counted_separately():
    def speak_plainly(_, stream):
        stream.recv(4096)
        stream.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        never_answer(_, stream)

    def hang_up(_, stream):
        stream.recv(4096)

    for serve, outcome in ((speak_plainly, "tls/malformed reply"), (hang_up, "tls/closed by peer")):
        with PythonServer(serve) as server:
            r = run_client("--tls", "--tls-insecure", "-c", 5, *FEW, f"127.0.0.1:{server.port}")
        check_all_refused(r, outcome)
    with Server("--protocol", "ping") as server:
        r = run_client("--tls", "--tls-insecure", "-c", 5, "--connect-timeout", "500ms", *FEW,
                       f"127.0.0.1:{server.port}")
    check_all_refused(r, "tls/timed out")


@covered_by_others
def test_refused_connections_are_not_tls_failures():
    r = run_client("--tls", "-c", 5, *FEW, f"127.0.0.1:{free_port()}")
    check_all_refused(r, "connect/refused")


def test_server_killed_under_load_leaves_everything_accounted_for():
    ca = Authority()
    with serve_with(ca.sign()) as server:
        client = Client("--tls", "--tls-ca", ca.cert, "-c", 100, "-r", 2000, "-t", 3, "--timeout", "1s",
                        "--stats-interval", "100ms", f"127.0.0.1:{server.port}")
        wait_for(lambda: len(progress(client)) > 3, "some answers")
        server.stop(signal.SIGKILL)
        r = client.wait()
    check_conservation(r)
    ends = r.json["connections"]["outcomes"]
    with stall_may_spoil():  # the run may be over before the server is killed
        check_equal(sum(n for name, n in ends.items() if name.startswith(("send/", "receive/"))), 100, f"{ends}")
        check(r.json["queries"]["answered"] > 100, "answers before")
    check_code(r, 3)
    check_equal(r.json["connections"]["live_at_end"], 0, "live")


def test_interrupted_handshakes_are_cancelled():
    def note_and_never_answer(server, stream):
        server.seen.append(stream.recv(1))
        never_answer(server, stream)

    with PythonServer(note_and_never_answer) as server:
        client = Client("--tls", "--tls-insecure", "-c", 20, *FEW, f"127.0.0.1:{server.port}")
        wait_for(lambda: len(server.seen) == 20, "20 handshakes under way")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    check_code(r, 130)
    check_equal(r.json["connections"]["outcomes"], {"run/cancelled": 20}, "outcomes")


# --- tcpserver with others ---

def receive(s, n_bytes):
    data = bytearray()
    while len(data) < n_bytes:
        part = s.recv(n_bytes - len(data))
        check(part != b"", f"closed after {len(data)} of {n_bytes} bytes")
        data += part
    return bytes(data)


def test_echo_returns_every_byte_in_order():
    ca, data = Authority(), os.urandom(3 * MIB)
    with serve_with(ca.sign()) as server, python_client(ca, server.port) as s:
        for begin in range(0, len(data), 200000):
            piece = data[begin:begin + 200000]
            s.sendall(piece)
            check(receive(s, len(piece)) == piece, f"bytes behind {begin} came back the same")
        s.unwrap().close()
        server.stop()
    check_equal(server.result["closed"], {"receive/closed by peer": 1}, "closed")


class TlsPeer:
    """A peer that sends and reads only when asked to, and can close its side alone."""

    def __init__(self, s, context, **side):
        self.socket, self.received, self.to_send = s, ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.received, self.to_send, **side)

    @staticmethod
    def step(function, *arguments):
        """Returns what the function returns; None: it needs more input."""
        try:
            return function(*arguments)
        except ssl.SSLWantReadError:
            return None

    def send(self):
        self.socket.sendall(self.to_send.read())

    def fill(self):
        data = self.socket.recv(65536)
        self.received.write(data) if data else self.received.write_eof()

    def until_done(self, function, *arguments):
        while (result := self.step(function, *arguments)) is None:
            self.send()
            self.fill()
        self.send()
        return result

    def read_to_end(self):
        """Reads everything, up to the close_notify that must end it."""
        data = bytearray()
        try:
            while piece := self.until_done(self.tls.read, 65536):  # empty: close_notify, and none was sent
                data += piece
        except ssl.SSLZeroReturnError:  # one was sent
            pass
        return bytes(data)


def test_half_close_while_the_echo_is_held_is_answered_after_it():
    ca, data, control = Authority(), os.urandom(50000), control_path()
    with serve_with(ca.sign(), "--threads", 1, "--sndbuf", 4096, "--control", control) as server:
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(HANGS_S)
            s.connect(("127.0.0.1", server.port))
            peer = TlsPeer(s, ssl.create_default_context(cafile=ca.cert), server_hostname="localhost")
            peer.until_done(lambda: peer.tls.do_handshake() or True)
            check_equal(peer.step(peer.tls.write, data), len(data), "bytes written")
            check_equal(peer.step(peer.tls.unwrap), None, "close_notify written, the server's awaited")
            peer.send()  # both at once: the server finds them in one read
            wait_for(lambda: stats(control)["back_pressure_pauses"] > 0, "the echo is held")
            check(peer.read_to_end() == data, "every byte came back, and then the end")
        server.stop()
    check_equal(server.result["closed"], {"receive/closed by peer": 1}, "closed")


def test_connections_that_the_server_ends_are_told():
    """By close_notify: without it, OpenSSL reports an unexpected end of file."""
    ca, control = Authority(), control_path()
    with serve_with(ca.sign(), "--idle-timeout", "1s", "--control", control) as server:
        def connected():
            s = server.connect()
            peer = TlsPeer(s, ssl.create_default_context(cafile=ca.cert), server_hostname="localhost")
            peer.until_done(lambda: peer.tls.do_handshake() or True)
            peer.step(peer.tls.write, b"x")
            peer.send()
            check_equal(peer.until_done(peer.tls.read, 1), b"x", "echo")
            return peer

        idle = connected()
        check_equal(idle.read_to_end(), b"", "then the idle one ends")
        stopped = connected()
        curl(control, "POST", "/connections/stop?n=1")
        check_equal(stopped.read_to_end(), b"", "then the stopped one ends")
        open_to_the_end = connected()
        server.stop()
        check_equal(open_to_the_end.read_to_end(), b"", "then the last one ends")
    check_equal(sum(server.result["closed"].values()) + server.result["active"], 3, f"ends: {server.result}")


@covered_by_others
def test_handshake_answered_during_a_stall_of_the_client_has_not_timed_out():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*Authority().sign())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(HANGS_S)
        client = Client("--tls", "--tls-insecure", "-c", 1, "--connect-timeout", "2s", "--prove", "no", "-t", "200ms",
                        f"127.0.0.1:{listener.getsockname()[1]}")
        with listener.accept()[0] as s:
            peer = TlsPeer(s, context, server_side=True)
            peer.fill()
            suspend(client.process)
            check_equal(peer.step(peer.tls.do_handshake), None, "the server's flight written, the client's awaited")
            peer.send()
            time.sleep(2.1)  # longer than the connect timeout
            client.process.send_signal(signal.SIGCONT)
            with contextlib.suppress(OSError):
                peer.until_done(lambda: peer.tls.do_handshake() or True)
            r = client.wait()
    with stall_may_spoil():  # before the client was suspended
        check_equal(r.json["connections"]["outcomes"], {"run/finished": 1}, "outcomes")


@covered_by_others
def test_one_file_may_hold_certificate_and_key():
    ca, both = Authority(), temp_path("both.pem")
    with open(both, "w") as f:
        for path in ca.sign():
            f.write(read_text(path))
    with Server("--tls-cert", both) as server:
        check_complete(ask(ca, server.port, *FEW))


def test_openssl_client_is_served_and_resumes():
    need_program("openssl")
    ca, session = Authority(), temp_path("session")
    with serve_with(ca.sign(), "--protocol", "ping") as server:
        outputs = []
        for option in ("-sess_out", "-sess_in"):
            client = spawn(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-CAfile", ca.cert,
                            "-verify_return_error", "-servername", "localhost", option, session],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            client.stdin.write(b"Ping\n")
            client.stdin.flush()
            output = b""
            while b"Pong" not in output and (part := os.read(client.stdout.fileno(), 65536)):
                output += part
            stop(client)
            outputs.append(output)
        server.stop()
    check(b"\nNew, TLSv1.3" in outputs[0] and b"Pong" in outputs[0], f"first: {outputs[0]}")
    check(b"\nReused, TLSv1.3" in outputs[1] and b"Pong" in outputs[1], f"second: {outputs[1]}")
    check_equal((server.result["tls_handshakes"], server.result["tls_resumed"]), (2, 1), "handshakes")


def abandoned_handshake():
    """A ClientHello, followed at once by close_notify."""
    peer = TlsPeer(None, ssl.create_default_context(), server_hostname="localhost")
    check_equal(peer.step(peer.tls.do_handshake), None, "ClientHello written, the server's flight awaited")
    return peer.to_send.read() + b"\x15\x03\x03\x00\x02\x01\x00"


@covered_by_others
def test_clients_without_tls_are_rejected_and_counted():
    ca = Authority()
    with serve_with(ca.sign()) as server:
        with python_client(ca, server.port) as good:
            for first in b"GET / HTTP/1.0\r\n\r\n", query_bytes(7), b"", abandoned_handshake():
                with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_S) as s:
                    s.sendall(first)
                    if not first:
                        s.shutdown(socket.SHUT_WR)
                    while s.recv(4096):  # to the end, which is the server's
                        pass
            good.sendall(b"still here")
            check_equal(good.recv(100), b"still here", "of the others")
        server.stop()
    closed = server.result["closed"]
    check_equal((closed.get("tls/malformed reply"), closed.get("tls/closed by peer")), (2, 2), f"{closed}")


@plain_build_only
def test_peer_that_never_reads_costs_little_and_nobody_else():
    ca = Authority()
    with serve_with(ca.sign(), "--threads", 1) as server:
        with python_client(ca, server.port) as good, python_client(ca, server.port) as deaf:
            good.sendall(b"x")
            check_equal(good.recv(10), b"x", "echo")
            before = rss_bytes(server.pid)
            deaf.settimeout(2)
            block, sent = os.urandom(65536), 0
            try:
                while sent < 60 * MIB:
                    sent += deaf.send(block[sent % 65536:])
            except TimeoutError:
                pass
            grown = rss_bytes(server.pid) - before
            deaf.settimeout(HANGS_S)
            good.sendall(b"y")
            check_equal(good.recv(10), b"y", "echo meanwhile")
            for begin in range(0, sent - 65535, 65536):
                check(receive(deaf, 65536) == block, f"bytes behind {begin} came back the same")
        server.stop()
    check(sent < 60 * MIB, "it was made to wait")
    with stall_may_spoil():  # so may a server that is stalled for 2 s
        check(server.result["back_pressure_pauses"] > 0, "and counted")
    check(grown < MIB, f"the server grew by {grown} bytes for {sent} sent")


@plain_build_only
def test_bench_handshakes_counts_full_and_resumed_ones():
    """A short run: each client's share of resumed handshakes is what was requested, and every row has its figures."""
    need_program("openssl", "taskset")
    if not {0, 1} <= os.sched_getaffinity(0):
        skip("needs two CPUs")
    r = run_command([os.path.join(SOURCE_DIR, "bench/handshakes"), "--rounds", "1", "--seconds", "1", "--connections", "80",
                     "--keys", "ed25519", "--servers", "tcpserver"], env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    check_equal(r.returncode, 0, r.stdout + r.stderr)
    rows = [re.match(r"(\w+) +(\w+) +(full|resumed) +(\S.*?)  +([\d,]+) +([\d.]+) +([\d.]+) %", line) for line in r.stdout.splitlines()]
    rows = [row.groups() for row in rows if row]
    check_equal([(row[2], row[3]) for row in rows],
                [(kind, client) for kind in ("full", "resumed") for client in ("openssl s_time", "tcpclient, 1", "tcpclient, 16")],
                r.stdout + r.stderr)
    for _, _, kind, client, rate, _, share in rows:
        with stall_may_spoil():  # s_time counts what it gets done in a second of the clock
            check(float(rate.replace(",", "")) > 0, f"{client}: {rate}")
        low, high = (60, 100) if kind == "resumed" else (0, 0)  # of 80 connections, the first 16 have no ticket
        check_between(float(share), low, high, f"% resumed, {client}, {kind}")


if __name__ == "__main__":
    main()
