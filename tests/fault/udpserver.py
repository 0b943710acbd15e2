#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A DNS server over UDP that misbehaves on purpose, and counts how often.

It answers each query with QR set. Every Nth query, counted from 1, is subject to the requested misbehaviour, if it is
among the first of them (--first). Prints `listening PORT`, and on SIGTERM one JSON object with its counts: also of the
addresses that queries came from (sources), of datagrams that are no query (wrong), and of those that the kernel dropped
before they were read (overflown)."""

import argparse
import asyncio
import json
import signal
import socket
import struct

SO_RCVBUFFORCE, SO_MEMINFO, MEMINFO_BYTES, MEMINFO_DROPS = 33, 55, 36, 8
RCVBUF_BYTES = 64 << 20
QUESTION = b"\7example\3com\0\0\1\0\1"


def is_query(message):
    """RFC 1035: an id, RD, one question; without the length that it has over TCP."""
    return message[2:12] == b"\1\0\0\1" + bytes(6) and message[12:] == QUESTION


class Responder(asyncio.DatagramProtocol):
    def __init__(self, options, s):
        self.o, self.socket, self.sources = options, s, set()
        self.did = dict.fromkeys(("queries", "answers", "dropped", "duplicated", "delayed", "truncated", "short", "wrong"), 0)

    def connection_made(self, transport):
        self.t = transport

    def hits(self, every):
        n = self.did["queries"]
        return every and n % every == 0 and (n <= self.o.first or not self.o.first)

    def datagram_received(self, message, source):
        self.sources.add(source)
        if not is_query(message):
            self.did["wrong"] += 1
            return
        self.did["queries"] += 1
        if self.hits(self.o.drop_every):
            self.did["dropped"] += 1
        elif self.hits(self.o.short_every):
            self.did["short"] += 1
            self.socket.sendto(message[:self.did["short"] % 12], source)  # the transport would leave out empty ones
        elif self.hits(self.o.delay_every):
            self.did["delayed"] += 1
            asyncio.get_running_loop().call_later(self.o.delay_ms / 1000, self.answer, message, source)
        else:
            self.answer(message, source)

    def answer(self, message, source):
        truncated = bool(self.hits(self.o.truncate_every))
        self.did["truncated"] += truncated
        message = message[:2] + bytes([0x81 | truncated << 1, 0x80]) + message[4:]
        self.did["answers"] += 1
        self.t.sendto(message, source)
        if self.hits(self.o.duplicate_every):
            self.did["duplicated"] += 1
            self.t.sendto(message, source)


def open_socket(options):
    s = socket.socket(socket.AF_INET6 if ":" in options.bind else socket.AF_INET, socket.SOCK_DGRAM)
    try:
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF_BYTES)
    except PermissionError:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RCVBUF_BYTES)
    s.bind((options.bind, options.port))
    return s


async def serve(options):
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    s = open_socket(options)
    _, responder = await loop.create_datagram_endpoint(lambda: Responder(options, s), sock=s)
    print("listening", s.getsockname()[1], flush=True)
    await stop.wait()
    meminfo = struct.unpack("9I", s.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, MEMINFO_BYTES))
    print(json.dumps({**responder.did, "sources": sorted(responder.sources), "overflown": meminfo[MEMINFO_DROPS]}), flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name in ("drop", "duplicate", "delay", "truncate", "short"):
    parser.add_argument(f"--{name}-every", type=int, default=0, metavar="N")
parser.add_argument("--delay-ms", type=float, default=0)
parser.add_argument("--first", type=int, default=0, metavar="N", help="misbehave with the first N queries only")
parser.add_argument("--bind", default="127.0.0.1", metavar="ADDRESS")
parser.add_argument("--port", type=int, default=0, help="0: one that is free")
asyncio.run(serve(parser.parse_args()))
