# SPDX-License-Identifier: MIT
"""Time-outs as short as a millisecond, in every phase of a run."""

from harness import *


def check_sound(r):
    """Whatever timed out: the program neither crashed nor lost count."""
    check(r.code in (0, 3), f"exit code {r.code}; stderr: {r.err}")
    check_conservation(r)


def test_proofs_that_time_out_while_others_connect_are_counted_once():
    with Server("--threads", 1) as server:
        for window in 100, 4096:
            check_sound(run_client("-p", server.port, "-c", 6000, "--connect-window", window, "--timeout", "1ms",
                                   "--threads", 1, "-t", 0.2, "--force", "127.0.0.1"))


def test_a_closed_loop_asks_on_when_every_connection_had_a_query_in_flight():
    with Server() as server:
        for arguments in (), ("--pace", "spin"):
            r = run_client("-p", server.port, "-c", 1, "-i", 0.2, "--loop", "closed", "-t", 1.9, *arguments, "127.0.0.1")
            check_conservation(r)
            check_between(r.json["queries"]["answered"], 5, 10, "queries, one every 200 ms")


def test_a_closed_loop_asks_on_after_each_timeout():
    with Server() as server:
        client = Client("-p", server.port, "-c", 1, "-i", 0.1, "--loop", "closed", "-t", 2, "--timeout", "50ms",
                        "--drain", 0, "--stats-interval", "100ms", "127.0.0.1")
        wait_until_running(client)
        server.process.send_signal(signal.SIGSTOP)
        r = client.wait()
        server.process.send_signal(signal.SIGCONT)
    check_conservation(r)
    check_between(r.json["queries"]["timeout"], 4, 20, "queries that timed out")


if __name__ == "__main__":
    main()
