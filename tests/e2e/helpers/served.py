# SPDX-License-Identifier: MIT
"""Connections to a tcpserver that refuses some: it resets them as soon as it accepts them; either
connect() fails, or the first system call after it."""

import socket

from helpers.checks import check_equal
from helpers.processes import HANGS_S


def connect(server, source="127.0.0.1", to="127.0.0.1"):
    return socket.create_connection((to, server.port), timeout=HANGS_S, source_address=(source, 0))


def is_served(s):
    """Whether it gets its echo, or a reset."""
    try:
        s.sendall(b"x")
        check_equal(s.recv(1), b"x", "echo")
        return True
    except (ConnectionResetError, BrokenPipeError):
        return False


def connect_many(server, n, source="127.0.0.1", to="127.0.0.1"):
    """Opens n connections, all before the first is used; returns those that are served. All others are reset."""
    made = []
    for _ in range(n):
        try:
            made.append(connect(server, source, to))
        except ConnectionResetError:
            pass
    return [s for s in made if is_served(s)]
