#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pushing server that misbehaves on purpose, and counts how often; it also implements the message format independently,
from include/protocol/push_message.h instead of the C code.

Every connection is greeted, and after its first byte gets one message every --gap-ms; of these, counted per connection,
every Nth is subject to the requested misbehaviour. Prints `listening PORT`, and on SIGTERM one JSON object with its
counts."""

import argparse
import asyncio
import json
import os
import signal
import socket
import struct
import sys
import time

HEADER = struct.Struct(">IIQQQQQ")
MAGIC, HEADER_BYTES, LEAST_BYTES = 0x54504D31, 52, 64
U64 = (1 << 64) - 1


def clock_identity():
    with open("/proc/sys/kernel/random/boot_id") as f:
        text = f.read()
    h = 0xCBF29CE484222325
    for byte in (text + os.readlink("/proc/self/ns/time")).encode():
        h = (h ^ byte) * 0x100000001B3 & U64
    return h


def check_of(head):
    h = 0
    for word in struct.unpack(">6Q", head):
        h = (h ^ word) * 0x9E3779B97F4A7C15 & U64
    return h >> 32


def encode(size, sequence, intended_ns, sent_ns, realtime_offset_ns, clock_id):
    head = HEADER.pack(size, MAGIC, sequence, intended_ns, sent_ns, realtime_offset_ns & U64, clock_id)
    check = check_of(head)
    return head + struct.pack(">I", check) + bytes((check + i) & 255 for i in range(HEADER_BYTES, size))


def decode_all(data):
    """The sequence numbers of a stream's complete messages; raises ValueError if one is invalid."""
    numbers = []
    while len(data) >= HEADER_BYTES and len(data) >= (size := HEADER.unpack_from(data)[0]):
        fields = HEADER.unpack_from(data)
        if encode(size, *fields[2:]) != data[:size]:
            raise ValueError(f"message {len(numbers)}: {fields}")
        numbers.append(fields[2])
        data = data[size:]
    return numbers


class Faults:
    def __init__(self, options):
        self.o = options
        self.clock_id = 1 if options.other_clock else clock_identity()
        self.offset_ns = time.time_ns() - time.monotonic_ns() + int(options.clock_shift_ms * 1e6)
        self.did = dict.fromkeys(("good", "skipped", "duplicated", "damaged", "malformed", "cut"), 0)


class Connection(asyncio.Protocol):
    def __init__(self, faults):
        self.f, self.o, self.n, self.skipped, self.task = faults, faults.o, 0, 0, None

    def connection_made(self, transport):
        self.t = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.t.write(self.message(LEAST_BYTES))

    def message(self, size):
        now_ns = time.monotonic_ns()
        return encode(size, self.n, now_ns, now_ns, self.f.offset_ns, self.f.clock_id)

    def data_received(self, _):
        if self.task is None:
            self.task = asyncio.ensure_future(self.push())

    def eof_received(self):
        if self.task is not None:
            self.task.cancel()
        if self.o.cut:
            self.n += 1
            self.t.write(self.message(self.o.size)[:self.o.cut])
            self.f.did["cut"] += 1
        return False  # closes

    def connection_lost(self, _):
        if self.task is not None:
            self.task.cancel()

    def hits(self, every):
        return every and self.n % every == 0

    async def push(self):
        while True:
            await asyncio.sleep(self.o.gap_ms / 1000)
            self.n += 1
            self.one(self.message(self.o.size))

    def one(self, message):
        did = self.f.did
        if self.hits(self.o.skip_every):
            self.skipped += 1
            return
        did["skipped"] += self.skipped  # those that a later message reveals
        self.skipped = 0
        if self.hits(self.o.damage_every):
            did["damaged"] += 1
            message = message[:-1] + bytes([message[-1] ^ 1])
        elif self.hits(self.o.malformed_every):
            did["malformed"] += 1
            message = message[:20] + bytes([message[20] ^ 1]) + message[21:]
        else:
            did["good"] += 1
        self.t.write(message)
        if self.hits(self.o.duplicate_every):
            did["duplicated"] += 1
            self.t.write(message)


async def serve(options):
    faults, stop = Faults(options), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print("listening", listener.getsockname()[1], flush=True)
    await loop.create_server(lambda: Connection(faults), sock=listener)
    await stop.wait()
    print(json.dumps(faults.did), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("skip", "duplicate", "damage", "malformed"):
        parser.add_argument(f"--{name}-every", type=int, default=0, metavar="N")
    parser.add_argument("--size", type=int, default=512, metavar="BYTES")
    parser.add_argument("--gap-ms", type=float, default=2)
    parser.add_argument("--cut", type=int, default=0, metavar="BYTES",
                        help="end each connection with so much of one more message")
    parser.add_argument("--other-clock", action="store_true", help="as if from another host")
    parser.add_argument("--clock-shift-ms", type=float, default=0, help="its CLOCK_REALTIME is so much ahead")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
