# SPDX-License-Identifier: MIT
"""A server that stops answering and later continues: the client's memory does not grow, and every late answer is counted
as late."""

from helpers.harness import *

RATE = 10000 if SANITIZED else 100000
FREEZE_S = float(os.environ.get("FREEZE_S", "4"))  # a minute of it: FREEZE_S=60
BYTES = {"dns": 31, "ping": 4, "echo": 64}  # of a query


def no_bytes_between(port):
    """Between client and server.  Behind a zero window bytes stay unsent, with nothing to read at either end, until the
    sender's next probe."""
    return all(s.n_unsent + s.n_unread == 0
               for s in tcp_sockets() if port in (s.local_port, s.remote_port) and s.state == ESTABLISHED)


def owes_nothing(server):
    """The server sleeps, so it has answered all that it has read, and the client has read all answers."""
    return no_bytes_between(server.port) and thread_states(server.pid) == {"S"} and no_bytes_between(server.port)


def is_idle(server):
    """Three times in a row."""
    for _ in range(3):
        if not owes_nothing(server):
            return False
        time.sleep(0.2)
    return True


def frozen_run(protocol, connections):
    """Returns the result and the client's resident bytes every 200 ms while the server is stopped."""
    before_s, after_s = 1, 1
    with Server("--protocol", "ping" if protocol == "ping" else "echo") as server:
        client = Client("-p", server.port, "-c", connections, "--schedule",
                        f"{before_s + FREEZE_S}s:{RATE},{after_s}s:20,3600s:0", "--timeout", "10ms", "--prove", "no",
                        "--protocol", protocol, "--stats-interval", "100ms", "127.0.0.1")
        wait_until_running(client)
        time.sleep(before_s)
        suspend(server.process)
        rss = []
        for _ in range(int(FREEZE_S / 0.2)):
            time.sleep(0.2)
            rss.append(rss_bytes(client.pid))
        server.process.send_signal(signal.SIGCONT)
        time.sleep(after_s)  # at least until nothing more is due: an answer to a query that timed out is still owed
        wait_for(lambda: is_idle(server), "the server to catch up")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    return r, rss


def check_late(r, protocol):
    """Each query written was answered exactly once, in time or late, unless it was in flight at the end."""
    q = r.json["queries"]
    n_written = r.json["resources"]["bytes_sent"] / BYTES[protocol]
    check_equal(r.json["probes"]["answered"] + q["answered"] + q["late"] + q["cancelled"], n_written, f"{protocol}: answers in time and late")
    check_equal((q["duplicate"], q["unknown_id"], q["ids_recycled"]), (0, 0, 0), f"{protocol}: strays")
    check(q["late"] > 0, f"{protocol}: none was late")
    with stall_may_spoil():  # of 10 ms, again and again
        check(q["answered"] > 0, f"{protocol}: none was answered in time")
    latency_ns = r.json["latency_ns"]
    latest_ns = latency_ns["net"]["max"] or latency_ns["service"]["max"]  # what arrived in time is an answer, however late it is read
    check_between(latest_ns, 1, 10e6 + 1, f"{protocol}: the latest answer")
    check_equal(q["timeout"] + r.json["probes"]["timeout"], q["late"] + q["withdrawn"], f"{protocol}: timed out, answered late or never written")


def check_flat(rss, protocol, n_expired):
    """Each expired DNS query keeps its id, half a byte, as its answer may still come."""
    settled = rss[int(2 / 0.2)]
    check(max(rss) - settled < (4 << 20) + (n_expired / 2 if protocol == "dns" else 0), f"{protocol}: {settled} bytes grew by {max(rss) - settled}")


def frozen(protocol, connections):
    """With 4 connections the buffers fill up soon."""
    r, rss = frozen_run(protocol, connections)
    q, lag = r.json["queries"], r.json["latency_ns"]["send_lag"]
    print(f"     {protocol}, {connections} connections: {q['timeout']} timed out, {q['late']} late, {q['withdrawn']} withdrawn, "
          f"{q['blocked']} blocked, {rss[int(2 / 0.2)]} bytes after 2 s, {rss[-1]} at the end, "
          f"p99 of the send lag {lag['p99'] / 1e3:.0f} us")
    check_late(r, protocol)
    if not SANITIZED:
        with stall_may_spoil():
            check_flat(rss, protocol, q["timeout"])


def test_frozen_server_costs_no_memory_and_late_dns_answers_are_counted():
    for connections in 4, 500:
        frozen("dns", connections)


def test_frozen_server_costs_no_memory_and_late_answers_without_ids_are_counted():
    frozen("ping", 500)
    frozen("echo", 4)


if __name__ == "__main__":
    main()
