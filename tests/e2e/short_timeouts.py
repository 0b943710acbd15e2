# SPDX-License-Identifier: MIT
"""Timeouts as short as a millisecond, in every phase of a run."""

import threading

from helpers.harness import *


def check_sound(r):
    """Whatever timed out, the program neither crashed nor miscounted."""
    check(r.code in (0, 3), f"exit code {r.code}; stderr: {r.err}")
    check_conservation(r)


@covered_by_others
def test_proofs_that_time_out_during_the_ramp_are_counted_once():
    timed_out = 0
    with Server("--threads", 1) as server:
        for window in 100, 4096:
            r = run_client("-p", server.port, "-c", 6000, "--connect-window", window, "--timeout", "1ms",
                           "--threads", 1, "-t", 0.2, "--force", "127.0.0.1")
            check_sound(r)
            timed_out += r.json["probes"]["timeout"]
    check(timed_out > 0, "proofs that timed out: no server answers 4,096 in a millisecond")


@covered_by_others
def test_closed_loop_continues_if_every_connection_had_a_query_in_flight():
    with Server() as server:
        for arguments in (), ("--pace", "spin"):
            r = run_client("-p", server.port, "-c", 1, "-i", 0.2, "--loop", "closed", "-t", 1.9, *arguments, "127.0.0.1")
            check_conservation(r)
            check_equal(r.json["rate"]["asked_qps"], None, "the rate that was asked for")
            check_equal(r.json["host"]["pacing"] == "spin", bool(arguments), "paces awake")
            with stall_may_spoil():
                check_between(r.json["queries"]["answered"], 5, 10, "queries, one every 200 ms")


def test_closed_loop_continues_after_each_timeout():
    with Server() as server:
        client = Client("-p", server.port, "-c", 1, "-i", 0.1, "--loop", "closed", "--timeout", "50ms", "--prove", "no",
                        "--stats-interval", "100ms", "127.0.0.1")
        wait_until_running(client)
        suspend(server.process)
        wait_for(lambda: progress(client)[-1].lost >= 4, "4 timeouts")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
        server.process.send_signal(signal.SIGCONT)
    check_conservation(r)
    check_equal(r.json["rate"]["asked_qps"], None, "the rate that was asked for")
    check_between(r.json["queries"]["timeout"], 4, 1 + r.seconds / 0.15, "queries that timed out, 100 ms behind each other")


# --- every phase, whatever the seed ---

SEEDS = int(os.environ.get("SEEDS", "3"))  # SEEDS=100: the long form
FEW = ["-c", 60, "--threads", 2, "-t", 0.15, "--drain", "20ms", "--force", "127.0.0.1"]


def run_seeds(port, *arguments):
    """Returns the sums of what timed out: connections, proofs, queries."""
    sums = [0, 0, 0]
    for seed in range(1, SEEDS + 1):
        load = [] if "--loop" in arguments else ["-r", 2000]
        r = run_client("-p", port, "--seed", seed, *load, *arguments, *FEW)
        check(r.code in (0, 3), f"seed {seed}: exit code {r.code}; stderr: {r.err}")
        check_conservation(r)
        j = r.json
        timed_out = sum(n for name, n in j["connections"]["outcomes"].items() if name.endswith("/timed out"))
        for i, n in enumerate((timed_out, j["probes"]["timeout"], j["queries"]["timeout"])):
            sums[i] += n
    return sums


@contextlib.contextmanager
def stuttering(process, stopped_s=0.004, running_s=0.003):
    """Stops the process more than half of the time, for milliseconds each."""
    end = threading.Event()

    def stutter():
        while not end.wait(running_s):
            process.send_signal(signal.SIGSTOP)
            time.sleep(stopped_s)
            process.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=stutter)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def test_connects_that_time_out_after_a_millisecond_are_counted():
    """The listener's queue is full: the SYN is dropped, and its successor comes a second later."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        sums = run_seeds(listener.getsockname()[1], "--connect-timeout", "1ms", "--timeout", "1ms", "--reconnect",
                         "--backoff", "1ms-4ms")
    check(sums[0] > SEEDS, f"connects that timed out: {sums[0]}")


@covered_by_others
def test_handshakes_of_tls_that_time_out_after_a_millisecond_are_counted():
    with socket.socket() as silent:  # accepted by the kernel alone
        silent.bind(("127.0.0.1", 0))
        silent.listen(100)
        sums = run_seeds(silent.getsockname()[1], "--tls", "--tls-insecure", "--connect-timeout", "1ms")
    check(sums[0] > 0, "handshakes that timed out")


def check_proofs_and_queries(protocol):
    """Also while connections come and go: closed by a timeout, or after a few queries."""
    with Server("--protocol", "ping" if protocol == "ping" else "echo") as server, stuttering(server.process):
        sums = [0, 0, 0]
        for more in ([], ["--on-timeout", "close", "--reconnect", "--backoff", "1ms-2ms"],
                     ["--queries-per-conn", 3], ["--loop", "closed", "-i", "2ms"], ["--drain", 0]):
            found = run_seeds(server.port, "--protocol", protocol, "--timeout", "1ms", "--connect-window", 8, *more)
            sums = [a + b for a, b in zip(sums, found)]
    check(sums[2] > 0, "queries that timed out")
    check(sums[1] > 0, "proofs that timed out")


@covered_by_others
def test_dns_proofs_and_queries_that_time_out_after_a_millisecond_are_counted():
    check_proofs_and_queries("dns")


def test_ping_proofs_and_queries_that_time_out_after_a_millisecond_are_counted():
    check_proofs_and_queries("ping")


@covered_by_others
def test_echo_proofs_and_queries_that_time_out_after_a_millisecond_are_counted():
    check_proofs_and_queries("echo")


if __name__ == "__main__":
    main()
