# SPDX-License-Identifier: MIT
"""An independent witness: captures TCP on the loopback interface, decodes the messages and, for DNS, matches their
round trip times with the rows of tcpclient by connection and id."""

import struct

from helpers.harness import *
from helpers.ranks import at_rank

# Small slots: in immediate mode the buffer holds as many packets as there are slots of the largest size.
ETHERNET_BYTES, PCAP_NANO, SNAP_BYTES = 14, 0xA1B23C4D, 2048


class Capture:
    """All segments of a port or, with only=, those matching a tcpdump filter."""

    def __init__(self, port, only=None, prefix=()):
        need_root()
        need_program("tcpdump")
        self.port, self.path, self.log = port, temp_path("capture.pcap"), temp_path("tcpdump.err")
        with open(self.log, "w") as log:
            self.process = spawn([*prefix, "tcpdump", "-i", "lo", "--time-stamp-precision=nano",
                                  "--immediate-mode", "-s", str(SNAP_BYTES), "-B", "65536", "-Z", "root", "-w", self.path,
                                  only or f"tcp port {port}"], stderr=log)
        wait_for(lambda: "listening on" in read_text(self.log), "tcpdump")

    def _counts(self):
        """All counts that it has printed."""
        return re.findall(r"(\d+) packets? captured", read_text(self.log))

    def _packets(self):
        """The number of packets that tcpdump has read from its buffer so far, which it prints on SIGUSR1."""
        said = len(self._counts())
        os.kill(self.process.pid, signal.SIGUSR1)
        return wait_for(lambda: self._counts()[said:], "tcpdump")[-1]

    def _caught_up(self):
        """tcpdump silently drops what is still in its buffer when it ends, and may lag by seconds on a stalled
        host."""
        before = self._packets()
        time.sleep(0.3)
        return self._packets() == before

    def messages(self, length_of):
        """Ends the capture. See read_messages."""
        wait_for(self._caught_up, "tcpdump to take what it captured")
        stop(self.process, signal.SIGINT)
        said = read_text(self.log)
        with stall_may_spoil():
            check(re.search(r"^0 packets dropped by kernel", said, re.M), f"the capture is complete: {said}")
        return read_messages(self.path, self.port, length_of)

    def stop(self):
        """{(client port, id): round trip in ns}, and the last answer of each connection, of DNS."""
        return match_messages(self.messages(dns_length))


def read_packets(path):
    """(time in ns, source port, destination port, sequence number, payload) of each TCP segment."""
    with open(path, "rb") as f:
        data = f.read()
    check_equal(struct.unpack_from("<I", data)[0], PCAP_NANO, "capture format")
    offset = 24
    while offset + 16 <= len(data):
        seconds, ns, n_bytes, n_whole = struct.unpack_from("<IIII", data, offset)
        ip = offset + 16 + ETHERNET_BYTES
        tcp = ip + (data[ip] & 15) * 4
        source, destination, sequence = struct.unpack_from(">HHI", data, tcp)
        payload = tcp + (data[tcp + 12] >> 4) * 4
        end = ip + struct.unpack_from(">H", data, ip + 2)[0]
        check_equal(n_bytes, n_whole, "bytes of a packet")
        yield seconds * 10**9 + ns, source, destination, sequence, data[payload:end]
        offset += 16 + n_bytes


def dns_length(buffer):
    """Bytes of the first message and its length field (RFC 7766); 0 while it is not whole."""
    n = 2 + int.from_bytes(buffer[:2], "big")
    return n if len(buffer) >= n else 0


def read_messages(path, port, length_of):
    """(time, client port, is an answer, message) of each message, by the segment of its last byte.
    length_of(bytes) is the length of the message they begin with, 0 while it is not whole."""
    buffers, expected = {}, {}
    for time_ns, source, destination, sequence, payload in read_packets(path):
        key = source, destination
        if not payload:
            continue
        ahead = (sequence - expected.get(key, sequence)) % 2**32
        if ahead >= 2**31:
            continue  # a retransmission: the first transmission counts
        check_equal(ahead, 0, "bytes missing in the capture")
        expected[key] = (sequence + len(payload)) % 2**32
        buffer = buffers.get(key, b"") + payload
        while n := length_of(buffer):
            yield time_ns, destination if source == port else source, source == port, buffer[:n]
            buffer = buffer[n:]
        buffers[key] = buffer


def match_messages(messages):
    asked, round_trips, last_answers = {}, {}, {}
    for time_ns, client, is_answer, whole in messages:
        message = whole[2:]
        key = client, int.from_bytes(message[:2], "big")
        if is_answer:
            round_trips[key] = time_ns - asked.pop(key)
            last_answers[client] = message
        else:
            asked[key] = time_ns
    check_equal(list(asked.items())[:3], [], f"{len(asked)} queries on the wire without an answer")
    return round_trips, last_answers


def differences_us(result, round_trips):
    """The sorted differences between the times of tcpclient and those on the wire, for every answer of the run, and the
    number of answers on the wire. Connections are numbered in the order of their (planned) ports."""
    ports = sorted({port for port, _ in round_trips})
    differences = []
    for row in result.rows():
        if row["type"] == "A":
            key = ports[int(row["connection_id"])], int(row["query_id"])
            measured_us = float(row["response_us"]) - float(row["send_lag_us"])
            differences.append(measured_us - round_trips[key] / 1000)
    others = result.json["probes"]["answered"] + result.json["queries"]["late"]
    check_equal(len(differences) + others, len(round_trips),
                "answers matched one to one (the rows, a probe each; late ones have no row)")
    return sorted(differences)
