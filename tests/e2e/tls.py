# SPDX-License-Identifier: MIT
"""TLS: both programs with each other, with openssl, Python's ssl, kdig, unbound and nsd; certificates that must be
rejected, handshakes that fail, resumption, memory of a peer that does not read."""

import socket
import ssl
import threading

from control import control_path, stats
from dns_servers import NSD, UNBOUND, DnsServer, query_bytes
from harness import *

MIB = 1 << 20
FEW = ["-r", 200, "-t", 0.3]


# --- certificates ---

def openssl(*arguments):
    need_program("openssl")
    r = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=30)
    check_equal(r.returncode, 0, f"openssl {arguments}: {r.stderr}")
    return r.stdout


class Authority:
    """A CA of our own and what it signs, as PEM files."""

    def __init__(self):
        self.directory = os.path.dirname(temp_path("x"))
        os.chmod(self.directory, 0o755)
        self.n_signed = 0
        self.cert, self.key = self._path("ca.pem"), self._path("ca.key")
        openssl("req", "-x509", "-subj", "/CN=Authority", "-days", "9", "-out", self.cert,
                *self._new_key(self.key))

    def _path(self, name):
        return os.path.join(self.directory, name)

    @staticmethod
    def _new_key(path):
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path

    def sign(self, names="DNS:localhost,IP:127.0.0.1", days=9):
        """(certificate, key) for these names; days < 0: until so long ago."""
        self.n_signed += 1
        cert, key, request, extensions = (self._path(f"{self.n_signed}.{kind}")
                                          for kind in ("pem", "key", "csr", "ext"))
        with open(extensions, "w") as f:
            f.write(f"subjectAltName={names}\n")
        openssl("req", "-new", "-subj", "/CN=server", "-out", request, *self._new_key(key))
        openssl("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key, "-days", str(days),
                "-set_serial", str(self.n_signed), "-extfile", extensions, "-out", cert)
        os.chmod(key, 0o644)
        return cert, key


def serve_with(pair, *arguments, **options):
    return Server("--tls-cert", pair[0], "--tls-key", pair[1], *arguments, **options)


def ask(authority, port, *arguments, **options):
    return run_client("--tls", "--tls-ca", authority.cert, *arguments, f"127.0.0.1:{port}", **options)


def check_all_refused(result, outcome):
    check_conservation(result)
    check_equal(result.json["connections"]["outcomes"], {outcome: result.json["connections"]["asked"]},
                f"outcomes; stderr: {result.err}")
    check_equal(result.json["tls"]["handshakes"], 0, "handshakes")
    check_code(result, 3)


# --- with each other ---

def test_everything_is_answered_and_counted_on_both_sides():
    ca = Authority()
    with serve_with(ca.sign()) as server:
        r = ask(ca, server.port, "-c", 200, "-r", 1000, "-t", 1, "-R", "--kernel-ts")
        server.stop()
    check_conservation(r)
    check_complete(r)
    j = r.json
    check_equal((j["connections"]["proven"], j["tls"]["handshakes"]), (200, 200), "connections")
    check_equal((j["tls"]["version"], j["queries"]["answered"]), ("TLSv1.3", j["queries"]["scheduled"]), "TLS")
    check_equal(j["latency_ns"]["handshake"]["count"], 200, "handshake times")
    check_equal(j["latency_ns"]["net"]["count"], j["queries"]["answered"], "stamps of the kernel")
    check_equal(sum(row["type"] == "A" for row in r.rows()), j["queries"]["answered"], "rows")
    s = server.result
    check_equal((s["tls_handshakes"], s["tls_resumed"]), (200, j["tls"]["resumed"]), "the server's counts")
    check_equal(s["bytes_received"], j["resources"]["bytes_sent"], "bytes of the sockets")
    check_equal(s["closed"], {"receive/closed by peer": 200}, "closed")


def test_plain_run_knows_nothing_of_tls():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 2, *FEW, "127.0.0.1")
        server.stop()
    check_equal((r.json["tls"], r.json["latency_ns"]["handshake"]["count"]), (None, 0), "TLS")
    check_equal(server.result["tls_handshakes"], 0, "handshakes")


def test_other_protocols_and_the_closed_loop():
    ca = Authority()
    pair = ca.sign()
    for name, arguments in [("ping", ["-i", "20ms", "--loop", "closed"]),
                            ("echo", ["--size", "64KiB", "-r", 200])]:
        with serve_with(pair, "--protocol", name) as server:
            r = ask(ca, server.port, "-c", 20, "-t", 1, "--protocol", name, *arguments)
        check_conservation(r)
        check_complete(r)
        with stall_may_spoil():
            check(r.json["queries"]["answered"] > 100, f"{name}: {r.json['queries']}")


def test_connections_out_has_the_handshakes():
    ca, rows = Authority(), temp_path("connections.csv")
    with serve_with(ca.sign()) as server:
        ask(ca, server.port, "-c", 10, "--threads", 1, "--connect-window", 1, "-t", 0.2,
            "--connections-out", rows)
    with open(rows) as f:
        rows = list(csv.DictReader(f))
    check_equal([row["resumed"] for row in rows], ["0"] + 9 * ["1"], "resumed")
    check(all(float(row["handshake_us"]) > 10 for row in rows), f"times: {rows}")


def test_connections_after_the_first_resume_unless_told_not_to():
    ca = Authority()
    with serve_with(ca.sign()) as server:
        for version in ("1.3", "1.2"):
            only = ["--tls-ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256"] if version == "1.2" else []
            for choice, n_resumed in (("yes", 19), ("no", 0)):
                r = ask(ca, server.port, "-c", 20, "--threads", 1, "--connect-window", 1, "--tls-resume",
                        choice, *only, *FEW)
                check_complete(r)
                check_equal((r.json["tls"]["version"], r.json["tls"]["resumed"]),
                            (f"TLSv{version}", n_resumed), f"resumed with {choice}")
        server.stop()
    check_equal((server.result["tls_handshakes"], server.result["tls_resumed"]), (80, 38), "the server's")


def test_a_connection_per_query_resumes():
    ca = Authority()
    for close in ("fin", "rst"):
        with serve_with(ca.sign()) as server:
            r = ask(ca, server.port, "-c", 5, "--threads", 1, "--queries-per-conn", 1, "--close", close, "-r", 200,
                    "-t", 1)
            server.stop()
        check_conservation(r)
        check_equal(r.json["queries"]["answered"], r.json["queries"]["sent"], "nothing lost")
        tls, n = r.json["tls"], r.json["queries"]["answered"]
        check(tls["handshakes"] >= n, f"a handshake per query: {tls}, {n} answered")
        with stall_may_spoil():
            check(n > 20, f"{n} answered")
        check_between(tls["resumed"], tls["handshakes"] - 10, tls["handshakes"] - 1, f"resumed with {close}")
        check_between(server.result["tls_resumed"] - tls["resumed"], 0, 5, "the server's count")


# --- certificates, versions, ciphers ---

def test_certificates_that_must_not_be_taken_are_named():
    ca, other = Authority(), Authority()
    for pair, outcome, text in [
            (ca.sign(days=-1), "tls/certificate expired", "certificate has expired"),
            (ca.sign("DNS:elsewhere.example"), "tls/certificate of another name", "IP address mismatch"),
            (other.sign(), "tls/certificate not trusted", "unable to get local issuer")]:
        with serve_with(pair) as server:
            r = ask(ca, server.port, "-c", 5, *FEW)
            insecure = run_client("--tls", "--tls-insecure", "-c", 5, *FEW, f"127.0.0.1:{server.port}")
            server.stop()
        check_all_refused(r, outcome)
        check(text in r.err, f"'{text}' in: {r.err}")
        check_complete(insecure)
        check_equal(insecure.json["connections"]["proven"], 5, f"{outcome}, insecure")
        check_equal(server.result["closed"].get("tls/tls alert"), 5, f"{server.result['closed']}")


def test_without_a_ca_file_the_systems_decide():
    with serve_with(Authority().sign()) as server:
        r = run_client("--tls", "-c", 5, *FEW, f"127.0.0.1:{server.port}")
    check_all_refused(r, "tls/certificate not trusted")


def test_name_is_what_the_certificate_must_have():
    ca = Authority()
    with serve_with(ca.sign("DNS:dot.example")) as server:
        right = ask(ca, server.port, "--tls-name", "dot.example", *FEW)
        wrong = ask(ca, server.port, "--tls-name", "dot.example.net", *FEW)
    check_complete(right)
    check_all_refused(wrong, "tls/certificate of another name")


class PythonServer:
    """Accepts one connection after the other and has `serve` do something with each."""

    def __init__(self, serve, context=None):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.seen, self.context, self.serve = [], context, serve
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(s,), daemon=True).start()

    def _one(self, s):
        try:
            with self.context.wrap_socket(s, server_side=True) if self.context else s as stream:
                self.serve(self, stream)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread: the next server may have the descriptor
        self.listener.close()


def test_name_and_protocol_are_offered():
    ca = Authority()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*ca.sign("DNS:dot.example"))
    context.set_alpn_protocols(["dot"])
    names = []
    context.sni_callback = lambda stream, name, _: names.append(name)

    def serve(server, stream):
        server.seen.append((stream.selected_alpn_protocol(), stream.recv(512)))

    with PythonServer(serve, context) as server:
        ask(ca, server.port, "--tls-name", "dot.example", "-t", 0.2, "--timeout", "300ms")
        wait_for(lambda: server.seen, "the first query")
        need_program("kdig")
        subprocess.run(["kdig", "@127.0.0.1", "-p", str(server.port), "+tls-ca=" + ca.cert,
                        "+tls-hostname=dot.example", "+noedns", "+noadflag", "+retry=0", "+time=20", "example.com",
                        "A"], capture_output=True, timeout=30)
        wait_for(lambda: len(server.seen) > 1, "kdig's query")
    check_equal(names[0], "dot.example", "SNI")
    check_equal(server.seen[0], ("dot", query_bytes(0)), "ALPN and the query")
    kdig = server.seen[1][1]
    check_equal(kdig[:2] + kdig[4:], query_bytes(0)[:2] + query_bytes(0)[4:], "kdig's, but for the id")


def openssl_server(pair, *arguments):
    need_program("openssl")
    port = free_port()
    process = spawn(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", pair[0], "-key", pair[1],
                     "-quiet", *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL)

    wait_for(lambda: listens(port), "openssl s_server")
    return process, port


def test_minimum_version_is_enforced():
    ca = Authority()
    _, port = openssl_server(ca.sign(), "-tls1_2")
    allowed = ask(ca, port, "--prove", "no", "-t", 0.2)
    refused = ask(ca, port, "--tls-min", "1.3", *FEW)
    check_equal((allowed.json["tls"]["handshakes"], allowed.json["tls"]["version"]), (1, "TLSv1.2"), "1.2")
    check_equal(allowed.json["connections"]["live_at_end"], 1, "live")
    check_all_refused(refused, "tls/no common version or cipher")


def test_minimum_version_of_the_server_is_enforced():
    ca = Authority()
    with serve_with(ca.sign(), "--tls-min", "1.3") as server:
        refused = ask(ca, server.port, "-c", 5, "--tls-ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256", *FEW)
        allowed = ask(ca, server.port, "--tls-ciphers",
                      "ECDHE-ECDSA-AES128-GCM-SHA256:TLS_CHACHA20_POLY1305_SHA256", *FEW)
        server.stop()
    check_all_refused(refused, "tls/no common version or cipher")
    check_equal(server.result["closed"].get("tls/no common version or cipher"), 5,
                f"{server.result['closed']}")
    check_complete(allowed)
    check_equal((allowed.json["tls"]["version"], allowed.json["tls"]["cipher"]),
                ("TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256"), "what was offered")


# --- handshakes that come to nothing ---

def never_answer(_, stream):
    while stream.recv(4096):
        pass


def drip(_, stream):
    """A handshake record that grows by a byte ten times a second, forever."""
    stream.sendall(b"\x16\x03\x03\x40\x00")
    while True:
        time.sleep(0.1)
        stream.sendall(b"\x02")


def test_handshake_that_never_ends_times_out_on_time():
    for serve in (never_answer, drip):
        with PythonServer(serve) as server:
            r = run_client("--tls", "--tls-insecure", "-c", 20, "--connect-timeout", "700ms", *FEW,
                           f"127.0.0.1:{server.port}")
        check_all_refused(r, "tls/timed out")
        with stall_may_spoil():
            check_between(r.seconds, 0.7, 5, f"seconds against {serve.__name__}")


def test_peers_that_do_not_speak_tls_are_told_apart():
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


def test_nobody_listens_is_no_matter_of_tls():
    r = run_client("--tls", "-c", 5, *FEW, f"127.0.0.1:{free_port()}")
    check_all_refused(r, "connect/refused")


def test_server_killed_under_load_leaves_everything_accounted_for():
    ca = Authority()
    with serve_with(ca.sign()) as server:
        client = Client("--tls", "--tls-ca", ca.cert, "-c", 100, "-r", 2000, "-t", 3, "--timeout", "1s",
                        "--stats-interval", "100ms", f"127.0.0.1:{server.port}")
        wait_for(lambda: "running" in client.stderr(), "the load")
        time.sleep(0.5)
        server.stop(signal.SIGKILL)
        r = client.wait()
    check_conservation(r)
    check_code(r, 3)
    check_equal(r.json["connections"]["live_at_end"], 0, "live")
    ends = r.json["connections"]["outcomes"]
    with stall_may_spoil():
        check_equal(sum(n for name, n in ends.items() if name.startswith(("send/", "receive/"))), 100, f"{ends}")
    check(r.json["queries"]["answered"] > 100, "answers before")


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


def python_client(ca, port):
    context = ssl.create_default_context(cafile=ca.cert)
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=20),
                               server_hostname="localhost")


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
    """A client that sends and reads only when it is told to, and can end its side alone."""

    def __init__(self, ca, s):
        self.socket, self.received, self.to_send = s, ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = ssl.create_default_context(cafile=ca.cert).wrap_bio(self.received, self.to_send,
                                                                       server_hostname="localhost")

    @staticmethod
    def step(function, *arguments):
        """What it returns; None: it wants more to be read."""
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
        """All of it, up to the close_notify that must end it."""
        data = bytearray()
        try:
            while True:
                data += self.until_done(self.tls.read, 65536)
        except ssl.SSLZeroReturnError:
            return bytes(data)


def test_half_close_while_the_echo_is_held_is_answered_after_it():
    ca, data, control = Authority(), os.urandom(50000), control_path()
    with serve_with(ca.sign(), "--threads", 1, "--sndbuf", 4096, "--control", control) as server:
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(20)
            s.connect(("127.0.0.1", server.port))
            peer = TlsPeer(ca, s)
            peer.until_done(lambda: peer.tls.do_handshake() or True)
            check_equal(peer.step(peer.tls.write, data), len(data), "bytes written")
            check_equal(peer.step(peer.tls.unwrap), None, "close_notify written, the server's awaited")
            peer.send()  # both at once: the server finds them in one read
            wait_for(lambda: stats(control)["back_pressure_pauses"] > 0, "the echo is held")
            check(peer.read_to_end() == data, "every byte came back, and then the end")
        server.stop()
    check_equal(server.result["closed"], {"receive/closed by peer": 1}, "closed")


def test_one_file_may_hold_certificate_and_key():
    ca, both = Authority(), temp_path("both.pem")
    with open(both, "w") as f:
        for path in ca.sign():
            with open(path) as part:
                f.write(part.read())
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


def test_clients_without_tls_are_turned_away_and_counted():
    ca = Authority()
    with serve_with(ca.sign()) as server:
        with python_client(ca, server.port) as good:
            for first in b"GET / HTTP/1.0\r\n\r\n", query_bytes(7), b"":
                with socket.create_connection(("127.0.0.1", server.port), timeout=10) as s:
                    s.sendall(first)
                    if not first:
                        s.shutdown(socket.SHUT_WR)
                    while s.recv(4096):  # to the end, which is the server's
                        pass
            good.sendall(b"still here")
            check_equal(good.recv(100), b"still here", "of the others")
        server.stop()
    closed = server.result["closed"]
    check_equal((closed.get("tls/malformed reply"), closed.get("tls/closed by peer")), (2, 1), f"{closed}")


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
            good.sendall(b"y")
            check_equal(good.recv(10), b"y", "echo beside it")
            for begin in range(0, sent - 65535, 65536):
                check(receive(deaf, 65536) == block, f"bytes behind {begin} came back the same")
        server.stop()
    check(sent < 60 * MIB, "it was made to wait")
    check(server.result["back_pressure_pauses"] > 0, "and counted")
    check(grown < MIB, f"the server grew by {grown} bytes for {sent} sent")


# --- real DNS servers ---

# Each connection has a period of its own: nsd 4.6 leaves a second query in one record unanswered until
# the next record comes.
def dns_over_tls(program, configuration, extra, *arguments):
    need_program(program, "kdig")
    ca, port = Authority(), free_port()
    cert, key = ca.sign()
    tls = (f"  {extra}: 127.0.0.1@{port}\n  tls-port: {port}\n  tls-service-key: {key}\n"
           f"  tls-service-pem: {cert}\n")
    server = DnsServer(program, configuration.replace("server:\n", "server:\n" + tls, 1), *arguments)
    try:
        kdig = subprocess.run(["kdig", "@127.0.0.1", "-p", str(port), f"+tls-ca={ca.cert}",
                               "+tls-hostname=localhost", "+short", "example.com", "A"], capture_output=True,
                              text=True, timeout=20)
        n = 100 if SANITIZED else 1000
        r = ask(ca, port, "-c", n, "-i", "500ms", "-t", 2, "--quickack")
        wrong = ask(ca, port, "--tls-name", "elsewhere.example", *FEW)
    finally:
        server.stop()
    check_equal(kdig.stdout, "192.0.2.1\n", f"kdig's answer; {kdig.stderr}")
    check_conservation(r)
    check_complete(r)
    j = r.json
    check_equal((j["connections"]["proven"], j["tls"]["handshakes"], j["tls"]["version"]), (n, n, "TLSv1.3"),
                "connections")
    with stall_may_spoil():  # of half a second: the last two queries of a connection in one record
        check_equal(j["queries"]["answered"], j["queries"]["scheduled"], "nothing lost")
    check_all_refused(wrong, "tls/certificate of another name")


def test_unbound():
    dns_over_tls("unbound", UNBOUND, "interface", "-d", "-p", "-c")


def test_nsd():
    dns_over_tls("nsd", NSD, "ip-address", "-d", "-c")


if __name__ == "__main__":
    main()
