# SPDX-License-Identifier: MIT
"""Interrupting programs, and waiting for them to end."""

from helpers.harness import *

ENDS_WITHIN_S = 60  # generous: it must end although its output is not read; that takes some tenths of a second


def established(pid, port):
    return any(s.state == ESTABLISHED and s.remote_port == port for s in tcp_sockets(pid))


def interrupt_and_wait(process, what, number=signal.SIGINT):
    process.send_signal(number)
    begin = time.monotonic()
    try:
        code = process.wait(ENDS_WITHIN_S)
        print(f"     {what}: ended after {time.monotonic() - begin:.2f} s")
        return code
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{what}: goes on {ENDS_WITHIN_S} s after SIGINT") from None
