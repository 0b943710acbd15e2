# SPDX-License-Identifier: MIT
"""Both programs together: every protocol, arrival kind and selection, both address families, the command lines
of the predecessor; the counts of both sides agree."""

import collections
import math
from datetime import datetime

from helpers.faults import *


@covered_by_others
def test_queries_are_sent_on_schedule_and_all_answered():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 1000, "-r", 2000, "-t", 3, "127.0.0.1")
        check_conservation(r)
        server.stop()
    check_complete(r)
    c, q = r.json["connections"], r.json["queries"]
    check_equal((c["connected"], c["proven"], c["half_open"], c["failed"], c["live_at_end"]),
                (1000, 1000, 0, 0, 1000), "connections")
    check_equal(q["answered"], q["scheduled"], "answered")
    # Poisson: 6000 expected, standard deviation 77
    check_between(q["scheduled"], 6000 - 390, 6000 + 390, "scheduled")
    check_equal(server.result["accepted"], 1000, "accepted by the server")
    check_equal(server.result["bytes_received"], r.json["resources"]["bytes_sent"], "bytes")
    check_equal(server.result["bytes_sent"], r.json["resources"]["bytes_received"], "bytes back")
    check_equal(r.json["resources"]["bytes_sent"], 31 * (1000 + q["sent"]), "31 bytes per query")
    check("Verdict" in r.err and "response" in r.err, "the summary is on stderr")
    check_equal(r.out, "", "stdout")


def test_predecessors_command_line_works_unmodified():
    with Server() as server:
        r = run_client("-p", server.port, "-r", 500, "-c", 50, "-n", 1000, "-t", 2, "-s", 7, "-R",
                       "-v", "127.0.0.1")
    check_conservation(r)
    check(f"50 connections to 127.0.0.1:{server.port} from 1 thread" in r.err.splitlines(), f"title of the plan in {r.err}")
    header = r.out.splitlines()[0]
    check_equal(header.split(",")[:7], "type,timestamp,connection_id,query_id,poisson_id,"
                "poisson_interval_us,rtt_us".split(","), "header")
    rows = r.rows()
    kinds = collections.Counter(row["type"] for row in rows)
    check_equal(kinds, {"Q": r.json["queries"]["sent"], "A": r.json["queries"]["answered"]}, "rows")
    asked = {(row["connection_id"], row["query_id"]): row for row in rows if row["type"] == "Q"}
    for row in rows:
        check(math.isclose(float(row["timestamp"]), time.time(), abs_tol=HANGS_S), "epoch seconds")
        check_equal(len(row["timestamp"].split(".")[1]), 9, "decimals of the timestamp")
        if row["type"] == "A":
            q = asked[row["connection_id"], row["query_id"]]
            rtt_us = (float(row["timestamp"]) - float(q["timestamp"])) * 1e6
            check(abs(rtt_us - int(row["rtt_us"])) <= 2, f"rtt {row['rtt_us']} of {rtt_us} us")
            check_equal((row["poisson_id"], row["poisson_interval_us"]), ("", ""), "unused columns")
        else:
            check_equal(row["rtt_us"], "", "rtt of a query")


SCHEDULE = ("poisson_id", "connection_id", "query_id", "poisson_interval_us")


def schedule_of(r):
    """The queries of a run, thread by thread in the order in which they were due, and how many ns each was
    due after the first of all. (The rows are in the order of sending: of late queries those of one
    connection leave together.)"""
    queries = sorted((row for row in r.rows() if row["type"] == "Q"),
                     key=lambda row: (row["poisson_id"], intended_ns(row)))
    check_equal(len(queries), r.json["queries"]["scheduled"], "rows")
    begin_ns = min(intended_ns(row) for row in queries)
    return "".join(",".join([*(row[name] for name in SCHEDULE), str(intended_ns(row) - begin_ns)]) + "\n"
                   for row in queries)


def run_of_two_threads(seed):
    with Server() as server:
        r = run_client("-p", server.port, "-r", 2000, "-c", 20, "-t", 2, "-s", seed, "-R", "--threads", 2,
                       "127.0.0.1")
    check_equal({row["poisson_id"] for row in r.rows() if row["type"] == "Q"}, {"0", "1"},
                "threads that had arrivals")
    return schedule_of(r), r.json["latency_ns"]["send_lag"]["p99"] / 1000


@covered_by_others
def test_same_seed_gives_the_same_schedule_whatever_the_threads_timing():
    first, lag_us = run_of_two_threads(1)
    loops = busy_loops()
    beside_loops, disturbed_lag_us = run_of_two_threads(1)
    for process in loops:
        stop(process, signal.SIGKILL)
    print(f"     {len(first)} bytes; p99 of the send lag {lag_us:.0f} us, next to busy loops "
          f"{disturbed_lag_us:.0f} us")
    check(beside_loops == first, "the schedule of the same seed, byte for byte")
    check(run_of_two_threads(2)[0] != first, "the control: another seed has another schedule")


def check_period(r, n_connections, n_each, period_s):
    """Each connection has n_each queries, period_s apart."""
    check_equal(r.json["queries"]["scheduled"], n_connections * n_each, "scheduled")
    intended = collections.defaultdict(list)
    for row in r.rows():
        if row["type"] == "Q":
            intended[row["connection_id"]].append(
                float(row["timestamp"]) - float(row["send_lag_us"]) / 1e6)
    check_equal(sorted(len(times) for times in intended.values()), [n_each] * n_connections, "queries each")
    for times in intended.values():
        for a, b in zip(times, times[1:]):
            check(abs(b - a - period_s) < 2e-6, f"period {b - a}")


@plain_build_only
def test_constant_round_robin_has_an_exact_period_per_connection():
    with Server() as server:
        r = run_client("-p", server.port, "-r", 200, "-c", 10, "--threads", 3, "-t", 2,
                       "--arrival", "constant", "--select", "round-robin", "-R", "127.0.0.1")
    check_period(r, 10, 40, 0.05)


@plain_build_only
def test_interval_gives_each_connection_its_period():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 30, "-i", "200ms", "-t", 2, "-R", "127.0.0.1")
    check_conservation(r)
    check_period(r, 30, 10, 0.2)


@covered_by_others
def test_closed_loop_waits_for_the_answer():
    slow = FaultServer("--delay-every", 1, "--delay-ms", 50)
    r = run_client("-p", slow.port, "-c", 30, "-i", "100ms", "--loop", "closed", "-t", 2, "127.0.0.1")
    slow.stop()
    check_conservation(r)
    n = r.json["queries"]["scheduled"]
    check_equal(r.json["queries"]["answered"], n, "answered")
    # the interval counts from the answer: fewer than the open loop's 600; intervals and response times fill
    # the 2 s of each connection, except the time before its first query
    check(n <= 30 * 14, f"scheduled, each at least 150 ms after the one before: {n}")
    filled_s = n * (0.1 + r.json["latency_ns"]["response"]["mean"] / 1e9)
    check(filled_s > 30 * 1.9, f"{n} queries, {filled_s} s of 30 connections")


@covered_by_others
def test_ping_protocol():
    with Server("--protocol", "ping") as server:
        r = run_client("-p", server.port, "-c", 100, "-r", 1000, "-t", 2, "--protocol", "ping",
                       "127.0.0.1")
        server.stop()
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    check_equal(server.result["bytes_received"], 4 * (100 + r.json["queries"]["sent"]), "bytes")


@covered_by_others
def test_echo_protocol_of_any_size():
    with Server() as server:
        for size in (1, 1000, 65536):
            r = run_client("-p", server.port, "-c", 10, "-r", 100, "-t", 1, "--protocol", "echo",
                           "--size", size, "127.0.0.1")
            check_conservation(r)
            check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"],
                        f"answered with {size} bytes")


@covered_by_others
def test_both_families_reach_one_listener():
    if not os.path.exists("/proc/net/if_inet6"):
        skip("no IPv6 on this system")
    with Server() as server:
        for host in ("127.0.0.1", "[::1]", "localhost"):
            r = run_client("-c", 5, "-r", 50, "-t", 1, f"{host}:{server.port}")
            check_equal(r.json["connections"]["proven"], 5, f"proven over {host}")


@plain_build_only
def test_every_pacing_keeps_the_same_schedule():
    schedules = []
    with Server() as server:
        for pace in ("sleep", "hybrid", "spin"):
            r = run_client("-p", server.port, "-c", 10, "-r", 500, "-t", 1, "--threads", 1, "--pace",
                           pace, "-R", "127.0.0.1")
            check_conservation(r)
            check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
            check_equal(r.json["host"]["pacing"], pace, "pacing")
            schedules.append(schedule_of(r))
        with default_timeouts():
            auto = run_client("-p", server.port, "-c", 10, "-r", 500, "-t", 1, "--threads", 1, "127.0.0.1")
    check(schedules[0] == schedules[1] == schedules[2], "the schedule, byte for byte")
    check_equal(auto.json["host"]["pacing"], "hybrid", "automatic pacing")


@covered_by_others
def test_a_light_load_uses_one_thread_and_a_heavy_load_every_cpu():
    n_cpus = len(os.sched_getaffinity(0))
    with Server() as server:
        for options, n_threads in ((["-c", 10, "-r", 100], 1), (["-c", 100, "-r", 20000.0 * n_cpus], n_cpus),
                                   (["-c", 10, "-i", "0.1", "--loop", "closed"], min(10, n_cpus))):
            r = run_client("-p", server.port, *options, "-t", 0.1, "127.0.0.1")
            check_equal(r.json["host"]["threads"], n_threads, f"threads with {options}")


def of_threads(pid, name, field):
    """This field of each thread with this name, see proc_pid_status(5)."""
    values = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as f:
            fields = dict(line.split(":", 1) for line in f)
        if fields["Name"].strip().startswith(name):
            values.append(fields[field].strip())
    return values


def cpus_of_threads(pid, name):
    """The CPUs that each thread with this name may run on."""
    return of_threads(pid, name, "Cpus_allowed_list")


def sleeps_of_server(server):
    """How often its only thread has given up its CPU so far, for example to sleep."""
    n, = of_threads(server.pid, "server", "voluntary_ctxt_switches")
    return int(n)


def test_threads_run_on_the_requested_cpus():
    cpu = max(os.sched_getaffinity(0))
    with Server("--cpu", cpu, "--threads", 2) as server:
        client = Client("-p", server.port, "-c", 10, "-r", 100, "--cpu", cpu, "--stats-interval", "100ms",
                        "127.0.0.1")
        wait_until_running(client)
        check_equal(cpus_of_threads(server.pid, "server"), [str(cpu)] * 2, "the server's threads")
        check_equal(cpus_of_threads(client.pid, "client"), [str(cpu)], "the client's thread")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    with Server() as server:  # the control
        check(all(cpus != str(cpu) for cpus in cpus_of_threads(server.pid, "server")) or
              len(os.sched_getaffinity(0)) == 1, "threads that were not told run anywhere")


def test_busy_polling_never_sleeps():
    for options in ((), ("--busy-poll",)):
        with Server("--threads", 1, *options) as server:
            with default_timeouts():
                r = run_client("-p", server.port, "-c", 10, "-r", 200, "-t", 1, "--threads", 1, *options, "127.0.0.1")
            before = cpu_seconds(server.pid)
            if options:
                wait_for(lambda: cpu_seconds(server.pid) - before > 0.5, "CPU time that an idle server takes")
                n = sleeps_of_server(server)
                check(n < 50, f"it slept {n} times")
            else:  # the control
                time.sleep(1)
                took_s = cpu_seconds(server.pid) - before
                check(took_s < 0.1, f"CPU time that an idle server took in a second: {took_s}")
                n = sleeps_of_server(server)
                with stall_may_spoil():
                    check(n > 50, f"it slept {n} times, for 200 queries")
        check_conservation(r)
        check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
        check(options == () or r.json["host"]["pacing"] == "spin", "pacing")


@covered_by_others
def test_warmup_is_sent_but_not_measured():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 10, "-r", 500, "--arrival", "constant", "--warmup",
                       1, "-t", 2, "-R", "127.0.0.1")
    check_conservation(r)
    check_equal(r.json["warmup"]["scheduled"], 500, "warm-up queries")
    check_equal(r.json["queries"]["scheduled"], 1000, "measured queries")
    check_equal(sum(row["type"] == "Q" for row in r.rows()), 1000, "rows")


@covered_by_others
def test_settle_time_separates_the_last_connection_from_the_first_query():
    after_s = {}
    for settle_s in (0, 1.5):
        out = temp_path("connections.csv")
        with Server() as server:
            r = run_client("-p", server.port, "-c", 5, "-r", 1000, "--arrival", "constant", "-t", 0.1, "--settle", settle_s, "-R",
                           "--connections-out", out, "127.0.0.1")
        check_conservation(r)
        last_s = max(float(row["established_s"]) for row in read_rows(out))
        begun_ns = datetime.fromisoformat(r.json["started"].replace("Z", "+00:00")).timestamp() * 1e9
        first_ns = min(intended_ns(row) for row in r.rows() if row["type"] == "Q")
        after_s[settle_s] = (first_ns - begun_ns) / 1e9 - last_s
    # the first query is due 1 ms into the load; "started" has milliseconds, and is before the first connection is begun
    check(after_s[1.5] > 1.499, f"seconds from the last connection to the first query: {after_s}")
    with stall_may_spoil():
        check(after_s[0] < 1, f"the control: {after_s}")


@covered_by_others
def test_a_run_without_a_rate_holds_the_connections():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 100, "-t", 1, "127.0.0.1")
    check_complete(r)
    check_equal(r.json["connections"]["live_at_end"], 100, "live at the end")
    check_equal(r.json["queries"]["scheduled"], 0, "queries")
    check_equal(r.json["rate"]["asked_qps"], None, "asked rate")


@plain_build_only
def test_rate_below_one_per_second():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 2, "-r", 0.5, "--arrival", "constant", "-t", 4,
                       "127.0.0.1")
    check_equal(r.json["queries"]["scheduled"], 2, "queries in 4 s at 0.5 q/s")


def first_second():
    """When the first query left, in seconds after the start, and how many did in the second from then on."""
    with Server() as server:
        r = run_client("-p", server.port, "-c", 100, "-r", 1000, "--arrival", "constant", "-t", 2,
                       "-R", "127.0.0.1")
    times = [float(row["timestamp"]) for row in r.rows() if row["type"] == "Q"]
    started = r.json["started"]
    first = times[0] - datetime.fromisoformat(
        started.replace("Z", "+00:00")).timestamp()
    return first, sum(t < times[0] + 1 for t in times)


@measures_time
@plain_build_only
def test_first_query_comes_soon_and_the_first_second_is_on_target():
    seconds, n = first_second()
    with stall_may_spoil():
        check(seconds < 1.5, f"seconds until the first query: {seconds}")
        check_between(n, 970, 1030, "queries in the second from then on")


@measures_time
@plain_build_only
def test_connect_rate_is_kept():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 500, "-n", 250, "-t", 0.1, "--threads", 2, "127.0.0.1")
    took_s = r.json["connections"]["connect_elapsed_s"]
    check(took_s > 1.9, f"seconds to connect: {took_s}")
    with stall_may_spoil():
        check(took_s < 2.4, f"seconds to connect: {took_s}")


@covered_by_others
def test_timestamps_of_rows_never_decrease():
    """They are times of the monotonic clock, plus an offset that is read once."""
    with Server() as server:
        r = run_client("-p", server.port, "-c", 1, "-r", 1000, "-t", 1, "-R", "127.0.0.1")
    check_conservation(r)
    for kind, name in (("Q", "sent"), ("A", "answered")):
        times = [row["timestamp"] for row in r.rows() if row["type"] == kind]
        check_equal((len(times), times), (r.json["queries"][name], sorted(times)), f"rows of queries {name}")
    for row in r.rows():
        if row["type"] == "A":
            check(float(row["response_us"]) >= float(row["rtt_us"]), "response >= service")
            check(float(row["send_lag_us"]) >= 0, "lag >= 0")


@covered_by_others
def test_rows_of_connections_add_up_to_the_result():
    out = temp_path("connections.csv")
    with Server() as server:
        r = run_client("-p", server.port, "-c", 20, "-n", 40, "-r", 500, "-t", 1, "--warmup", "100ms", "--sport", "21000-21019",
                       "--connections-out", out, "127.0.0.1")
        server.stop()
    check_conservation(r)
    rows = read_rows(out)
    j = r.json
    check_equal(sorted(int(row["source_port"]) for row in rows), list(range(21000, 21020)), "source ports")
    for name, want in (("queries", sum(j[kind]["sent"] for kind in ("queries", "warmup", "probes"))),
                       ("answers", sum(j[kind]["answered"] for kind in ("queries", "warmup", "probes"))),
                       ("bytes_sent", server.result["bytes_received"]), ("bytes_received", server.result["bytes_sent"]),
                       ("proven", 20), ("connections", 20)):
        check_equal(sum(int(row[name]) for row in rows), want, f"{name} of all rows")
    check_equal((j["resources"]["bytes_sent"], j["resources"]["bytes_received"]),
                (server.result["bytes_received"], server.result["bytes_sent"]), "bytes")
    check_equal({row["ended"] for row in rows}, {"run/finished"}, "ends")
    longest_us = max(float(row["connect_us"]) for row in rows)
    check(abs(longest_us * 1000 - j["latency_ns"]["connect"]["max"]) < 2, f"the longest connect: {longest_us} us")
    begun_s = [float(row["established_s"]) - float(row["connect_us"]) / 1e6 for row in rows]
    check(min(begun_s) >= 0, f"none began before the program: {begun_s}")
    end_s = max(float(row["established_s"]) for row in rows)  # rounded to microseconds
    check_between(j["connections"]["connect_elapsed_s"], end_s - min(begun_s) - 2e-6, end_s + 1e-6, "seconds to connect")


if __name__ == "__main__":
    main()
