# SPDX-License-Identifier: MIT
"""The verdict of a run: which percentiles of the response time reflect the server and which this host's own delays. Each
disturbance of the host must show at the percentiles it reaches, and only there; a stall of the server must not be
mistaken for one."""

import threading

from helpers.faults import FaultServer
from helpers.harness import *
from helpers.namespace import *

PERCENTILES = ("p50", "p90", "p95", "p99", "p999", "p9999", "max")


def holds(r):
    return r.json["holds"]


def describe(r):
    return f"holds {r.json['holds']}, {r.json['explanations']}; {r.err}"


def check_reaches(r, lowest):
    """The disturbance reaches this percentile and all above, and not the median."""
    check_conservation(r)
    for name in PERCENTILES[PERCENTILES.index(lowest):]:
        check(not holds(r)[name], f"{name} is this host's own; {describe(r)}")
    with stall_may_spoil():
        check(holds(r)["p50"], f"the median is the server's; {describe(r)}")


def freeze(processes, frozen_s, every_s, until, lasted):
    """Stops all of them together for a while, again and again; `lasted`: for how long each time."""
    while not until.is_set():
        begin = time.monotonic()
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        time.sleep(frozen_s)
        for process in processes:
            process.send_signal(signal.SIGCONT)
        lasted.append(time.monotonic() - begin)
        until.wait(every_s - frozen_s)


def run_frozen(which, *arguments, frozen_s=0.02, every_s=1.0, seconds=3.5):
    done, lasted = threading.Event(), []
    with Server() as server:
        client = Client("-p", server.port, "-c", 10, "-r", 1000, "-t", seconds, *arguments, "--stats-interval",
                        "200ms", "127.0.0.1")
        wait_until_running(client)
        victims = {"client": [client.process], "server": [server.process],
                   "both": [client.process, server.process]}[which]
        thread = threading.Thread(target=freeze, args=(victims, frozen_s, every_s, done, lasted))
        thread.start()
        time.sleep(seconds - 0.5)
        done.set()
        thread.join()
        with stall_may_spoil():
            check(client.process.poll() is None, "the last freeze was within the run")
            check(sum(lasted) > 0.75 * seconds * frozen_s / every_s, f"frozen for {lasted} of {seconds} s")
        return client.wait()


@measures_time
@plain_build_only
def test_stall_of_the_client_shows_in_the_percentiles_it_reaches():
    """2 % of the time."""
    r = run_frozen("client")
    check_reaches(r, "p99")
    check_equal(r.code, 3, "exit code")
    check("host-noise" in r.json["reasons"], describe(r))


@measures_time
@plain_build_only
def test_stall_of_the_client_shows_also_if_queries_then_wait_for_a_connection():
    r = run_frozen("client", "--on-demand", "--idle-close", "5ms")
    check_reaches(r, "p99")
    check_equal(r.code, 3, "exit code")


@measures_time
@plain_build_only
def test_answers_that_arrive_in_time_are_answers_however_late_the_client_reads_them():
    """Each answer takes 30 ms; then the client is stopped for longer than its timeout."""
    for on_timeout in ("keep", "close"):
        faulty = FaultServer("--delay-every", 1, "--delay-ms", 30)
        client = Client("-p", faulty.port, "-c", 40, "-i", "10ms", "--loop", "closed", "-t", 2, "--timeout", "300ms",
                        "--on-timeout", on_timeout, "--require", "max", "--assert", "p99<250ms,lost<1%", "--kernel-ts",
                        "--stats-interval", "200ms", "127.0.0.1")
        wait_until_running(client)
        suspend(client.process)
        time.sleep(0.6)
        client.process.send_signal(signal.SIGCONT)
        r = client.wait()
        faulty.stop()
        check_conservation(r)
        q = r.json["queries"]
        check(r.json["latency_ns"]["own"]["max"] > 0.5e9, describe(r))
        with stall_may_spoil():
            check_equal((q["timeout"], q["late"], q["answered"]), (0, 0, q["sent"]), "timeouts, late answers, answers")
            check_equal(r.code, 3, "exit code")
            check("host-noise" in r.json["reasons"], describe(r))


@measures_time
@plain_build_only
def test_stolen_time_shows_in_the_percentiles_it_reaches():
    """Both ends are stopped together, as if another guest took the CPUs."""
    check_reaches(run_frozen("both"), "p99")


@measures_time
@plain_build_only
def test_stall_of_the_server_is_not_called_noise():
    r = run_frozen("server", frozen_s=0.3)
    check_conservation(r)
    with stall_may_spoil():
        check(r.json["latency_ns"]["response"]["p95"] > 50e6, "the stall is in the response time")
        check(holds(r)["p50"] and holds(r)["p99"], describe(r))
        check_equal(r.json["reasons"], [], describe(r))
        check_equal(r.code, 0, "exit code")


@measures_time
@plain_build_only
def test_busy_cpus_are_noticed_and_the_summary_names_the_delay():
    busy = [spawn(["chrt", "-r", "1", "sh", "-c", "while :; do for i in 1 2 3 4 5 6 7 8 9; do :; done; done"])
            for _ in os.sched_getaffinity(0)]
    try:
        with Server() as server:
            r = run_client("-p", server.port, "-c", 10, "-r", 1000, "-t", 2, "127.0.0.1")
    finally:
        for process in busy:
            stop(process, signal.SIGKILL)
    check_conservation(r)
    check(not holds(r)["p99"] and "host-noise" in r.json["reasons"], describe(r))
    check("this host's own delay is" in r.err and "(limit " in r.err, r.err)


@measures_time
@plain_build_only
def test_lost_packets_show_in_the_percentiles_they_reach():
    with Namespace() as ns:
        with Server(prefix=ns.prefix) as server:
            ns.drop(f"tcp dport {server.port} numgen inc mod 500 == 0")
            r = run_client("-p", server.port, "-c", 10, "-r", 1000, "-t", 3, "127.0.0.1", prefix=ns.prefix)
        check(r.json["connections"]["lost_segments"] > 0, "the control: segments were lost")
        check_reaches(r, "p999")


@measures_time
@plain_build_only
def test_required_percentile_decides_the_exit_code():
    """A pause of 30 ms in 3 s reaches p99.9 and not p95, whatever causes it."""
    with Server() as server:
        for require, code in (("p50", 0), ("max", 3)):
            client = Client("-p", server.port, "-c", 10, "-r", 500, "-t", 3, "--require", require,
                            "--stats-interval", "200ms", "127.0.0.1")
            wait_until_running(client)
            client.process.send_signal(signal.SIGSTOP)
            time.sleep(0.03)
            client.process.send_signal(signal.SIGCONT)
            r = client.wait()
            check_conservation(r)
            with stall_may_spoil():
                check(not holds(r)["max"], f"the pause is seen; {describe(r)}")
                check_equal(r.code, code, f"exit code with --require {require}; {describe(r)}")
                check_equal(r.json["verdict"], "SUSPECT" if code else "VALID", "verdict")
    r = run_command([TCPCLIENT, "--require", "p98", "127.0.0.1"])
    check_equal(r.returncode, 2, "an unknown percentile")
    check("p98" in r.stderr and "p99.9" in r.stderr, r.stderr)


def test_goals_decide_the_exit_code():
    """Each answer takes 200 ms, of which this host's own delay is little; every tenth query is lost.

    A busy host may delay queries by a tenth of a limit, or by a hundredth of the run, before goals are in doubt."""
    faulty = FaultServer("--delay-every", 1, "--delay-ms", 200, "--drop-every", 10)

    def start(goals, *options):
        return Client("-p", faulty.port, "-c", 20, "-r", 170, "-t", 3, "--timeout", "2s", "--prove", "no", "--assert", goals, *options,
                      "127.0.0.1")

    def results(r):
        return [(goal["goal"], goal["result"]) for goal in r.json["goals"]]
    clients = [start("p50<1500ms,lost<50%"), start("p50<150ms,p99<1500ms,lost<1%", "--quiet"), start("p999<1500ms,lost<50%")]
    met, missed, few = [client.wait() for client in clients]
    with stall_may_spoil():
        check_conservation(met)
        check_equal((met.code, results(met)), (3 if met.json["reasons"] else 0, [("p50<1500ms", "met"), ("lost<50%", "met")]), met.err)
        check("Goals        p50<1500ms met: " in met.err, met.err)
        check_equal((missed.code, results(missed)), (1, [("p50<150ms", "missed"), ("p99<1500ms", "missed"), ("lost<1%", "missed")]),
                    missed.err)
        check_equal([line.split(":")[:2] for line in missed.err.splitlines() if "--assert" in line],
                    [["tcpclient", " --assert"]] * 3, "lines without a summary")
        exceeding = missed.json["goals"][2]
        check_equal(exceeding["exceeding"], missed.json["queries"]["timeout"], "lost")
        check_equal(exceeding["of"], missed.json["queries"]["scheduled"], "of")
        check_equal((few.code, results(few)[0]), (1, ("p999<1500ms", "missed")), f"few are enough to miss it: {few.err}")
    r = run_client("-p", faulty.port, "-c", 1, "-r", 100, "-t", "100ms", "--drain", "1ms", "--prove", "no", "--assert", "p50<1ms",
                   "127.0.0.1")
    with stall_may_spoil():  # no answer was awaited but the first of the connection, which is not delayed
        check_equal((r.code, r.json["goals"][0]["why"]), (3, "own-delays"), r.err)
        check("this host itself may have delayed or lost " in r.err, r.err)
    with Server() as server:
        r = run_client("-p", server.port, "-c", 5, "-r", 100, "-t", 1, "--assert", "lost<0.1%", "127.0.0.1")
        check_equal((r.code, r.json["goals"][0]["why"]), (3, "too-few"), r.err)
        r = run_client("-p", server.port, "-c", 5, "-r", 100, "-t", 1, "127.0.0.1")
        check_equal(r.json["goals"], None, "goals of a run without any")


if __name__ == "__main__":
    main()
