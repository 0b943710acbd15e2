# SPDX-License-Identifier: MIT
"""A run and a server that are controlled under load."""

import http.client
import socket

from helpers.control_api import *


@covered_by_others
def test_connect_rate_covers_only_the_connections_before_the_load():
    run = Steered("-c", 300, "-r", 100, "--max-connections", 1000)
    ask(run.at_client, "/connections/start?n=500")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 800, "800 live")
    r, _ = run.stop()
    check("800 live at the end; the first 300 opened in " in r.err, r.err)


def test_connections_and_rate_can_be_changed_under_load():
    run = Steered("-c", 500, "-r", 1000, "--max-connections", 2000)
    check_equal(ask(run.at_client, "/connections/start?n=1000")["wanted"], 1500, "wanted")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 1500, "1,500 live")
    wait_for(lambda: stats(run.at_server)["active"] == 1500, "1,500 active")
    stopped = ask(run.at_client, "/connections/stop?n=500")
    check_equal((stopped["stopped"], stopped["wanted"]), (500, 1000), "stopped")
    wait_for(lambda: stats(run.at_server)["active"] == 1000, "1,000 active")
    check_equal(ask(run.at_client, "/rate?qps=500")["rate_qps"], 500, "rate")
    wait_for(lambda: stats(run.at_client)["rate"]["now_qps"] == 500, "the new rate")
    check_equal(stats(run.at_client)["verdict"], None, "verdict under way")
    r, server = run.stop()
    c = r.json["connections"]
    check_equal((c["asked"], c["attempted"], c["live_at_end"]), (1500, 1500, 1000), "connections")
    check_equal(c["outcomes"], {"run/finished": 1500}, "ends")
    check_both_sides(r, server)
    check_nothing_lost(r)


def test_connection_schedule_is_kept_whatever_else_changes():
    """20 connections, none, then 20 in their slots: replacements, and nothing that a change of the rate had requested."""
    run = Steered("--conn-schedule", "1s:20,500ms:0,3600s:20", "-r", 100)
    ask(run.at_client, "/rate?qps=200")
    wait_for(lambda: stats(run.at_client)["connections"]["connected"] == 40, "the second 20")
    ask(run.at_client, "/rate?qps=100")
    r, _ = run.stop()
    c = r.json["connections"]
    check_equal((c["asked"], c["attempted"], c["reopened"], c["live_at_end"]), (20, 40, 20, 20), "connections")
    check_equal(c["outcomes"], {"run/finished": 40}, "ends")


def seconds_to_change(n, *arguments):
    """Seconds until n more connections are live, and until n fewer are."""
    run = Steered("-c", 200, "-r", 200, "--max-connections", 200 + n, *arguments)
    spans = []
    for target, live in ((f"/connections/start?n={n}", 200 + n), (f"/connections/stop?n={n}", 200)):
        begin = time.monotonic()
        ask(run.at_client, target)
        wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == live, f"{live} live")
        spans.append(time.monotonic() - begin)
    run.stop()
    return spans


def test_connections_are_started_and_stopped_at_their_rate():
    for s in seconds_to_change(200):
        check(s > 0.35, f"200 at 500/s took {s:.2f} s")
    for s in seconds_to_change(200, "-n", 100):
        check(s > 1.8, f"200 at 100/s took {s:.2f} s")
    with stall_may_spoil():
        check(min(seconds_to_change(1000, "-n", 100000)) < 1.8, "1,000 at 100,000/s took as long as at 500/s")


@covered_by_others
def test_oldest_connections_stop_first():
    rows = temp_path("rows.csv")
    run = Steered("-c", 100, "--max-connections", 200, "--threads", 2, "-r", 500, "-o", rows, "--raw-full", "block")
    started_ns = time.time_ns()
    ask(run.at_client, "/connections/start?n=100")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 200, "200 live")
    check_equal(stats(run.at_server)["closed"], {}, "closed before")
    ask(run.at_client, "/connections/stop?n=100")
    wait_for(lambda: stats(run.at_server)["active"] == 100, "100 active")
    stopped_ns = time.time_ns()
    n_before = stats(run.at_client)["queries"]["scheduled"]
    wait_for(lambda: stats(run.at_client)["queries"]["scheduled"] > n_before + 200, "queries on those that are left")
    r, server = run.stop()
    check_both_sides(r, server)
    asked = [(intended_ns(row), int(row["connection_id"])) for row in read_rows(rows) if row["type"] == "Q"]
    first = {i for due, i in asked if due < started_ns}
    last = {i for due, i in asked if due > stopped_ns}
    check(first and last, "queries before and after the changes")
    # of the 200 slots each thread begins with the first half of its own
    check(first <= {*range(50), *range(100, 150)}, f"at the start: {sorted(first)}")
    check(last <= {*range(50, 100), *range(150, 200)}, f"at the end: {sorted(last)}")


def due_times(path):
    """When the measured queries were due, in seconds after the first, sorted."""
    due = sorted(intended_ns(row) for row in read_rows(path) if row["type"] == "Q")
    return [(t - due[0]) / 1e9 for t in due]


@covered_by_others
def test_rate_changes_without_gap_or_burst():
    rows = temp_path("rows.csv")
    run = Steered("-c", 20, "-r", 1000, "--arrival", "constant", "-o", rows, "--raw-full", "block")
    at_s = ask(run.at_client, "/rate?qps=250")["from_s"]
    wait_for(lambda: stats(run.at_client)["rate"]["duration_s"] > at_s + 0.5, "queries at the new rate")
    r, _ = run.stop()
    check_nothing_lost(r)
    due = due_times(rows)
    gaps = [later - earlier for earlier, later in zip(due, due[1:])]
    asked = r.json["rate"]["asked_qps"] * r.json["rate"]["duration_s"]
    with stall_may_spoil():  # the threads learn of a change, and of the end, 50 ms ahead
        for begin, gap in zip(due, gaps):
            if begin + gap < at_s - 1e-6:
                check_between(gap, 0.000999, 0.001001, f"gap at {begin}")
            elif begin > at_s + 1e-6:
                check_between(gap, 0.003999, 0.004001, f"gap at {begin}")
            else:
                check_between(gap, 0.000999, 0.004001, f"gap at the change at {begin}")
        check_between(r.json["queries"]["scheduled"], asked - 1.5, asked + 1.5, "the integral of the rate")
    check(len([t for t in due if t > at_s]) > 80, "queries at the new rate")


def test_nothing_becomes_due_in_a_pause():
    rows = temp_path("rows.csv")
    run = Steered("-c", 20, "-r", 1000, "--arrival", "constant", "-o", rows, "--raw-full", "block")
    begin_s = ask(run.at_client, "/pause")["from_s"]
    check_equal(ask(run.at_client, "/pause")["paused"], True, "asked for twice")
    check_equal(ask(run.at_client, "/rate?qps=500")["rate_qps"], 500, "rate, from the resume on")
    wait_for(lambda: stats(run.at_client)["state"] == "paused", "the pause")
    wait_for(lambda: stats(run.at_client)["rate"]["paused_s"] > 0.1, "50 queries that are not due")
    n_before = stats(run.at_client)["queries"]["scheduled"]
    end_s = ask(run.at_client, "/resume")["from_s"]
    wait_for(lambda: stats(run.at_client)["queries"]["scheduled"] > n_before + 150, "queries after it")
    r, _ = run.stop()
    due = due_times(rows)
    after = [t for t in due if t >= end_s - 1e-6]
    check(len(after) > 80, f"{len(after)} after it")
    with stall_may_spoil():  # the threads learn of pause and resume 50 ms ahead
        check_equal([t for t in due if begin_s + 1e-6 < t < end_s - 1e-6], [], "due in the pause")
        check_between(after[0] - end_s, -1e-6, 0.002001, "the first after it")
    check_between(r.json["rate"]["paused_s"], end_s - begin_s - 1e-6, end_s - begin_s + 1e-6, "paused")
    said, unit = re.search(r"paused for ([\d.]+) (ms|s)\n", r.err).groups()
    check_between(float(said) / {"ms": 1000, "s": 1}[unit] / (end_s - begin_s), 0.99, 1.01, f"paused, in: {r.err}")
    check_equal(r.json["queries"]["unsent"], 0, "unsent")
    check_nothing_lost(r)


def pause_until_all_are_answered(control):
    """When the pause begins. Returns after that."""
    pause = ask(control, "/pause")

    def has_begun_and_nothing_is_in_flight():
        now = stats(control)
        return now["rate"]["paused_s"] > pause["paused_s"] and now["queries"]["in_flight"] == 0
    wait_for(has_begun_and_nothing_is_in_flight, "the pause and the answers")
    return pause["from_s"]


@plain_build_only  # strace slows down the others
def test_a_thread_that_is_late_sends_nothing_by_the_old_schedule():
    """Every receive takes 150 ms: the thread is far behind when a change takes effect, 50 ms after the request."""
    need_program("strace")
    rows, control = temp_path("rows.csv"), control_path()
    slow = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=recvmsg", "-e", "inject=recvmsg:delay_enter=150000"]
    pauses = []
    with Server() as server:
        client = Client("-c", 1, "-r", 200, "--arrival", "constant", "--prove", "no", "--kernel-ts", "-o", rows, "--raw-full",
                        "block", "--control", control, f"127.0.0.1:{server.port}", prefix=slow)
        wait_for(lambda: "control at" in client.stderr(), "the control port")
        wait_for(lambda: stats(control)["queries"]["sent"] > 0, "the load")
        for _ in range(8):
            begin_s = pause_until_all_are_answered(control)
            n_before = stats(control)["queries"]["sent"]
            end_s = ask(control, "/resume")["from_s"]
            wait_for(lambda: stats(control)["queries"]["sent"] > n_before + 20, "what was due during the first receive")
            pauses.append((begin_s, end_s))
        ask(control, "/stop")
        r = client.wait()
    check_conservation(r)
    due = due_times(rows)
    with stall_may_spoil():  # of 50 ms, while a change is published
        for begin_s, end_s in pauses:
            check_equal([t for t in due if begin_s + 1e-6 < t < end_s - 1e-6], [], f"due in the pause from {begin_s} to {end_s}")
    check(len(due) > 100, f"{len(due)} queries outside")


def test_hundreds_of_changes_are_all_accounted_for():
    run = Steered("-c", 50, "-r", 500, "--max-connections", 100)
    connection = http.client.HTTPConnection("localhost")
    answers = {200: 0, 429: 0}
    end = time.monotonic() + HANGS_S  # however long the threads take to follow
    while answers[200] < 200 and time.monotonic() < end:
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(run.at_client[5:])
        connection.request("POST", ["/rate?qps=1000", "/rate?qps=500", "/connections/start?n=1",
                                    "/connections/stop?n=1"][answers[200] % 4])
        answer = connection.getresponse()
        answer.read()
        answers[answer.status] = answers.get(answer.status, 0) + 1
        connection.close()
    check(set(answers) == {200, 429} and answers[200] == 200, f"answers by status: {answers}")
    run.wait_until_both_agree()
    r, server = run.stop()
    check_both_sides(r, server)
    with stall_may_spoil():  # a slot is used again even if its last connection still awaits answers
        check_nothing_lost(r)


def test_impossible_changes_are_refused():
    run = Steered("-c", 10, "--max-connections", 15)
    check("at most 5 more" in ask(run.at_client, "/connections/start?n=6", status=409)["error"], "room")
    check_equal(ask(run.at_client, "/connections/stop?n=100")["stopped"], 10, "no more than there are")
    check_equal(ask(run.at_client, "/connections/start?n=15")["wanted"], 15, "all of the room")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 15, "15 live")
    run.wait_until_both_agree()
    r, server = run.stop()
    check_both_sides(r, server)
    check_equal(r.json["connections"]["asked"], 25, "asked in all")
    closed = Steered("-c", 5, "-i", "50ms", "--loop", "closed")
    for target in ("/rate?qps=1", "/pause", "/resume"):
        ask(closed.at_client, target, status=409)
    closed.stop()


def test_run_can_be_stopped_before_the_load():
    control = control_path()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        client = Client("-c", 4, "-p", silent.getsockname()[1], "--control", control, "--timeout", "1h",
                        "127.0.0.1")
        wait_for(lambda: "control at" in client.stderr(), "the control port")
        now = wait_for(lambda: stats(control)["connections"]["connected"] == 4 and stats(control), "4")
        check_equal((now["state"], now["verdict"]), ("connecting", None), "state")
        check("4 of 4 connected" in ask(control, "/rate?qps=1", status=409)["error"], "why not now")
        ask(control, "/stop")
        r = client.wait()
    check_conservation(r)
    check_code(r, 130)


@covered_by_others
def test_run_can_be_stopped_in_the_settle_time():
    control = control_path()
    with Server() as server:
        client = Client("-c", 4, "-r", 10, "-p", server.port, "--control", control, "--settle", "1h", "127.0.0.1")
        wait_for(lambda: "control at" in client.stderr(), "the control port")
        wait_for(lambda: stats(control)["state"] == "running", "the settle time")
        ask(control, "/stop")
        r = client.wait()
    check_conservation(r)
    check_code(r, 130)
    check_equal(r.json["queries"]["scheduled"], 0, "queries")


def test_a_stopped_run_cannot_be_changed():
    control = control_path()
    with socket.socket() as silent:  # so that the run waits for answers after its end
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        client = Client("-c", 3, "-r", 30, "--prove", "no", "--timeout", "1h", "--control", control,
                        f"127.0.0.1:{silent.getsockname()[1]}")
        wait_for(lambda: "control at" in client.stderr(), "the control port")
        wait_for(lambda: stats(control)["queries"]["sent"] > 0, "a query")
        to, answers = UnixConnection(control[5:]), []
        for target in ("/stop", "/rate?qps=1", "/pause", "/connections/stop?n=1"):  # they follow each other at once
            to.request("POST", target)
            answer = to.getresponse()
            answers.append((answer.status, json.loads(answer.read()).get("error")))
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_equal(answers, [(200, None)] + [(409, "the run is over")] * 3, "answers")
    check_conservation(r)
    check_code(r, 130)


# --- the server ---

def echo(s):
    s.sendall(b"x")
    return s.recv(1)


def test_server_closes_its_oldest_and_pauses_accepting():
    at = control_path()
    server = Server("--threads", 1, "--control", at)
    sockets = [server.connect() for _ in range(5)]
    for s in sockets:
        check_equal(echo(s), b"x", "echo")
    check_equal(ask(at, "/connections/stop?n=2"), {"stopped": 2, "active": 3}, "answer")
    check_equal([s.recv(1) for s in sockets[:2]], [b"", b""], "the oldest two are closed")
    check_equal([echo(s) for s in sockets[2:]], [b"x"] * 3, "the others are not")
    check_equal(ask(at, "/pause"), {"paused": True}, "answer")
    wait_for(lambda: stats(at)["state"] == "paused", "the pause")
    late = server.connect()
    late.sendall(b"y")
    late.settimeout(0.3)
    try:
        check(False, f"answered {late.recv(1)} in a pause")
    except TimeoutError:
        pass
    check_equal([echo(s) for s in sockets[2:]], [b"x"] * 3, "connections are served in a pause")
    ask(at, "/resume")
    late.settimeout(HANGS_S)
    check_equal(late.recv(1), b"y", "answered after it")
    for target in ("/rate?qps=1", "/connections/start?n=1"):
        ask(at, target, status=404)
    ask(at, "/stop")
    check_equal(server.process.wait(HANGS_S), 0, "exit code")
    server.stop()
    check_equal((server.result["accepted"], server.result["active"], server.result["closed"]),
                (6, 4, {"run/finished": 2}), "accepted, active, closed")
    check("6 accepted, 4 active" in server.stderr(), server.stderr())


def test_connections_that_the_server_does_not_accept_are_half_open():
    at = control_path()
    server = Server("--threads", 1, "--control", at)
    ask(at, "/pause")
    wait_for(lambda: stats(at)["state"] == "paused", "the pause")
    r = run_client("-p", server.port, "-c", 8, "-t", 0.2, "--timeout", "300ms", "--server-control", at, "127.0.0.1")
    c = r.json["connections"]
    with stall_may_spoil():  # the client waits some seconds for the answer
        check(r.json["server"], f"the client was told; stderr: {r.err}")
    check_equal((c["connected"], c["half_open"]), (8, 8), "connected, half-open")
    check_equal((r.json["server"]["accepted"], r.json["server"]["not_accepted"]), (0, 8), "as the server saw it")
    check("8 connected here, but not accepted" in r.err, r.err)
    server.stop()


def test_one_server_under_two_addresses_is_refused():
    at, link = control_path(), "unix:" + temp_path("link")
    os.symlink(at[5:], link[5:])
    with Server("--threads", 1, "--control", at) as server:
        r = run_client("-p", server.port, "-c", 2, "-t", 0.1, "--server-control", f"{at},{link}", "127.0.0.1")
        server.stop()
    check_equal((r.code, r.json), (2, None), "exit code, result")
    check(f"--server-control: '{at}' and '{link}' are the same tcpserver: give only one\n" in r.err, r.err)
    check_equal(server.result["accepted"], 0, "connections")


def test_server_restart_is_reported():
    at = control_path()
    server = Server("--threads", 1, "--control", at, port=free_port())
    client = Client("-p", server.port, "-c", 5, "-r", 100, "--reconnect", "--backoff", "10ms-50ms", "--stats-interval", "100ms",
                    "--server-control", at, "127.0.0.1")
    wait_until_running(client)
    server.process.kill()
    server.process.wait()
    with Server("--threads", 1, "--control", at, port=server.port):
        wait_for_client(client, lambda: stats(at)["active"] == 5, "all connections to be back")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    s = r.json["server"]
    check_equal((s["restarted"], s["accepted"], s["active"], s["not_accepted"]), (True, 5, 5, None), "counts since the restart")
    check("restarted during the run: counts since then" in r.err, r.err)


if __name__ == "__main__":
    main()
