# SPDX-License-Identifier: MIT
"""When a client has opened all its connections, and when it begins to close them, as it tells its service manager
(sd_notify(3)): what it uses in between is the cost of its load. tcpclient and bench/floor do so."""

import os
import select
import socket
import time

from helpers.files import temp_path

OPEN, CLOSING = "READY=1", "STOPPING=1"


class Stages:
    """As a context manager; prefix comes before the command of one client."""

    def __enter__(self):
        path = temp_path("stages")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.prefix = ["env", f"NOTIFY_SOCKET={path}"]
        return self

    def __exit__(self, *_):
        self.socket.close()

    def told(self, seconds=0):
        """The next message of the client within this time, or None."""
        return self.socket.recv(100).decode() if select.select([self.socket], [], [], seconds)[0] else None

    def follow(self, process, read, seconds, meanwhile=lambda: None):
        """Waits for the client to end, without reaping it, and calls meanwhile() again and again. Returns {what the client said: what
        read() returned then}; nothing for a program that says nothing."""
        deadline, said, has_ended = time.monotonic() + seconds, {}, False
        while not has_ended:
            has_ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
            if not has_ended and time.monotonic() >= deadline:
                process.kill()
                process.wait()
                raise AssertionError(f"{process.args[0]} did not end in {seconds} s")
            meanwhile()
            while (stage := self.told(0 if has_ended else 0.1)) is not None:
                said[stage] = read()
        return said
