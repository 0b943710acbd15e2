# SPDX-License-Identifier: MIT
"""tcpserver with other clients: sockets, nc, socat; floods, peers that never read, half-closed connections; system calls
per message."""

import contextlib
import re
import socket
import struct
import threading

from helpers.control_api import control_path, stats
from helpers.harness import *


def receive_all(s):
    parts = []
    while part := s.recv(65536):
        parts.append(part)
    return b"".join(parts)


def receive(s, n_bytes):
    data = b""
    while len(data) < n_bytes:
        part = s.recv(n_bytes - len(data))
        check(part != b"", f"closed after {len(data)} of {n_bytes} bytes")
        data += part
    return data


def test_echo_returns_every_byte_in_order():
    data = os.urandom(5 * MIB)
    with Server() as server, server.connect() as s:
        sender = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)))
        sender.start()
        got = receive_all(s)
        sender.join()
        check(got == data, f"{len(got)} bytes of {len(data)} came back the same")


def open_connections(server, n):
    """Once it has answered on each, it has accepted all."""
    opened = [server.connect() for _ in range(n)]
    for s in opened:
        s.sendall(b"x")
    for s in opened:
        receive(s, 1)
    return opened


def test_peak_is_exact_however_short():
    for threads in (1, 2, 3):
        with Server("--threads", threads) as server:
            for s in open_connections(server, 30):
                s.close()
            server.stop()
        check_equal(server.result["peak"], 30, f"the most at a time, {threads} threads")


def test_connections_that_ended_before_the_server_stopped_are_not_active():
    with Server("--threads", 2) as server:
        opened = open_connections(server, 50)
        suspend(server.process)
        for s in opened[:40]:
            s.sendall(b"y" * 100)  # it is read as well
            s.shutdown(socket.SHUT_WR)
        server.stop()  # SIGTERM is pending when it goes on
    r = server.result
    check_equal((r["accepted"], r["active"], r["closed"]), (50, 10, {"receive/closed by peer": 40}), "connections")
    check_equal(r["bytes_received"], 50 + 40 * 100, "bytes of all of them")


def test_connections_reset_before_they_are_served_are_listed_with_their_source():
    for header, arguments in ((b"", ()), (b"PROXY UNKNOWN\r\n", ("--proxy-protocol",))):
        path, control, ports = temp_path("connections.csv"), control_path(), []
        with Server("--connections-out", path, "--control", control, *arguments) as server:
            suspend(server.process)
            for _ in range(5):
                with server.connect() as s:
                    s.sendall(header)
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    ports.append(str(s.getsockname()[1]))
            server.process.send_signal(signal.SIGCONT)
            wait_for(lambda: stats(control)["accepted"] == 5, "the server to serve them")
            server.stop()
        rows = list(csv.DictReader(io.StringIO(read_text(path))))
        check_equal(sorted(row["source_port"] for row in rows), sorted(ports), f"source ports, {arguments}")
        check_equal({row["source"] for row in rows}, {"127.0.0.1"}, "sources")


def test_active_connections_are_not_idle_after_a_stall_of_the_server():
    with Server("--idle-timeout", "2s") as server:
        opened = open_connections(server, 20)
        suspend(server.process)
        for s in opened:
            s.sendall(b"y")
        time.sleep(2.1)  # longer than the idle timeout
        server.process.send_signal(signal.SIGCONT)
        n_echoes = 0
        for s in opened:
            with contextlib.suppress(ConnectionResetError):
                n_echoes += len(s.recv(1))
    with stall_may_spoil():  # before the server was suspended
        check_equal(n_echoes, 20, "echoes")


def test_half_closed_client_gets_its_answers():
    with Server() as server, server.connect() as s:
        s.sendall(b"x" * 100000)
        s.shutdown(socket.SHUT_WR)
        check_equal(len(receive_all(s)), 100000, "bytes after the half-close")


def test_ping_is_answered_by_pong_and_other_bytes_are_ignored():
    with Server("--protocol", "ping") as server, server.connect() as s:
        for sent, answer in [(b"Ping", b"Pong"), (b"PingPing", b"PongPong"), (b"xxPingyy", b"Pong"),
                             (b"PPing", b"Pong")]:
            s.sendall(sent)
            check_equal(receive(s, len(answer)), answer, f"answer to {sent}")
        s.sendall(b"Pi")
        time.sleep(0.05)
        s.sendall(b"ng")
        check_equal(receive(s, 4), b"Pong", "answer to Pi + ng")
        s.settimeout(0.2)
        s.sendall(b"Pin Pong ping")
        try:
            check(False, f"answered {s.recv(100)}")
        except TimeoutError:
            pass


def push_without_reading(server, n_bytes, done):
    s = server.connect()
    s.setblocking(False)
    block, sent, idle_since = b"x" * 65536, 0, time.monotonic()
    while sent < n_bytes and time.monotonic() - idle_since < 2:
        try:
            sent += s.send(block)
            idle_since = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
    done.append((s, sent))


def p99_ns(result):
    return result.json["latency_ns"]["response"]["p99"]


def run_beside_a_pusher():
    """The same load on two servers at the same time, which share the machine's stalls: p99 of the one alone, and of the
    other's, next to a client that pushes 60 MiB and reads nothing."""
    with Server() as server, Server() as other:
        load = ("-c", 100, "-r", 1000)
        run_client(*load, "-t", 0.2, f"127.0.0.1:{server.port}")
        before, done, most = rss_bytes(server.pid), [], 0
        pusher = threading.Thread(target=push_without_reading, args=(server, 60 * MIB, done))
        pusher.start()
        clients = [Client(*load, "-t", 4, f"127.0.0.1:{each.port}") for each in (other, server)]
        while pusher.is_alive():
            most = max(most, rss_bytes(server.pid))
            time.sleep(0.02)
        alone, beside = (client.wait() for client in clients)
        most = max(most, rss_bytes(server.pid))
        done[0][0].close()
        server.stop()
    print(f"     pushed {done[0][1] / MIB:.1f} MiB unread; the server grew by "
          f"{(most - before) / 1024:.0f} KiB; p99 of the others {p99_ns(beside) / 1000:.0f} us, alone "
          f"{p99_ns(alone) / 1000:.0f} us")
    check(SANITIZED or most - before < MIB, f"the server grew by {most - before} bytes; sent {done[0][1]}")
    with stall_may_spoil():
        check(server.result["back_pressure_pauses"] > 0, "it was not read any more")
    check_equal(beside.json["queries"]["answered"], beside.json["queries"]["sent"], "answered")
    return p99_ns(alone), p99_ns(beside)


def test_client_that_never_reads_costs_nothing_and_disturbs_nobody():
    quiet_ns, busy_ns = run_beside_a_pusher()
    with stall_may_spoil():
        check(SANITIZED or busy_ns < 3 * quiet_ns + 1e6, f"p99 of the others, alone and next to it: {quiet_ns} and {busy_ns} ns")


def test_reader_that_returns_gets_everything():
    with Server() as server, server.connect() as s:
        s.setblocking(False)
        sent = 0
        try:
            while True:
                sent += s.send(b"y" * 65536)
        except BlockingIOError:
            pass
        s.settimeout(HANGS_S)
        check_equal(len(receive(s, sent)), sent, "bytes held back and delivered later")
        s.sendall(b"again")
        check_equal(receive(s, 5), b"again", "and it is read again")


def test_flood_of_small_messages_disturbs_nobody():
    need_program("nc")
    with Server() as server:
        flood = spawn(["sh", "-c", "while :; do echo aloha; done | nc 127.0.0.1 "
                       f"{server.port} > /dev/null"], start_new_session=True)
        r = run_client("-p", server.port, "-c", 50, "-r", 500, "-t", 2, "127.0.0.1")
        grown = rss_bytes(server.pid)
        os.killpg(flood.pid, signal.SIGKILL)
        flood.wait()
        server.stop()
    check_equal(r.json["queries"]["answered"], r.json["queries"]["sent"], "answered meanwhile")
    with stall_may_spoil():
        check(server.result["bytes_received"] > 3 * r.json["resources"]["bytes_sent"], "the control: there was a flood")
    check(grown < 20 * MIB or SANITIZED, f"resident {grown} bytes")


def test_nc_and_socat_get_their_lines_back():
    need_program("nc", "socat")
    with Server() as server:
        for command in (["nc", "-N", "127.0.0.1", str(server.port)],
                        ["socat", "-", f"TCP4:127.0.0.1:{server.port}"]):
            r = run_command(command, input="one\ntwo\n")
            check_equal(r.stdout, "one\ntwo\n", f"what {command[0]} got")
        if os.path.exists("/proc/net/if_inet6"):
            r = run_command(["socat", "-", f"TCP6:[::1]:{server.port}"], input="six\n")
            check_equal(r.stdout, "six\n", "over IPv6")


def is_traced(pid):
    """All its threads."""
    tasks = os.listdir(f"/proc/{pid}/task")
    return not any("TracerPid:\t0\n" in read_text(f"/proc/{pid}/task/{task}/status") for task in tasks)


def calls_for_4000_queries():
    """How often the server made each system call."""
    with Server("--threads", "1") as server:
        counts = temp_path("counts")
        trace = spawn(["strace", "-f", "-c", "-o", counts, "-p", str(server.pid)],
                      stderr=subprocess.DEVNULL)
        wait_for(lambda: trace.poll() is not None or is_traced(server.pid), "strace")
        run_client("-p", server.port, "-c", 20, "-r", 2000, "-t", 2, "127.0.0.1")
        stop(trace, signal.SIGINT)
    if not os.path.getsize(counts):
        skip("strace may not attach here")
    return {line.split()[-1]: int(line.split()[3]) for line in open(counts)
            if re.match(r"\s*\d+\.\d+\s", line) and not line.rstrip().endswith("total")}


@plain_build_only
def test_reading_is_not_rearmed_for_every_message():
    need_program("strace")
    calls = calls_for_4000_queries()
    check(calls["epoll_ctl"] < 3 * 20 + 20, f"epoll_ctl calls: {calls['epoll_ctl']}")
    with stall_may_spoil():  # behind it many queries of a connection are received at once
        check(calls["recvfrom"] > 10 * (3 * 20 + 20), f"the control: there was much to rearm for: {calls}")


@covered_by_others
def test_stats_lines_and_summary_are_printed():
    with Server("--stats-interval", "200ms") as server:
        client = Client("-p", server.port, "-c", 10, "-r", 100, "127.0.0.1")
        wait_for(lambda: re.search(r"tcpserver: \d+\.\d s, 10 active, .* accepted/s", server.stderr()), "its line")
        client.process.send_signal(signal.SIGINT)
        client.wait()
        wait_for(lambda: re.search(r"s, 10 active, [^$]* s, 0 active, ", server.stderr()), "the line after its end")
        check_equal(server.stop(signal.SIGINT), 0, "exit code after SIGINT")
    text = server.stderr()
    for part in ("10 accepted", "Bytes", "Closed", "receive: closed by peer"):
        check(part in text, f"'{part}' in the summary")
    check(len(text[text.index("Connections"):].splitlines()) < 24, "one screen")


def stats_lines(server):
    """(seconds, active, accepted/s, MB/s received) of each."""
    return [tuple(map(float, line)) for line in
            re.findall(r"tcpserver: (\S+) s, (\d+) active, (\d+) accepted/s, .* closed/s, (\S+) MB/s in", server.stderr())]


def test_stats_lines_have_the_rates_since_the_line_before():
    begin, sockets = time.monotonic(), []
    with Server("--stats-interval", "500ms") as server:
        for n in (100, 200):
            wait_for(lambda: stats_lines(server)[2:] and stats_lines(server)[-1][2] == 0, "lines without newcomers")
            sockets += open_connections(server, 100)
            for s in sockets[-100:]:
                s.sendall(b"x" * 10000)
            for s in sockets[-100:]:
                receive(s, 10000)
            wait_for(lambda: stats_lines(server)[-1][1] == n, "a line that counts them")
        wait_for(lambda: stats_lines(server)[-1][2] == 0, "a last line without newcomers")
        lines = stats_lines(server)
        server.stop()
        lasted_s = time.monotonic() - begin
    between = [line[0] - before[0] for before, line in itertools.pairwise(lines)]  # in tenths of a second
    accepted, received = (sum(s * line[i] for s, line in zip(between, lines[1:], strict=True)) for i in (2, 3))
    check_between(accepted, 0.6 * 200, 1.4 * 200, "accepted, by the rates")
    check_between(received, 0.6 * 2, 1.4 * 2, "megabytes received, by the rates")
    check_between(server.result["elapsed_s"], lines[-1][0] - 0.1, lasted_s, "seconds in the result")


def test_connections_are_spread_over_the_threads():
    with Server("--threads", "4") as server:
        run_client("-p", server.port, "-c", 2000, "-t", 0.5, "127.0.0.1")
        server.stop()
    each = [worker["accepted"] for worker in server.result["workers"]]
    check_equal((len(each), sum(each)), (4, 2000), "threads and connections")
    # the kernel picks one at random, each with a probability of 1/4: a standard deviation of 19
    check(400 < min(each) and max(each) < 600, f"accepted by each: {each}")


if __name__ == "__main__":
    main()
