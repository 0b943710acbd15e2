# SPDX-License-Identifier: MIT
"""Peers of tcpserver that waste, withhold, cut off or send garbage; and tcpclient with a server that answers byte by byte."""

import re
import socket
import statistics
import struct
import threading

from helpers.control_api import control_path, stats
from helpers.faults import *
from table import *
from helpers.authority import Authority

# Receive buffer of the sockets that never read: with the kernel's 3.6 MiB each, they would fill the TCP memory of the whole machine.
BUFFER_BYTES = 65536
MOST_RATIO = 2.0  # p99 with attackers, divided by p99 without
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close(2) sends RST


def tcp_count(name):
    """A counter of this network namespace's TCP, of /proc/net/snmp."""
    with open("/proc/net/snmp") as f:
        heads, values = [line.split()[1:] for line in f if line.startswith("Tcp:")]
    return int(values[heads.index(name)])


def still_serves(row, server):
    """A client that connects afterwards, or meanwhile, gets all its answers."""
    r = run_client("-c", 50, "-r", 500, "-t", 1, f"127.0.0.1:{server.port}")
    row.conserved(r)
    row.expect("answered to another client", r.json["queries"]["scheduled"], r.json["queries"]["answered"])
    row.served(server)


def tcp_memory_mib():
    pages = re.search(r"^TCP:.* mem (\d+)", read_text("/proc/net/sockstat"), re.M)
    return int(pages.group(1)) * os.sysconf("SC_PAGESIZE") // MIB


# --- slow-loris and never reading ---


class Attackers:
    def __init__(self, server, n_slow, n_deaf, *arguments):
        self.process = spawn([*BARE_PYTHON, os.path.join(FAULT, "attacker.py"), "127.0.0.1", str(server.port),
                              "--slow", str(n_slow), "--deaf", str(n_deaf), *arguments], stdout=subprocess.PIPE, text=True)
        check_equal(self.process.stdout.readline(), f"ready {n_slow + n_deaf}\n", "the attackers")

    def stop(self):
        return counts_at_end(self.process)


def good_clients(server):
    """p99 of the response in us; all is answered."""
    r = run_client("-c", 1000, "-r", 10000, "-t", 2, "--close", "rst", f"127.0.0.1:{server.port}")
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "good clients answered")
    return r.json["latency_ns"]["response"]["p99"] / 1000


def wait_until_idle(server):
    """The attackers' connections are gone, here and in the server."""
    def idle():
        server.process.send_signal(signal.SIGUSR1)
        time.sleep(0.2)
        try:
            return read_json(server.json_path)["active"] == 0
        except (OSError, ValueError):  # the server has not written it yet, or is writing it in place
            return False

    wait_for(idle, "the end of all connections")


class Comparison:
    """p99 of the good clients in us, in runs alternately without and with the attackers."""

    def __init__(self):
        self.quiet, self.abused = [], []

    def ratio(self):
        return statistics.median(self.abused) / statistics.median(self.quiet)

    def enough(self):
        """A stall of the machine spoils one run; a fault of the server would spoil every run."""
        n = len(self.abused)
        return n == 5 or n >= 3 and self.ratio() <= MOST_RATIO

    def expect_in(self, row):
        row.note("p99 in us without them", sorted(map(round, self.quiet)))
        row.note("p99 in us with them", sorted(map(round, self.abused)))
        if self.ratio() > MOST_RATIO and max(self.quiet) > 4 * min(self.quiet):
            skip("the machine is not quiet: nothing to compare with")
        row.expect("median p99 with / without them", at_most(MOST_RATIO), round(self.ratio(), 2))


@scenario()
@plain_build_only
def slow_and_deaf_clients_beside_good_ones(row):
    """10,000 clients that send a byte per 10 s and 1,000 that never read, next to 1,000 that send 10,000 q/s."""
    with Server("--sndbuf", BUFFER_BYTES, "--rcvbuf", BUFFER_BYTES) as server:
        figures = Comparison()
        while not figures.enough():
            figures.quiet.append(good_clients(server))
            attackers = Attackers(server, 10000, 1000)
            tcp_mib = tcp_memory_mib()
            figures.abused.append(good_clients(server))
            did = attackers.stop()
            wait_until_idle(server)
        row.injected("abusers connected", did["connected"])
        row.injected("bytes by drips", did["slow_bytes"])
        row.injected("deaf ones at their limit", did["deaf_stuck"])
        row.expect("abusers ended by the server", 0, did["ended"])
        row.served(server)
        row.expect("resident MiB at the peak", at_most(100), round(server.result["peak_rss_bytes"] / MIB, 1))
        row.expect("pauses for those who do not read", Between(1000), server.result["back_pressure_pauses"])
        row.note("MiB they pushed", did["deaf_bytes"] // MIB)
        row.note("MiB of TCP memory in the whole machine", tcp_mib)
        figures.expect_in(row)


def n_idle(result):
    """Connections of a server's result that were idle for too long."""
    return sum(n for name, n in result["closed"].items() if "timed out" in name)


@scenario(short=True)
def slow_and_deaf_clients_of_a_guarded_server(row):
    """At most 200 connections per address, and 5 s of idle time: clients that exceed a limit are closed, the others stay."""
    control = control_path()
    with Server("--max-connections-per-source", 200, "--idle-timeout", "5s", "--sndbuf", BUFFER_BYTES, "--rcvbuf",
                BUFFER_BYTES, "--control", control) as server:
        attackers = Attackers(server, 150, 400, "--source", "127.0.0.2", "--every", "600")
        # each connection asks ten times a second: a stall of the machine does not make it idle
        r = run_client("-c", 150, "-r", 1500, "--arrival", "constant", "--select", "round-robin", "-t", 4, "--source",
                       "127.0.0.3", f"127.0.0.1:{server.port}")
        wait_for(lambda: n_idle(stats(control)) >= 200, "the idle to be ended")
        row.injected("abusers of one address", attackers.stop()["connected"])
        row.conserved(r)
        row.expect("answered to those of another one", r.json["queries"]["scheduled"], r.json["queries"]["answered"])
        row.expect("of these live at the end", 150, r.json["connections"]["live_at_end"])
        row.served(server)
        row.expect("refused", 350, server.result["refused"])
        row.expect("ended as idle", 200, n_idle(server.result))


# --- bytes ---


def receive(s, n):
    data = bytearray(n)
    view, got = memoryview(data), 0
    while got < n:
        part = s.recv_into(view[got:])
        if part == 0:
            break
        got += part
    return bytes(view[:got])


@scenario(short=True)
@of_one_thread
def garbage(row):
    """100 KiB of noise on each of 100 connections: echoed unchanged, ignored as pings, refused by TLS."""
    noise = os.urandom(100 << 10)
    with Server() as server:
        sockets = [server.connect() for _ in range(100)]
        for s in sockets:
            threading.Thread(target=s.sendall, args=(noise,), daemon=True).start()
        same = sum(receive(s, len(noise)) == noise for s in sockets)
        row.injected("connections with 100 KiB of noise", len(sockets))
        row.expect("echoed whole", 100, same)
        for s in sockets:
            s.close()
        still_serves(row, server)
    with Server("--protocol", "ping") as server:
        pongs = 0
        for _ in range(100):
            with server.connect() as s:
                s.sendall(noise.replace(b"Ping", b"pong") + b"Ping")
                pongs += receive(s, 4) == b"Pong"
        row.expect("pings found behind it", 100, pongs)
        r = run_client("-c", 50, "-r", 500, "-t", 1, "--protocol", "ping", f"127.0.0.1:{server.port}")
        row.expect("pings answered after it", r.json["queries"]["scheduled"], r.json["queries"]["answered"])
        row.served(server)


@scenario(short=True)
@of_one_thread
def garbage_for_tls(row):
    ca = Authority()
    cert, key = ca.sign()
    with Server("--tls-cert", cert, "--tls-key", key) as server:
        for _ in range(100):
            with server.connect() as s:
                s.sendall(os.urandom(20000))
                try:
                    receive(s, 1 << 20)
                except ConnectionError:
                    pass
        row.injected("connections with noise for a handshake", 100)
        r = run_client("-c", 20, "-r", 200, "-t", 1, "--tls", "--tls-ca", ca.cert, f"127.0.0.1:{server.port}")
        row.conserved(r)
        row.expect("answered to another client", r.json["queries"]["scheduled"], r.json["queries"]["answered"])
        row.served(server)
        row.expect("ended in phase tls", 100, sum(n for name, n in server.result["closed"].items()
                                                  if name.startswith("tls/")))


@scenario()
def stream_of_1_gib(row):
    """Through one connection and back, compared MiB by MiB."""
    n_mib = 64 if SANITIZED else 1024
    block = os.urandom(MIB)
    with Server() as server:
        with server.connect() as s:
            sender = threading.Thread(target=lambda: [s.sendall(block) for _ in range(n_mib)])
            sender.start()
            same = sum(receive(s, MIB) == block for _ in range(n_mib))
            sender.join()
        row.injected("MiB sent", n_mib)
        row.expect("MiB came back the same", n_mib, same)
        before = rss_bytes(server.pid)
        row.expect("resident in MiB", at_most(10000 if SANITIZED else 32), round(before / MIB, 1))
        r = run_client("-c", 50, "-r", 500, "-t", 1, f"127.0.0.1:{server.port}")
        row.expect("answered to another client", r.json["queries"]["scheduled"], r.json["queries"]["answered"])
        row.served(server)
        row.expect("MiB received, sent", Between(n_mib, n_mib + 1), server.result["bytes_received"] / MIB)
        row.expect("sent of those received", server.result["bytes_received"], server.result["bytes_sent"])


@scenario(short=True)
@of_one_thread
def segments_of_one_byte(row):
    """To the server, and by a server to the client."""
    with Server() as server:
        before = tcp_count("OutSegs")
        sockets = [server.connect() for _ in range(20)]
        text = os.urandom(500)
        for byte in text:
            for s in sockets:
                s.send(bytes([byte]))
        row.injected("segments for 10,000 bytes", tcp_count("OutSegs") - before)
        row.expect("echoed whole", 20, sum(receive(s, len(text)) == text for s in sockets))
        for s in sockets:
            s.close()
        still_serves(row, server)
    fault = FaultServer("--split", 1)
    before = tcp_count("OutSegs")
    r = run_client("-c", 20, "-r", 200, "-t", 1, f"127.0.0.1:{fault.port}")
    row.injected("segments to the client", tcp_count("OutSegs") - before)
    fault.stop()
    row.conserved(r)
    row.expect("answered byte by byte", r.json["queries"]["scheduled"], r.json["queries"]["answered"])


@scenario(short=True)
@of_one_thread
def half_closes(row):
    """The end of the stream comes with the query: the answer is sent, then the end of the stream."""
    with Server() as server:
        whole = 0
        for _ in range(20):
            sockets = [server.connect() for _ in range(50)]
            for s in sockets:
                s.sendall(b"y" * 1000)
                s.shutdown(socket.SHUT_WR)
            whole += sum(receive(s, 1001) == b"y" * 1000 for s in sockets)
            for s in sockets:
                s.close()
        row.injected("half-closed connections", 1000)
        row.expect("answered whole and ended", 1000, whole)
        still_serves(row, server)
        row.expect("closed by peer", 1050, server.result["closed"].get("receive/closed by peer"))


@scenario(short=True)
@of_one_thread
def resets_after_connect(row):
    with Server() as server:
        before = tcp_count("EstabResets")
        for _ in range(2000):
            s = socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_S)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            s.close()
        row.injected("connections reset, both ends", tcp_count("EstabResets") - before)
        still_serves(row, server)
        row.expect("accepted", 2050, server.result["accepted"])
        row.expect("reset", 2000, server.result["closed"].get("receive/reset"))
