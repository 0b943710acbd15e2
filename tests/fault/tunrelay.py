#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A slow or lossy link between two network namespaces, for kernels without netem: two TUN devices and this process
between them.

    tunrelay.py NAMESPACE_A NAMESPACE_B [--delay-ms D] [--drop-every N]

Creates tun-a with 10.99.0.1 in A and tun-b with 10.99.0.2 in B. Every packet is forwarded D ms later, in order, and
every Nth one is dropped. Prints `ready`, and on SIGTERM one JSON object with its counts."""

import argparse
import collections
import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI, PACKET_BYTES = 0x400454CA, 1, 0x1000, 65536


def open_tun(name, namespace, address, peer):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    subprocess.run(["ip", "link", "set", name, "netns", namespace], check=True)
    inside = ["ip", "-n", namespace]
    subprocess.run([*inside, "addr", "add", address, "peer", peer, "dev", name], check=True)
    subprocess.run([*inside, "link", "set", name, "up"], check=True)
    return fd


def relay(a, b, delay_s, drop_every, did):
    other, waiting = {a: b, b: a}, collections.deque()
    while True:
        wait = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for fd in select.select([a, b], [], [], wait)[0]:
            packet = os.read(fd, PACKET_BYTES)
            did["packets"] += 1
            if drop_every and did["packets"] % drop_every == 0:
                did["dropped"] += 1
            else:
                waiting.append((time.monotonic() + delay_s, other[fd], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, fd, packet = waiting.popleft()
            os.write(fd, packet)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--drop-every", type=int, default=0)
    o = parser.parse_args()
    did = {"packets": 0, "dropped": 0}

    def end(*_):
        print(json.dumps(did), flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    tag = os.getpid()
    a = open_tun(f"tun-a{tag}", o.a, "10.99.0.1", "10.99.0.2")
    b = open_tun(f"tun-b{tag}", o.b, "10.99.0.2", "10.99.0.1")
    print("ready", flush=True)
    relay(a, b, o.delay_ms / 1000, o.drop_every, did)


main()
