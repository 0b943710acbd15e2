#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A DNS-over-TCP server that misbehaves on purpose, and counts how often.

It echoes each query as its answer (--corrupt-every: with one bit changed). The first query of each connection
(tcpclient's proof) is always answered at once, except with --late-proof-every; of the later ones, counted over all
connections, every Nth is subject to the requested misbehaviour. Prints `listening PORT`, and on SIGTERM one JSON object
with its counts. With --log it then writes one CSV line per query: connection (from 0, in order of accepting), DNS id,
time in, time out, both in ns of CLOCK_MONOTONIC, and the message after its header in hex. In is taken after reading the
query, out before writing the answer, so out - in is never more than a client measures; out is empty for an unanswered
query."""

import argparse
import asyncio
import csv
import json
import signal
import socket
import struct
import time


class Log:
    """Keeps its lines until the end: nothing is written during a measurement."""

    def __init__(self):
        self.lines, self.unanswered = [], {}

    def came_in(self, connection, message, in_ns):
        dns_id = int.from_bytes(message[2:4], "big")
        self.unanswered[connection, dns_id] = line = [connection, dns_id, in_ns, "",
                                                             message[14:].hex()]
        self.lines.append(line)

    def goes_out(self, connection, message):
        """Does nothing for an id without a query, or with one that was already answered."""
        line = self.unanswered.pop((connection, int.from_bytes(message[2:4], "big")), None)
        if line is not None:
            line[3] = time.monotonic_ns()

    def write(self, path):
        with open(path, "w") as f:
            csv.writer(f).writerows([("connection", "id", "in_ns", "out_ns", "question"), *self.lines])


def name_in_wire_form(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


class Faults:
    def __init__(self, options):
        self.o = options
        self.log = Log() if options.log else None
        self.n = self.connections = self.accepted = 0
        self.free_at = 0  # --capacity: when the single server will have nothing left to do
        self.did = dict.fromkeys(
            ("queries", "answers", "dropped", "duplicated", "unknown", "delayed", "resets",
             "closes", "malformed", "late_proofs", "stalls", "truncated", "corrupted", "hostile"), 0)
        self.rcodes = [int(code) for code in options.rcodes.split(",") if code]
        self.did.update((f"rcode{code}", 0) for code in self.rcodes)
        self.per_mille = [part.split(":") for part in options.delay_per_mille.split(",") if part]
        self.ms_of_name = {name_in_wire_form(name): float(ms) for name, ms in
                           (part.split(":") for part in options.delay_names.split(",") if part)}
        self.did["named"] = dict.fromkeys(options.delay_names.split(","), 0) if options.delay_names else {}

    def delay_of_name_ms(self, message):
        """0 for a name that is not in the list."""
        for i, (name, ms) in enumerate(self.ms_of_name.items()):
            if message[14:].startswith(name):
                self.did["named"][list(self.did["named"])[i]] += 1
                return ms
        return 0

    def known_delay_ms(self):
        at, passed = self.n * 7 % 1000, 0  # 7 and 1,000 have no common divisor: each once in 1,000
        for many, delay_ms in self.per_mille:
            passed += int(many)
            if at < passed:
                return float(delay_ms)
        return 0

    @staticmethod
    def work(busy_ms):
        end = time.perf_counter() + busy_ms / 1000
        while time.perf_counter() < end:
            pass

    def stall(self, at):
        """Blocks the loop, and with it every connection; `at` is when it was due."""
        time.sleep(self.o.stall_for / 1000)
        self.did["stalls"] += 1
        self.stall_at(at + self.o.stall_every)

    def stall_at(self, at):
        asyncio.get_running_loop().call_at(at, self.stall, at)

    def hits(self, every):
        return every and self.n % every == 0

    def length_of(self, buffer):
        """The length of the message at the start of the buffer; 0 while it is unknown."""
        if self.o.size:
            return self.o.size
        return 2 + struct.unpack(">H", buffer[:2])[0] if len(buffer) >= 2 else 0

    def altered(self, message):
        if self.rcodes:
            truncated = self.hits(self.o.truncate_every)
            self.did["truncated"] += bool(truncated)
            rcode = self.rcodes[self.n % len(self.rcodes)]
            self.did[f"rcode{rcode}"] += 1
            message = message[:4] + struct.pack(">H", 0x8100 | bool(truncated) << 9 | rcode) + message[6:]
        if self.hits(self.o.corrupt_every):
            self.did["corrupted"] += 1
            at = self.n * 7 % len(message)
            message = message[:at] + bytes([message[at] ^ 1]) + message[at + 1:]
        return message


class Connection(asyncio.Protocol):
    def __init__(self, faults):
        self.f, self.o = faults, faults.o
        self.buffer, self.seen, self.held = b"", 0, []
        self.is_over = False  # its input was malformed, or it is being closed: further input is not read
        self.flood, self.is_full = None, False

    def connection_made(self, transport):
        self.t, self.number = transport, self.f.accepted
        self.f.accepted += 1
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data):
        in_ns = time.monotonic_ns()
        self.buffer += data
        while not self.is_over and 0 < (n := self.f.length_of(self.buffer)) <= len(self.buffer):
            message, self.buffer = self.buffer[:n], self.buffer[n:]
            if self.f.log:
                self.f.log.came_in(self.number, message, in_ns)
            self.query(message)

    def query(self, message):
        self.seen += 1
        if self.seen == 1 and not self.o.silent:
            self.prove(message)
            return
        if self.o.unresponsive_every and self.number % self.o.unresponsive_every == 0:
            self.f.did["dropped"] += 1
            return
        self.f.n += 1
        self.f.did["queries"] += 1
        if self.o.silent:
            self.f.did["dropped"] += 1
        elif self.f.hits(self.o.reset_every):
            self.is_over = True
            self.f.did["resets"] += 1
            self.t.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                                       struct.pack("ii", 1, 0))
            self.t.abort()
        elif self.f.hits(self.o.close_every):
            self.is_over = True
            self.f.did["closes"] += 1
            self.t.close()
        elif self.f.hits(self.o.malformed_every):
            self.is_over = True
            self.f.did["malformed"] += 1
            self.t.write(b"\0\1x")
        elif self.o.instead:
            HOSTILE[self.o.instead](self, message)
        elif self.f.hits(self.o.drop_every):
            self.f.did["dropped"] += 1
        elif self.f.hits(self.o.delay_every):
            self.delay(message, self.o.delay_ms)
        elif delay_ms := self.f.known_delay_ms() or self.f.delay_of_name_ms(message):
            self.delay(message, delay_ms)
        elif self.o.capacity:
            self.wait_in_turn(message)
        else:
            if self.o.busy_ms:
                self.f.work(self.o.busy_ms)
            self.answer(message)

    def delay(self, message, delay_ms):
        self.f.did["delayed"] += 1
        asyncio.get_running_loop().call_later(delay_ms / 1000, self.answer, message)

    def wait_in_turn(self, message):
        """Waits in the queue of the single server."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        begin = max(now, self.f.free_at)
        if self.o.queue and (begin - now) * self.o.capacity >= self.o.queue:
            self.f.did["dropped"] += 1
            return
        self.f.free_at = begin + 1 / self.o.capacity
        loop.call_at(self.f.free_at, self.answer, message)

    def prove(self, message):
        self.f.connections += 1
        if self.o.late_proof_every and self.f.connections % self.o.late_proof_every == 0:
            self.f.did["late_proofs"] += 1
            asyncio.get_running_loop().call_later(self.o.delay_ms / 1000, self.answer, message)
        else:
            self.write(message)

    def answer(self, message):
        if self.is_over or self.t.is_closing():
            return
        if self.f.hits(self.o.unknown_every):
            self.f.did["unknown"] += 1
            self.send(message[:2] + struct.pack(">H", 65000) + message[4:])
        self.f.did["answers"] += 1
        self.is_over = bool(self.f.hits(self.o.corrupt_every))
        message = self.f.altered(message)
        self.send(message)
        if self.f.hits(self.o.duplicate_every):
            self.f.did["duplicated"] += 1
            self.send(message)

    def send(self, message):
        if self.o.coalesce:
            self.held.append(message)
            if len(self.held) == 1:
                asyncio.get_running_loop().call_later(self.o.coalesce / 1000, self.flush)
        elif self.o.split:
            asyncio.ensure_future(self.send_split(message))
        else:
            self.write(message)

    def write(self, *messages):
        self.note_going_out(messages)
        self.t.write(b"".join(messages))

    def note_going_out(self, messages):
        if self.f.log:
            for message in messages:
                self.f.log.goes_out(self.number, message)

    def flush(self):
        held, self.held = self.held, []
        if self.o.reverse:
            held.reverse()
        if not self.t.is_closing():
            self.write(*held)

    def say_zero_lengths(self, _):
        self.f.did["hostile"] += 1
        self.t.write(bytes(2000))

    def say_huge_length(self, message):
        self.f.did["hostile"] += 1
        self.t.write(b"\xff\xff" + message[2:])

    def answer_with_wrong_id(self, message):
        self.f.did["hostile"] += 1
        self.t.write(message[:2] + bytes([message[2] ^ 0x80]) + message[3:])

    def answer_without_end(self, message):
        """Sends answers to queries that were never sent, as fast as they are read."""
        if self.flood is None:
            self.flood = (message[:2] + b"\xff\xff" + message[4:]) * 1000
            self.t.set_write_buffer_limits(high=1 << 16)
            self.pour()

    def pour(self):
        if not self.t.is_closing() and not self.is_full:
            self.f.did["hostile"] += 1000
            self.t.write(self.flood)
            asyncio.get_running_loop().call_soon(self.pour)

    def pause_writing(self):
        self.is_full = True

    def resume_writing(self):
        self.is_full = False
        if self.flood is not None:
            self.pour()

    async def send_split(self, message):
        # the pieces of a connection's answers must not mix: they are sent one answer after the other
        previous, done = getattr(self, "last", None), asyncio.Event()
        self.last = done
        if previous is not None:
            await previous.wait()
        self.note_going_out([message])
        for i in range(0, len(message), self.o.split):
            if not self.t.is_closing():
                self.t.write(message[i:i + self.o.split])
            await asyncio.sleep(0)
        done.set()


HOSTILE = {"zero-lengths": Connection.say_zero_lengths, "huge-lengths": Connection.say_huge_length,
           "wrong-ids": Connection.answer_with_wrong_id, "endless": Connection.answer_without_end}


async def accept_some(options, faults, listener):
    loop = asyncio.get_running_loop()
    await asyncio.sleep(options.accept_after)
    for _ in range(options.accept_only):
        accepted, _ = await loop.sock_accept(listener)
        await loop.connect_accepted_socket(lambda: Connection(faults), accepted)


async def serve(options):
    faults, stop = Faults(options), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    listener = socket.create_server((options.bind, options.port), backlog=options.backlog)
    listener.setblocking(False)
    print("listening", listener.getsockname()[1], flush=True)
    if options.accept_only:
        faults.accepting = asyncio.create_task(accept_some(options, faults, listener))  # asyncio keeps no reference
    else:
        await loop.create_server(lambda: Connection(faults), sock=listener, backlog=options.backlog)
    if options.stall_every:
        faults.stall_at(loop.time() + options.stall_every)
    await stop.wait()
    if options.log:
        faults.log.write(options.log)
    print(json.dumps(faults.did), flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name in ("reset", "close", "malformed", "drop", "delay", "unknown", "duplicate", "truncate", "corrupt"):
    parser.add_argument(f"--{name}-every", type=int, default=0, metavar="N")
parser.add_argument("--late-proof-every", type=int, default=0, metavar="N",
                    help="answer the first query of every Nth connection after --delay-ms")
parser.add_argument("--unresponsive-every", type=int, default=0, metavar="N",
                    help="answer nothing but the first query of every Nth connection")
parser.add_argument("--delay-ms", type=float, default=0)
parser.add_argument("--delay-per-mille", default="", metavar="N:MS,...",
                    help="of every 1,000 queries N are answered after MS, evenly spread")
parser.add_argument("--delay-names", default="", metavar="NAME:MS,...",
                    help="queries for NAME are answered after MS, and counted: {\"named\": {NAME:MS: count}}")
parser.add_argument("--busy-ms", type=float, default=0, metavar="MS",
                    help="keep the CPU busy for this long before each answer: one query at a time")
parser.add_argument("--capacity", type=float, default=0, metavar="PER_S",
                    help="answer one query after the other, each after 1/PER_S seconds, without using the CPU")
parser.add_argument("--queue", type=int, default=0, metavar="N", help="drop queries while N others wait for --capacity")
parser.add_argument("--size", type=int, default=0, metavar="BYTES",
                    help="messages of this many bytes, not of DNS")
parser.add_argument("--rcodes", default="", metavar="CODE,...",
                    help="answer with QR and these response codes in turn, those of --truncate-every with TC")
parser.add_argument("--split", type=int, default=0, metavar="BYTES", help="write so much at a time")
parser.add_argument("--coalesce", type=float, default=0, metavar="MS",
                    help="collect answers for so long, then write them at once")
parser.add_argument("--reverse", action="store_true", help="the collected ones in reverse order")
parser.add_argument("--bind", default="127.0.0.1", metavar="ADDRESS")
parser.add_argument("--port", type=int, default=0, help="0: one that is free")
parser.add_argument("--backlog", type=int, default=1024, metavar="N")
parser.add_argument("--accept-only", type=int, default=0, metavar="N",
                    help="accept N connections, --accept-after seconds from the start, and no more")
parser.add_argument("--accept-after", type=float, default=0, metavar="S")
parser.add_argument("--instead", choices=list(HOSTILE), help="of every answer but the proofs")
parser.add_argument("--silent", action="store_true", help="never answer, not even the proof")
parser.add_argument("--stall-every", type=float, default=0, metavar="S",
                    help="take no input at all, on no connection, once every S seconds ...")
parser.add_argument("--stall-for", type=float, default=0, metavar="MS", help="... for so long")
parser.add_argument("--log", default="", metavar="FILE",
                    help="at the end, one CSV line per query: connection, id, in_ns, out_ns, question")
asyncio.run(serve(parser.parse_args()))
