# SPDX-License-Identifier: MIT
"""The loads of bench/soak: a pair of programs each, their counters, and what must be equal in the end."""

import math
import os
import socket
from typing import Callable, NamedTuple

from helpers.authority import Authority
from helpers.harness import *

PORTS_PER_ADDRESS = 60000  # some are reserved or taken
MESSAGE_BYTES = 512
# How much a slope may add up to over a whole run: a fraction of the level, or of the count.  tcpclient touches new pages
# of its histograms as long as rare latencies are new, and its table of queries in flight doubles when there are more than
# ever before, as many as become due in the longest response time: a stall of the host causes both.  The client does not count
# the connections that it is replacing at the moment, which can be as many as become due in the longest response time.
LEVEL_SHARE, COUNT_SHARE, HISTOGRAM_BYTES, IN_FLIGHT_BYTES = 0.01, 0.001, 2 << 20, 2 * 56
# The kernel chooses a thread of the server for each connection, by a hash.  Of N connections, each of T threads has N/T with
# a standard deviation of sqrt(N/T), and while they are replaced, their number wanders.  A thread keeps memory for the
# most that it ever had (malloc_trim(3)), which is seldom more than three standard deviations above N/T.
PEAK_DEVIATIONS = 3
# while a connection is being replaced, the server may have the old one and the new one
ROOM = 1.02, 1000
# The server closes this share of the connections of "reconnect" at each sample: each lives for minutes.  Not in the last
# tenth of the load, where those that come back could be counted on one side only.
CLOSED_SHARE, CUT_PART = 0.01, 0.9


class Series(NamedTuple):
    name: str
    both_ways: bool  # a decrease matters, too
    value: Callable  # of a sample
    tolerance: Callable  # of the last sample: by how much the values may rise


def difference(name, more, key, less, other_key, share=COUNT_SHARE, beyond=lambda s: 0):
    """Of a counter of one side and of the other."""
    return Series(f"{name}, {more} - {less}", True, lambda s: s[more][key] - s[less][other_key],
                  lambda s: s[less][other_key] * share + beyond(s))


def level(name, side, key, more=lambda s: 0):
    return Series(f"{side} {name}", False, lambda s: s[side][key], lambda s: s[side][key] * LEVEL_SHARE + more(s))


def of_peaks(s):
    """What the server may need for the most connections that each thread ever has, beyond an equal share of them."""
    return PEAK_DEVIATIONS * s["opening_bytes"] * math.sqrt(s["threads"] / s["client"]["open"])


OF_ALL = (
    level("memory, bytes", "client", "rss", lambda s: HISTOGRAM_BYTES + s["most_in_flight"] * IN_FLIGHT_BYTES),
    level("memory, bytes", "server", "rss", of_peaks),
    level("descriptors", "client", "fds"),
    level("descriptors", "server", "fds"),
    difference("connections open", "server", "open", "client", "open", LEVEL_SHARE, lambda s: s["most_replaced"]),
    difference("connections made", "server", "made", "client", "made"),
)
OF_QUERIES = difference("bytes of queries", "server", "in", "client", "out")
OF_ANSWERS = difference("bytes of answers", "client", "in", "server", "out")
OF_MESSAGES = difference("messages", "server", "messages", "client", "messages")


class Equal(NamedTuple):
    """Counters that are equal in the end."""
    name: str
    client: str
    server: str


MADE = Equal("connections", "made", "made")
QUERIES, ANSWERS = Equal("bytes of queries", "out", "in"), Equal("bytes of answers", "in", "out")
MESSAGES = Equal("messages", "messages", "messages")


class Load(NamedTuple):
    server: Callable  # options, given those of bench/soak
    client: Callable
    series: tuple
    equal: tuple
    is_cut: bool = False  # the server closes connections, and with them queries in flight


def tls_files(_):
    cert, key = Authority().sign()
    return ["--tls-cert", cert, "--tls-key", key]


def churn(o):
    return ["-r", o.rate, "--queries-per-conn", o.queries_per_conn]


# With TLS, the client does not read what follows the last answer of a connection.
LOADS = {
    "churn": Load(lambda o: [], churn, (*OF_ALL, OF_QUERIES, OF_ANSWERS), (MADE, QUERIES, ANSWERS)),
    "tls": Load(tls_files, lambda o: [*churn(o), "--tls", "--tls-insecure"], (*OF_ALL, OF_QUERIES), (MADE, QUERIES)),
    "push": Load(lambda o: ["--push", o.rate, "--push-size", MESSAGE_BYTES], lambda o: ["--protocol", "listen"],
                 (*OF_ALL, OF_MESSAGES), (MADE, ANSWERS, MESSAGES)),
    "reconnect": Load(lambda o: [], lambda o: ["-r", o.rate, "--reconnect"], OF_ALL, (MADE,), is_cut=True),
}


def request(path, method, target):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(path)
        s.sendall(f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return json.loads(s.makefile().read().split("\n\n", 1)[1])


def descriptors(pid):
    """Descriptors in all fd tables of its threads; since Linux 6.2 the size of the directory is their number."""
    directories = [f"/proc/{pid}/task/{task}/fd" for task in os.listdir(f"/proc/{pid}/task")]
    return sum(os.stat(d).st_size or len(os.listdir(d)) for d in directories)


def client_side(j):
    c, r, p = j["connections"], j["resources"], j["push"]
    return {"open": c["live_at_end"], "made": c["connected"], "out": r["bytes_sent"], "in": r["bytes_received"],
            "messages": p["before"] + p["measured"] + p["after"] if p else 0}


def server_side(j):
    return {"open": j["active"], "made": j["accepted"], "out": j["bytes_sent"], "in": j["bytes_received"], "messages": j["pushed"]}


def halfway(before, after):
    """The counters of one side in the middle between two readings, when those of the other were read."""
    return {key: (before[key] + after[key]) // 2 for key in before}


class Pair:
    """Both programs, and their counters.  The server runs; the client, once started."""

    def __init__(self, name, o):
        self.name, self.load, self.samples = name, LOADS[name], []
        self.cut_s = o.minutes * 60 * CUT_PART
        self.n_cut = int(o.connections * CLOSED_SHARE) if self.load.is_cut else 0
        self.paths = temp_path("server"), temp_path("client")
        room = int(o.connections * ROOM[0] + ROOM[1])
        self.server = Server("--max-connections", room, "--control", f"unix:{self.paths[0]}", *self.load.server(o))
        self.idle_bytes = rss_bytes(self.server.pid)  # of the server, without connections

    def start_client(self, number, o):
        """number: of the load, which has source addresses of its own."""
        sources = f"127.0.{number}.2-127.0.{number}.{2 + o.connections // PORTS_PER_ADDRESS}"
        self.client = Client("-q", "-p", self.server.port, "-c", o.connections, "-t", o.minutes * 60, "--close", "rst", "--source",
                             sources, "--control", f"unix:{self.paths[1]}", *self.load.client(o), "127.0.0.1")

    def stats(self):
        """Of the server, then of the client."""
        return [request(path, "GET", "/stats") for path in self.paths]

    def check_that_runs(self, program, side):
        code = side.process.poll()
        check(code is None, f"{self.name}: {program} ended with exit code {code}: {side.stderr()}")

    def sample(self):
        """Returns whether the load is still to begin, or goes on. A stall of the machine can leave out samples, and does not end it."""
        try:
            server, client = self.stats()
            if client["state"] != "running":
                return not self.samples
            of_server = halfway(server_side(server), server_side(self.stats_of_server()))
            self.samples.append({
                "s": time.monotonic(),
                "client": {**client_side(client), "rss": rss_bytes(self.client.pid), "fds": descriptors(self.client.pid)},
                "server": {**of_server, "rss": rss_bytes(self.server.pid), "fds": descriptors(self.server.pid)}})
            if self.n_cut > 0 and client["rate"]["duration_s"] < self.cut_s:
                request(self.paths[0], "POST", f"/connections/stop?n={self.n_cut}")
        except (OSError, IndexError, ValueError, KeyError):  # no answer in time, or it ends
            if not self.samples:
                self.check_that_runs("tcpclient", self.client)
            return self.client.process.poll() is None and self.server.process.poll() is None
        return True

    def end(self):
        """Returns both results."""
        self.check_that_runs("tcpserver", self.server)
        r = self.client.wait()
        check(r.json is not None, f"{self.name}: tcpclient ended with exit code {r.code} and no result: {r.err}")
        self.check_that_runs("tcpserver", self.server)  # it may have ended meanwhile
        wait_for(lambda: self.stats_of_server()["active"] == 0, "the server's last connection to end")
        self.server.stop()
        check_equal(r.json["broken_law"], None, "the program's own check")
        return r, self.server.result

    def stats_of_server(self):
        return request(self.paths[0], "GET", "/stats")
