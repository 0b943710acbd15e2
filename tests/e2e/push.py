# SPDX-License-Identifier: MIT
"""Subscribers: tcpserver --push and tcpclient --protocol listen, with each other and with independent implementations.
Every message is accounted for."""

import collections
import socket
import struct
import threading

from helpers.control_api import ask, control_path, stats
from helpers.faults import *

sys.path.insert(0, FAULT)
import pushserver


def received(push):
    """Whatever the time at which it was due."""
    return push["before"] + push["measured"] + push["after"]


def listen(port, *arguments, **options):
    return run_client("-p", port, "--protocol", "listen", "--drain", "200ms", *arguments, "127.0.0.1", **options)


def check_laws(r):
    j, p = r.json, r.json["push"]
    check_equal(j["broken_law"], None, "the program's own check")
    for metric in ("response", "service", "send_lag"):
        check_equal(j["latency_ns"][metric]["count"], p["measured"], f"values of {metric}")
    check_equal(sum(j["connections"]["outcomes"].values()), j["connections"]["asked"], "connections by outcome")


def check_nothing_missing(p):
    check_equal((p["duplicate"], p["damaged"], p["unfinished_connections"]), (0, 0, 0), "wrong or missing")
    with stall_may_spoil():  # the server drops messages to a subscriber that does not read for a moment
        check_equal(p["lost"], 0, "lost")


def check_pushed(server, *results):
    """According to the counts of the server: a message that it dropped is only missed if another one followed."""
    pushes = [r.json["push"] for r in results]
    check_equal(server.result["pushed"], sum(map(received, pushes)), "pushed")
    check(sum(p["lost"] for p in pushes) <= server.result["push_dropped"], "a loss that the server did not count")


class PushServer(FaultServer):
    program = "pushserver.py"


# --- against each other ---

def run_with_every_message():
    with Server("--push", 5000, "--push-size", 300) as server:
        r = listen(server.port, "-c", 100, "-t", 2, "--warmup", "500ms", "-R")
        server.stop()
    check_laws(r)
    p, c = r.json["push"], r.json["connections"]
    check_pushed(server, r)
    check_nothing_missing(p)
    with stall_may_spoil():
        check_equal(server.result["push_dropped"], 0, "dropped")
    check_equal((c["proven"], c["live_at_end"], c["half_open"]), (100, 100, 0), "connections")
    return server, r, p


@covered_by_others
def test_every_message_is_received_and_measured():
    server, r, p = run_with_every_message()
    with stall_may_spoil():  # a subscriber that leaves may have received nothing
        check_between(p["measured"], 9500, 10500, "messages in 2 s at 5000/s")
        check_between(p["before"], 2300, 4500, "messages in settle and warm-up")
    check_equal(p["clock"], "monotonic", "clock")
    rows = r.rows()
    check_equal({row["type"] for row in rows}, {"A"}, "types of rows")
    check_equal(len(rows), p["measured"], "rows")
    for row in rows:
        check(0 <= int(row["rtt_us"]) <= float(row["response_us"]), f"{row}")
    check_equal(server.result["bytes_sent"], received(p) * 300 + 100 * pushserver.LEAST_BYTES, "bytes sent")
    check_equal(server.result["bytes_received"], 100, "one byte from each subscriber")


def due_us(row):
    return float(row["timestamp"]) * 1e6 - float(row["response_us"])


def counts_by_connection(select):
    """Of what was due while all were subscribed: in a stall they come and go one after the other."""
    with Server("--push", 5000, "--push-select", select, "--threads", 2) as server:
        r = listen(server.port, "-c", 50, "-t", 2, "-R")
    due = collections.defaultdict(list)
    for row in r.rows():
        due[row["connection_id"]].append(due_us(row))
    check_equal(len(due), 50, "connections with messages")
    first, last = max(map(min, due.values())), min(map(max, due.values()))
    first += 0.5e6  # a thread learns with its next message how many subscribers the other one has
    with stall_may_spoil():
        check(last - first > 0.5e6, f"all are subscribed for {last - first} us")
    return [sum(first <= at <= last for at in of_one) for of_one in due.values()]


def chi_square(counts):
    mean = sum(counts) / len(counts)
    return sum((n - mean) ** 2 / mean for n in counts)


def test_round_robin_is_even_and_random_is_uniform():
    even, random = counts_by_connection("round-robin"), counts_by_connection("random")
    with stall_may_spoil():  # a thread that was stalled goes on with its earlier share
        check(max(even) - min(even) <= 2, f"round-robin: {min(even)} to {max(even)} messages")
    # 49 degrees of freedom: 13 and 120 leave out 1 in 10 million on either side
    check(chi_square(even) < 13, f"round-robin is told from random: {chi_square(even)}")
    check_between(chi_square(random), 13, 120, f"chi-square of {sorted(random)}")


@covered_by_others
def test_interrupted_listener_reads_to_the_end():
    control = control_path()
    with Server("--push", 2000) as server:
        client = Client("-p", server.port, "-c", 20, "--protocol", "listen", "--stats-interval", "100ms",
                        "--control", control, "127.0.0.1")
        wait_until_running(client)
        wait_for(lambda: stats(control)["push"]["measured"] > 100, "messages")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
        server.stop()
    check_code(r, 130)
    check_laws(r)
    check_pushed(server, r)
    check_nothing_missing(r.json["push"])
    check(r.json["push"]["measured"] > 100, "messages were measured")


def test_connections_closed_by_request_are_read_to_the_end():
    """The server ends each connection with a part of a message, which only one that is read to its end notices."""
    control, server = control_path(), PushServer("--cut", 10)
    client = Client("-p", server.port, "-c", 5, "--threads", 1, "-n", 500, "--protocol", "listen", "--stats-interval", "100ms",
                    "--control", control, "127.0.0.1")
    wait_until_running(client)
    check_equal(ask(control, "/connections/stop?n=3")["stopped"], 3, "stopped")
    wait_for(lambda: stats(control)["connections"]["outcomes"].get("run/finished") == 3, "their end")
    check_equal(stats(control)["push"]["damaged"], 3, "parts of messages of these")
    client.process.send_signal(signal.SIGINT)
    r = client.wait()
    did = server.stop()
    check_laws(r)
    p = r.json["push"]
    check_equal((p["damaged"], p["lost"], p["unfinished_connections"], did["cut"]), (5, 0, 0, 5), "messages")
    check_equal(received(p), did["good"], "good ones")
    check_equal(r.json["connections"]["outcomes"], {"run/finished": 5}, "outcomes")


def message(sequence):
    now_ns = time.monotonic_ns()
    return pushserver.encode(512, sequence, now_ns, now_ns, 0, pushserver.clock_identity())


def test_listener_reads_what_came_while_it_was_stopped():
    """The server sends its last message and closes in time, however late this is read."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(HANGS_S)
        client = Client("--protocol", "listen", "-t", "200ms", "--drain", 0, "--timeout", "1s", f"127.0.0.1:{listener.getsockname()[1]}")
        with listener.accept()[0] as s:
            s.settimeout(HANGS_S)
            s.sendall(message(0))
            check_equal(read_to_the_end(s), b"+", "subscription")
            suspend(client.process)
            s.sendall(message(1))
            s.shutdown(socket.SHUT_WR)
            time.sleep(1.1)  # longer than the timeout
            client.process.send_signal(signal.SIGCONT)
            r = client.wait()
    check_laws(r)
    p = r.json["push"]
    with stall_may_spoil():  # before the client was suspended
        check_equal((received(p), p["unfinished_connections"]), (1, 0), "message, connection not read to its end")


def pushed_to_three_that_come_and_go():
    with Server("--push", 4000) as server:
        runs = [Client("-p", server.port, "-c", n, "--protocol", "listen", "-t", t, "--drain", 0, "127.0.0.1")
                for n, t in ((30, 3), (70, 1), (1, 2))]
        results = [run.wait() for run in runs]
        server.stop()
    for r in results:
        check_laws(r)
    check_pushed(server, *results)
    for r in results:
        check_nothing_missing(r.json["push"])
    return server.result["pushed"]


@covered_by_others
def test_subscribers_may_come_and_go():
    """The sum keeps its rate, and nothing is lost, while the number of subscribers changes."""
    pushed = pushed_to_three_that_come_and_go()
    with stall_may_spoil():  # at the start or at the end
        check_between(pushed, 3.0 * 4000, 4.0 * 4000, "4000/s for as long as anybody listened")


def run_whose_server_comes_back():
    """The client's result and the second server's."""
    server = Server("--push", 2000, port=free_port())
    client = Client("-p", server.port, "-c", 50, "--protocol", "listen", "-t", 3, "--reconnect", "--backoff",
                    "50ms-200ms", "--stats-interval", "200ms", "127.0.0.1")
    wait_until_running(client)
    server.process.kill()
    server.process.wait()
    with Server("--push", 2000, port=server.port) as again:
        r = client.wait()
        again.stop()
    return r, again.result


def test_subscribers_return_when_the_server_restarts():
    """Killed and restarted on its port: sequence numbers restart, and no message counts as lost or duplicate."""
    r, again = run_whose_server_comes_back()
    check_equal(r.json["broken_law"], None, "the program's own check")
    p = r.json["push"]
    check_equal((p["duplicate"], p["unfinished_connections"]), (0, 0), "twice, cut")
    with stall_may_spoil():  # the server drops what a stalled client does not read; it can last until the run is over
        check_equal(p["lost"], 0, "lost")
        check_equal((r.json["connections"]["live_at_end"], again["accepted"]), (50, 50), "connections")
        check(received(p) > again["pushed"] > 1000, f"{received(p)} received, {again['pushed']} from the second")


def test_server_that_does_not_push_leaves_listeners_half_open():
    with Server() as server:
        r = listen(server.port, "-c", 10, "-t", 1, "--timeout", "300ms")
    check_equal((r.json["connections"]["half_open"], r.json["connections"]["proven"]), (10, 0), "half-open")
    check("connections-short" in r.json["reasons"], r.err)
    check_equal([line["limit"] for line in r.json["diagnosis"]], ["nobody answers"], "limiting factors")
    check("tcpserver --push" in r.json["diagnosis"][0]["remedy"], r.err)
    check_code(r, 3)


def test_server_that_does_not_push_is_named_without_proofs():
    """Its listeners are live, and end well."""
    with Server() as server:
        r = listen(server.port, "-c", 10, "-t", 1, "--timeout", "300ms", "--prove", "no")
    lines = r.json["diagnosis"]
    check_equal([(line["limit"], line["connections"]) for line in lines], [("nobody answers", 10)], "limiting factors")
    check("tcpserver --push" in lines[0]["remedy"], r.err)
    with Server("--push", 1000) as server:
        r = listen(server.port, "-c", 10, "-t", 1, "--prove", "no")
    check_equal((r.json["connections"]["proven"], r.json["diagnosis"]), (10, []), "the control: proven, limiting factors")


# --- the client against a server that misbehaves ---

def check_faults(*arguments, connections=5):
    server = PushServer(*arguments)
    r = listen(server.port, "-c", connections, "-t", 1)
    did = server.stop()
    check_laws(r)
    return r, r.json["push"], did


def test_lost_duplicate_and_damaged_messages_are_counted_exactly():
    r, p, did = check_faults("--skip-every", 7, "--duplicate-every", 10, "--damage-every", 13)
    check_equal((p["lost"], p["duplicate"], p["damaged"]),
                (did["skipped"], did["duplicated"], did["damaged"]), "lost, duplicate, damaged")
    with stall_may_spoil():
        check(min(did["skipped"], did["duplicated"], did["damaged"]) > 5, f"it did: {did}")
    check_equal(received(p), did["good"], "good ones")
    check("push-lost" in r.json["reasons"], r.err)
    check_code(r, 3)
    check_missed_are_beyond(r, p)


def check_missed_are_beyond(r, p):
    """The share of missed messages that were due in the measurement is about that of received ones."""
    share = p["measured"] / received(p)
    response, service = r.json["latency_ns"]["response"], r.json["latency_ns"]["service"]
    for metric, missed in ((response, p["lost"] + p["damaged"]), (service, p["damaged"])):
        with stall_may_spoil():
            check_between(metric["over"], 0.7 * share * missed, min(missed, 1.3 * share * missed + 5), "beyond every percentile")
    check_equal(response["p90"], "beyond", "a percentile among them")


@covered_by_others
def test_server_without_faults_raises_no_doubt_about_messages():
    r, p, did = check_faults()
    check_nothing_missing(p)
    check_equal(received(p), did["good"], "good ones")
    check("push-lost" not in r.json["reasons"] and "clocks-disagree" not in r.json["reasons"], r.err)


def test_invalid_message_ends_its_connection():
    r, p, did = check_faults("--malformed-every", 5)
    ends = r.json["connections"]["outcomes"]
    check_equal(p["damaged"], ends.get("protocol/malformed reply", 0), "one on each connection that ended for it")
    check(did["malformed"] >= p["damaged"], f"the server misbehaved: {did}")  # also before it knew of the end
    with stall_may_spoil():
        check_equal(ends, {"protocol/malformed reply": 5}, "outcomes")


def test_truncated_last_message_is_detected():
    for n_bytes in (1, pushserver.HEADER_BYTES, 511):
        _, p, did = check_faults("--cut", n_bytes, connections=3)
        check_equal((p["damaged"], p["lost"], did["cut"]), (3, 0, 3), f"cut after {n_bytes} bytes")
        check_equal(received(p), did["good"], "good ones")


def test_message_cut_by_a_reset_is_damaged():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(HANGS_S)
        client = Client("--protocol", "listen", "-t", "200ms", "--drain", 0, f"127.0.0.1:{listener.getsockname()[1]}")
        with listener.accept()[0] as s:
            s.settimeout(HANGS_S)
            s.sendall(message(0))
            check_equal(s.recv(16), b"+", "subscription")
            s.sendall(message(1) + message(2)[:300])
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        r = client.wait()
    p = r.json["push"]
    check_equal(r.json["connections"]["outcomes"], {"receive/reset": 1}, "outcomes")
    check_equal((received(p), p["damaged"], p["lost"]), (1, 1, 0), "received, damaged, lost")


def test_clocks_of_two_hosts_are_compared_and_their_difference_is_shown():
    _, p, _ = check_faults("--other-clock")
    check_equal((p["clock"], p["negative"], p["least_ns"]), ("realtime", 0, None), "clocks that agree")
    r, p, _ = check_faults("--other-clock", "--clock-shift-ms", 500)
    with stall_may_spoil():  # what it holds up for longer than that is not early
        check_between(p["least_ns"], -0.501e9, -0.4e9, "the least latency")
        check_equal((p["clock"], p["negative"]), ("realtime", p["measured"]), "all before they were due")
    check("clocks-disagree" in r.json["reasons"], r.err)
    check("arrived before they were due" in r.err, r.err)


@needs_own_fd_tables
def test_time_namespace_counts_as_another_clock():
    need_root()
    apart = ("unshare", "--time", "--monotonic", "100000", "--")
    if subprocess.run([*apart, "true"], capture_output=True).returncode != 0:
        skip("no time namespaces")
    with Server("--push", 1000) as server:
        r = listen(server.port, "-c", 10, "-t", 1, prefix=apart)
    check_laws(r)
    check_equal((r.json["push"]["clock"], r.json["push"]["negative"]), ("realtime", 0), "clock")
    check_between(r.json["latency_ns"]["response"]["p50"], 1, 60e9, "p50, 100,000 s between the clocks")


# --- the server with clients that are not ours ---

def subscribe(server, rcvbuf=None):
    s = socket.socket()
    if rcvbuf:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    s.connect(("127.0.0.1", server.port))
    s.settimeout(HANGS_S)
    s.sendall(b"subscribe, please\n")
    return s


def read_to_the_end(s):
    parts = []
    while part := s.recv(1 << 20):
        parts.append(part)
    return b"".join(parts)


def test_any_client_may_subscribe_and_half_close():
    control = control_path()
    with Server("--push", 1000, "--sndbuf", 0, "--control", control) as server:  # room for everything pushed
        with socket.create_connection(("127.0.0.1", server.port)) as idle, subscribe(server) as s:
            wait_for(lambda: stats(control)["pushed"] > 100, "messages")
            s.shutdown(socket.SHUT_WR)
            numbers = pushserver.decode_all(read_to_the_end(s))
            idle.settimeout(HANGS_S)
            check_equal(pushserver.decode_all(idle.recv(1000)), [0], "who says nothing gets the greeting alone")
        server.stop()
    check_equal(numbers, list(range(len(numbers))), "numbers")
    check_equal(server.result["pushed"], len(numbers) - 1, "pushed")
    check(len(numbers) > 100, f"{len(numbers)} messages")


def run_beside_a_sleeper():
    """The others' result, by how much the server grew, its result, and what the sleeper read at last."""
    control = control_path()
    # 0.5 MB/s for each: those that read need no room of more than that for each second without a CPU
    with Server("--push", 2500, "--push-size", "4k", "--sndbuf", "2MiB", "--threads", 1, "--control", control) as server:
        with subscribe(server, rcvbuf=4096) as sleeper:
            wait_for(lambda: stats(control)["push_dropped"] > 0, "its buffers to be full")
            before, most, done = rss_bytes(server.pid), [0], threading.Event()

            def watch():
                while not done.wait(0.02):
                    most[0] = max(most[0], rss_bytes(server.pid))
            watcher = threading.Thread(target=watch)
            watcher.start()
            r = listen(server.port, "-c", 20, "-t", 4)
            done.set()
            watcher.join()
            sleeper.shutdown(socket.SHUT_WR)
            numbers = pushserver.decode_all(read_to_the_end(sleeper))
        server.stop()
    check_laws(r)
    return r, most[0] - before, server.result, numbers


def test_subscriber_that_never_reads_costs_nothing_and_disturbs_nobody():
    r, grown, at_server, numbers = run_beside_a_sleeper()
    check(numbers == sorted(set(numbers)), "in order, none twice")
    dropped = at_server["push_dropped"]
    check_equal(at_server["pushed"], received(r.json["push"]) + len(numbers) - 1, "all the others were received")
    check(numbers[-1] - (len(numbers) - 1) <= dropped, "no gap that was not counted")
    with stall_may_spoil():  # after one of seconds more arrives at once than subscribers that read have room for
        check(r.json["push"]["measured"] > 1000, "the others got theirs")
        check(dropped > 100, f"{dropped} dropped")
        check_nothing_missing(r.json["push"])
        check(SANITIZED or grown < MIB, f"the server grew by {grown} bytes")


if __name__ == "__main__":
    main()
