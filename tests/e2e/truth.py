# SPDX-License-Identifier: MIT
"""Figures that can be computed in advance, each with a control that shows that the check can fail: known delays and
stalls, the server's own log, queueing theory."""

import math
import statistics

from helpers.faults import *


# --- known delay ---

def delayed_run(*faults):
    server = FaultServer(*faults)
    r = run_client("-p", server.port, "-c", 50, "-r", 3000, "--arrival", "constant", "-t", 4,
                   "-R", "127.0.0.1")
    did = server.stop()
    check_conservation(r)
    values = sorted(float(row["rtt_us"]) / 1000 for row in r.rows() if row["type"] == "A")
    return r, did, lambda q: values[min(len(values) - 1, math.ceil(q * len(values)) - 1)]


def misplaced(quantile_ms, p999_ns):
    """Percentiles that differ from those of delays of 1 s for 0.9 % and 3 s for 0.1 %. A stall of the machine is
    shorter than these: what it delays by some ms stays below them, or near its own."""
    limits = [(0.985, 0, 500), (0.992, 1000, 1050), (0.995, 1000, 1050), (0.998, 1000, 1050), (0.9995, 3000, 3060)]
    wrong = [f"p{100 * q:g} {quantile_ms(q)} ms" for q, low, high in limits
             if not low <= quantile_ms(q) <= high]
    return wrong + ([] if 1000e6 <= p999_ns <= 3060e6 else [f"p99.9 of the summary {p999_ns} ns"])


@measures_time
@plain_build_only
def test_known_delays_appear_at_their_percentiles():
    """0.9 % of the answers 1 s late, 0.1 % 3 s late."""
    r, did, quantile_ms = delayed_run("--delay-per-mille", "9:1000,1:3000")
    check_between(did["delayed"], 117, 123, "delayed answers of 12,000")
    with stall_may_spoil():
        check_equal(misplaced(quantile_ms, r.json["latency_ns"]["service"]["p999"]), [], "misplaced")
    r, did, quantile_ms = delayed_run()  # the control: without delays the same check fails
    check_equal(did["delayed"], 0, "delayed answers of the control")
    wrong = misplaced(quantile_ms, r.json["latency_ns"]["service"]["p999"])
    with stall_may_spoil():  # it may look like a delay
        check(len(wrong) >= 4, f"misplaced without delays: {wrong}")


# --- the server's own log ---

CONNECTIONS = 20


def logged_run(*faults):
    """A run, what the server did, and {(connection, id): ns from in to out, None without an answer}. The
    connections are opened one by one: both sides number them alike."""
    log = temp_path("log.csv")
    server = FaultServer("--log", log, *faults)
    r = run_client("-p", server.port, "-c", CONNECTIONS, "-r", 1000, "--arrival", "constant", "-t", 3, "--timeout", "5s",
                   "--threads", 1, "--connect-window", 1, "-R", "127.0.0.1")
    did = server.stop()
    check_conservation(r)
    lines = read_rows(log)
    residence_ns = {(int(line["connection"]), int(line["id"])):
                    int(line["out_ns"]) - int(line["in_ns"]) if line["out_ns"] else None
                    for line in lines}
    check_equal(len(residence_ns), len(lines), "queries of the log, each once")
    with stall_may_spoil():  # the client may leave before the server has read what waits there
        check_equal(len(lines), r.json["queries"]["sent"] + CONNECTIONS,
                    "lines of the log: the queries, and a proof per connection")
    return r, did, residence_ns


def surplus_ns(r, residence_ns):
    """Sorted: service time less what the server's log says, for each answer that the log has."""
    surplus = []
    for row in r.rows():
        key = int(row["connection_id"]), int(row["query_id"])
        if row["type"] == "A" and residence_ns.get(key) is not None:
            service_ns = round(1000 * (float(row["response_us"]) - float(row["send_lag_us"])))
            surplus.append(service_ns - residence_ns[key])
    return sorted(surplus)


def test_service_time_is_at_least_the_time_in_the_server():
    r, did, residence_ns = logged_run("--delay-every", 20, "--delay-ms", 150, "--drop-every", 33)
    surplus = surplus_ns(r, residence_ns)
    check_equal(len(surplus), r.json["queries"]["answered"], "answers matched with the log")
    delayed = sum(ns is not None and ns >= 150e6 for ns in residence_ns.values())
    lost = sum(ns is None for ns in residence_ns.values())
    with stall_may_spoil():
        check(delayed >= did["delayed"] > 100, f"delayed: {delayed} in the log, {did}")
        check_equal((r.json["queries"]["timeout"], lost), (did["dropped"],) * 2, "dropped, here and in the log")
    neighbours = surplus_ns(r, {((c + 1) % CONNECTIONS, i): ns for (c, i), ns in residence_ns.items()})
    print(f"     service - in the server: min {surplus[0] / 1000:.1f} us, p50 "
          f"{surplus[len(surplus) // 2] / 1000:.1f} us; with the neighbour's log min {neighbours[0] / 1e6:.1f} ms")
    check(surplus[0] >= 0, f"an answer was here {-surplus[0]} ns before it left")
    check(neighbours[0] < 0, "the control: the log of another connection does not fit")


@measures_time
@plain_build_only
def test_stalls_before_the_server_reads_count_only_in_the_service_time():
    """100 ms every 500 ms: the slowest 5 % wait for at least 75 ms, and the server knows nothing of it."""
    stalled, did, residence_ns = logged_run("--stall-every", 0.5, "--stall-for", 100)
    control, _, _ = logged_run()
    p95_ms = [r.json["latency_ns"]["service"]["p95"] / 1e6 for r in (stalled, control)]
    inside_ms = sorted(ns / 1e6 for ns in residence_ns.values())[len(residence_ns) * 95 // 100]
    print(f"     p95: service {p95_ms[0]:.1f} ms, in the server {inside_ms:.3f} ms; without stalls, service "
          f"{p95_ms[1]:.3f} ms")
    with stall_may_spoil():
        check(did["stalls"] >= 6, f"stalls: {did}")
        check_between(p95_ms[0], 74, 110, "p95 of the service time in ms")
        check(inside_ms < p95_ms[0] / 2, f"p95 of the log: {inside_ms} ms")
        check(p95_ms[1] < 40, f"the control, without stalls: {p95_ms[1]} ms")


# --- known stalls ---

STALL_EVERY_S = 2


def stop_and_continue(server, client, n, stall_s):
    """n times in the client's run; returns how many seconds each stop really lasted."""
    wait_until_running(client)
    begin, lasted = time.monotonic(), []
    for i in range(n):
        time.sleep(max(0, begin + i * STALL_EVERY_S - time.monotonic()))
        server.process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        time.sleep(stall_s)
        lasted.append(time.monotonic() - stopped)
        server.process.send_signal(signal.SIGCONT)
    with stall_may_spoil():
        check(client.process.poll() is None, "the last stop was within the run")
    return lasted


def true_quantile(stalls_s, run_s, q):
    """A query due in a stall waits for the rest of it, all others do not wait: of arrivals spread evenly over
    the run, the share that waits longer than x is the sum of what each stall lasts beyond x."""
    low, high = 0, max(stalls_s)
    for _ in range(40):
        x = (low + high) / 2
        if sum(max(0, s - x) for s in stalls_s) > (1 - q) * run_s:
            low = x
        else:
            high = x
    return high


def stalled_run(n_stalls, stall_s, run_s, rate, *arguments):
    with Server() as server:
        client = Client("-p", server.port, "-c", 50, "-r", rate, "--arrival", "constant", "-t", run_s,
                        "--stats-interval", "100ms", *arguments, "127.0.0.1")
        stalls_s = stop_and_continue(server, client, n_stalls, stall_s)
        r = client.wait()
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], rate * run_s, "answered")
    return r, stalls_s


def p99_of_summary_ns(r, metric):
    line = next(line for line in r.err.splitlines() if line.startswith(f"{metric} "))
    value, unit = re.findall(r"([\d.]+) ([num]?s)\b", line)[3]
    return float(value) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def against_truth(r, stalls_s, run_s, names):
    """Percentiles of the response time as ratios to the true ones."""
    quantiles = {"p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
    return [r.json["latency_ns"]["response"][name] / 1e9 / true_quantile(stalls_s, run_s, quantiles[name])
            for name in names]


@measures_time
@plain_build_only
def test_stalls_of_the_server_appear_in_the_percentiles():
    """500 ms every 2 s: p99 is about 480 ms. A load generator that waits for the server shows a few ms."""
    run_s, names = 8, ("p90", "p99")
    r, stalls_s = stalled_run(run_s // STALL_EVERY_S, 0.5, run_s, 3000)
    p99_s = true_quantile(stalls_s, run_s, 0.99)
    shown_ms = [p99_of_summary_ns(r, metric) / 1e6 for metric in ("response", "service")]
    ratios = against_truth(r, stalls_s, run_s, names) + [shown_ms[0] / 1e3 / p99_s]
    print(f"     p99 of response and service {shown_ms} ms, true {p99_s:.4f} s; "
          f"p90, p99, p99 shown, to the true ones: " + " ".join(f"{x:.3f}" for x in ratios))
    with stall_may_spoil():
        for ratio in ratios:
            check_between(ratio, 0.99, 1.15, "measured to true")
    service_ns = r.json["latency_ns"]["service"]["p99"]
    check_between(shown_ms[1] * 1e6 / service_ns, 0.99, 1.01, "service next to it, as in the JSON")
    control, _ = stalled_run(0, 0, 1, 3000)
    ratios = against_truth(control, stalls_s, run_s, names)
    print("     without stalls: " + " ".join(f"{x:.3f}" for x in ratios))
    with stall_may_spoil():
        check(max(ratios) < 0.5, f"the control: without stalls the same check fails: {ratios}")


@measures_time
@plain_build_only
def test_a_single_stall_appears_at_the_right_percentiles():
    """1 s of 5: p_q = D - (1 - q) T, that is 750, 950 and 995 ms at p95, p99 and p99.9, and the maximum D. A load
    generator that stops its clock with the server has next to no queries that waited."""
    run_s, names, rate, rows = 5, ("p95", "p99", "p999"), 5000, temp_path("rows.csv")
    r, stalls_s = stalled_run(1, 1, run_s, rate, "-o", rows)
    ratios = against_truth(r, stalls_s, run_s, names)
    response = r.json["latency_ns"]["response"]
    print("     p95, p99, p99.9, max: " + ", ".join(f"{response[name] / 1e6:.1f}" for name in (*names, "max")) +
          " ms; to the true ones: " + " ".join(f"{x:.3f}" for x in ratios))
    with stall_may_spoil():
        for ratio in (*ratios, response["max"] / 1e9 / stalls_s[0]):
            check_between(ratio, 0.99, 1.05, "measured to true")
        late = sum(float(row["response_us"]) > 100e3 for row in read_rows(rows) if row["type"] == "A")
        check_between(late / rate, stalls_s[0] - 0.11, stalls_s[0], "seconds of the stall whose queries waited > 100 ms")


# --- queueing theory ---

LATE_MS = 0.5  # half of a service: an answer as much later than the queue says is one behind a stall


def busy_run(seed, seconds=7):
    """(mean response time in the summary, [(due, answered)] of its queries), in ms. Client and server each
    have a CPU: on a busy one a client that wakes up waits for the scheduler, 2 ms at p99."""
    cpus, first = sorted(os.sched_getaffinity(0)), before_all_others()
    server = FaultServer("--busy-ms", "1", prefix=(*first, "taskset", "-c", str(cpus[-1])))
    r = run_client("-p", server.port, "-c", 20, "-r", 500, "--arrival", "poisson", "-t", seconds, "-s", seed,
                   "--cpu", cpus[0], "-R", "127.0.0.1", prefix=first)
    server.stop()
    check_conservation(r)
    answered_ms = ((float(row["timestamp"]) * 1000, float(row["response_us"]) / 1000)
                   for row in r.rows() if row["type"] == "A")
    return r.json["latency_ns"]["response"]["mean"] / 1e6, sorted((at - took, at) for at, took in answered_ms)


def idle_ms(queries):
    """The response time of those that find the server idle."""
    return statistics.median(at - due for (_, before), (due, at) in zip(queries, queries[1:]) if due > before)


def occupied_ms(queries):
    """How long the server is busy with one: what lies between its answers while queries wait."""
    return statistics.median(at - before for (_, before), (due, at) in zip(queries, queries[1:]) if due < before)


def beside_their_queue(queries, s_ms, occupied):
    """[(measured, of the queue)] response times, in ms, and the number of stalls. The queue is that of one server, first
    come, first served (Lindley's recursion): an answer after s_ms, the next one's turn after `occupied`. A stall of the
    machine is in the response times of all that wait behind it: none from there on until the server is idle."""
    free, last, stalled, both, n_stalls = 0, 0, False, [], 0
    for due, at in queries:
        if due >= last:
            free, stalled = 0, False
        begin = max(free, due)
        free, last = begin + occupied, max(last, at)
        if not stalled and at > begin + s_ms + LATE_MS:
            stalled = True
            n_stalls += 1
        if not stalled:
            both.append((at - due, begin + s_ms - due))
    return both, n_stalls


def has_few_stalls(queries, both, n_stalls):
    """Whether the machine alone may have caused them: its stalls are longer than an answer takes, and less frequent."""
    return len(both) > len(queries) / 4 and n_stalls < len(queries) / 10


def mean_to_queue(both):
    if not both:
        return math.nan
    measured, queue = (statistics.mean(times) for times in zip(*both))
    return measured / queue


def mean_response_ms(queries, s_ms, occupied):
    """Of the queue that their arrivals make on a machine without stalls."""
    free, total = 0, 0
    for due, _ in queries:
        begin = max(free, due)
        free = begin + occupied
        total += begin + s_ms - due
    return total / len(queries)


@measures_time
@plain_build_only
def test_single_server_queue_has_the_theoretical_mean():
    """M/D/1 at 500/s: S + rho S / (2 (1 - rho)), S about 1 ms with the server's own overhead and the way there and back.
    Seven seconds are a small sample: the formula is compared with the queue that the run's own arrivals make, and that
    with what was measured."""
    mean_ms, queries = busy_run(2)
    s_ms, occupied = idle_ms(queries), occupied_ms(queries)
    both, n_stalls = beside_their_queue(queries, s_ms, occupied)
    queue_ms, rho = mean_response_ms(queries, s_ms, occupied), 0.5 * occupied
    theory_ms = s_ms + rho * occupied / (2 * (1 - rho))
    print(f"     S {s_ms:.3f}, occupied {occupied:.3f} ms; mean response: in the summary {mean_ms:.3f}, of these "
          f"arrivals {queue_ms:.3f}, M/D/1 {theory_ms:.3f} ms; measured to their queue {mean_to_queue(both):.3f}, "
          f"{len(both)} of {len(queries)} not behind one of {n_stalls} stalls")
    check_between(mean_ms / statistics.mean(at - due for due, at in queries), 0.999, 1.001,
                  "the summary's mean to that of the rows")
    with stall_may_spoil():
        check_between(occupied, 1.0, 1.3, "service time with the server's overhead, in ms")
        check_between(s_ms - occupied, 0, 0.3, "the way there and back, and the server's wake-up, in ms")
        check(has_few_stalls(queries, both, n_stalls), f"{n_stalls} stalls before all but {len(both)} of {len(queries)} answers")
        check_between(mean_to_queue(both), 0.95, 1.05, "measured against the queue of its arrivals")
        check_between(queue_ms / theory_ms, 0.9, 1.1, "the queue of the arrivals against M/D/1")
    unwaited, _ = beside_their_queue([(due, due + s_ms) for due, _ in queries], s_ms, occupied)
    check(mean_to_queue(unwaited) < 0.8, "the control: without the wait for the answers before them the same check fails")
    for every in (1, 2):
        late = [(due, at + (LATE_MS + 0.1) * (i % every == 0)) for i, (due, at) in enumerate(queries)]
        check(not has_few_stalls(queries, *beside_their_queue(late, s_ms, occupied)),
              f"the control: with one of {every} answers late the same check fails")


if __name__ == "__main__":
    main()
