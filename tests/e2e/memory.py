# SPDX-License-Identifier: MIT
"""User memory per idle connection: how much some thousand connections add to each program; user and kernel memory per
connection whose peer never reads."""

import contextlib
import socket
import struct

from helpers.control_api import control_path, stats
from helpers.harness import *
from helpers.authority import Authority, serve_with

MOST_IDLE_BYTES = 128
MOST_BYTES = 256  # with an idle timeout
# What a thread costs is the same for both: one thread, and next to no queries, whose latencies decide which pages of its
# histograms are touched.  Twice as many connections make the arrays that grow by doubling twice as large.  The kernel takes
# longer and longer to find an automatic port once half of them are in use.
FEW_IDLE, MANY_IDLE, IDLE_LOAD = 8000, 16000, ("--threads", 1, "-r", 1, "--source", "127.0.0.2")
FEW, MANY = 100, 10000
N_DEAF, MOST_DEAF_BYTES = 300, 65536 + 4096  # what the threads have for all of them is in it
# Two buffers of 64 KiB, which the kernel doubles, and the segment that fills each of them up and beyond.
N_DEAF_SOCKETS, MOST_KERNEL_BYTES = 20, 512 * 1024
# OpenSSL 3.0 takes 15.1 kB for a resting TLS 1.3 client and 13.8 kB for a server; a buffer of a record,
# were one kept, 16.6 kB.
FEW_TLS, MANY_TLS, MOST_TLS_BYTES = 300, 1300, 20000
# OpenSSL 3.0 holds a ClientHello until it is complete, if it has up to 131,396 bytes, and buffers of a record: 167 kB.
N_HANDSHAKES, MOST_HELLO_BYTES, MOST_HANDSHAKE_BYTES = 200, 131396, 180000
MANY_THREADS, MOST_THREAD_BYTES = 9, 500000


def exact_rss_bytes(pid):
    """Resident memory from the page tables; /proc/PID/statm may be off by some hundred KiB."""
    return int(re.search(r"^Rss: +(\d+) kB$", read_text(f"/proc/{pid}/smaps_rollup"), re.M)[1]) * 1024


def resident(n_connections, of_server=(), of_client=()):
    """Resident memory by program, with this many connections open and proven."""
    with Server(*of_server) as server:
        client = Client("-p", server.port, "-c", n_connections, "--settle", "500ms",
                        "--stats-interval", "100ms", *of_client, "127.0.0.1")
        wait_until_running(client)
        sizes = {"tcpclient": exact_rss_bytes(client.pid), "tcpserver": exact_rss_bytes(server.pid)}
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_equal(r.json["connections"]["proven"], n_connections, "proven")
    return sizes


def check_growth(few, many, n_more, most_bytes):
    for name in few:
        each = (many[name] - few[name]) / n_more
        print(f"     {name}: {each:.0f} bytes per connection")
        check(each > 0, f"{name}: {each} bytes per connection")
        with stall_may_spoil():  # times of all lengths touch more pages of the histograms
            check(each <= most_bytes, f"{name}: {each} bytes per connection")


def test_idle_connection_costs_at_most_128_bytes_in_each_program():
    few, many = (resident(n, of_client=IDLE_LOAD) for n in (FEW_IDLE, MANY_IDLE))
    check_growth(few, many, MANY_IDLE - FEW_IDLE, MOST_IDLE_BYTES)


def test_trickling_peers_cost_no_extra_memory_even_when_counted():
    of_server = ["--protocol", "ping", "--max-connections-per-source", "1M", "--idle-timeout", "1h"]
    of_client = ["--protocol", "ping", "-i", "1s"]
    few, many = (resident(n, of_server, of_client) for n in (FEW, MANY))
    check_growth({"tcpserver": few["tcpserver"]}, many, MANY - FEW, MOST_BYTES)


def send_on_each(sockets):
    """Whether any has accepted a byte."""
    n_accepted = 0
    for s in sockets:
        with contextlib.suppress(BlockingIOError):
            n_accepted += s.send(b"y" * 65536)
    return n_accepted > 0


def stuff(sockets, n_rounds, control):
    """Sends on all sockets and reads from none, until the server reads from none either, and none has accepted a byte in
    n_rounds rounds: rounds, not seconds, because the machine may stall."""
    def holds_all():
        send_on_each(sockets)
        return stats(control)["back_pressure_pauses"] >= len(sockets)

    wait_for(holds_all, "the server to read from none")
    n_left = n_rounds
    while n_left > 0:
        n_left = n_rounds if send_on_each(sockets) else n_left - 1
        time.sleep(0.02)


def test_peer_that_never_reads_holds_one_buffer_and_no_more():
    control = control_path()
    with Server("--threads", 2, "--sndbuf", "8KiB", "--rcvbuf", "256KiB", "--control", control) as server:
        stats(control)
        before, sockets = exact_rss_bytes(server.pid), []
        for _ in range(N_DEAF):
            sockets.append(socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_S))
            sockets[-1].setblocking(False)
        stuff(sockets, 50, control)
        each = (exact_rss_bytes(server.pid) - before) / N_DEAF
        for s in sockets:
            s.close()
        server.stop()
    print(f"     tcpserver: {each:.0f} bytes per peer that never reads")
    check(server.result["back_pressure_pauses"] >= N_DEAF, f"pauses: {server.result['back_pressure_pauses']}")
    check(8192 < each <= MOST_DEAF_BYTES, f"{each} bytes per peer that never reads")


def socket_bytes(port):
    """Kernel memory of the sockets at this local port, by what ss prints of each."""
    r = run_command(["ss", "-tmnH", "state", "established", "sport", "=", str(port)])
    check_equal(r.returncode, 0, f"ss: {r.stderr}")
    return sum(int(n) for n in re.findall(r"[(,][rtfwo](\d+)", r.stdout))


def kernel_bytes_of_the_deaf(*arguments):
    """What the server's socket of a peer that never reads holds when it is full."""
    control = control_path()
    with Server("--threads", 1, "--control", control, *arguments) as server:
        sockets = [socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_S) for _ in range(N_DEAF_SOCKETS)]
        for s in sockets:
            s.setblocking(False)
        stuff(sockets, 50, control)
        each = socket_bytes(server.port) / N_DEAF_SOCKETS
        for s in sockets:
            s.close()
    print(f"     {' '.join(arguments) or 'default'}: {each:.0f} bytes of kernel memory per peer that never reads")
    return each


@plain_build_only
def test_peer_that_never_reads_holds_little_kernel_memory():
    need_program("ss")
    by_default, of_kernel = kernel_bytes_of_the_deaf(), kernel_bytes_of_the_deaf("--sndbuf", "0", "--rcvbuf", "0")
    check(by_default <= MOST_KERNEL_BYTES, "by default")
    with stall_may_spoil():  # a server that is stalled for all rounds has not filled its buffers
        check(by_default > 65536, "the control: buffers are full")
        check(of_kernel > MOST_KERNEL_BYTES, "with the kernel's buffers")


def test_idle_tls_connection_holds_no_buffer():
    ca = Authority()
    cert, key = ca.sign()
    options = ["--tls-cert", cert, "--tls-key", key], ["--tls", "--tls-ca", ca.cert]
    # as many at a time in both runs: a handshake under way does need its buffers
    few, many = resident(FEW_TLS, *options), resident(MANY_TLS, *options)
    check_growth(few, many, MANY_TLS - FEW_TLS, MOST_TLS_BYTES)


def incomplete_hello():
    """TLS records of the longest ClientHello; its last byte is missing."""
    hello = b"\x01" + struct.pack(">I", MOST_HELLO_BYTES)[1:] + b"\x03\x03" + bytes(MOST_HELLO_BYTES - 3)
    return b"".join(b"\x16\x03\x01" + struct.pack(">H", len(part)) + part
                    for part in (hello[i:i + 16000] for i in range(0, len(hello), 16000)))


def test_tls_handshake_under_way_holds_no_more_than_is_documented():
    control, hello = control_path(), incomplete_hello()
    with serve_with(Authority().sign(), "--threads", 1, "--control", control) as server, contextlib.ExitStack() as sockets:
        stats(control)
        before = exact_rss_bytes(server.pid)
        for _ in range(N_HANDSHAKES):
            sockets.enter_context(server.connect()).sendall(hello)
        wait_for(lambda: stats(control)["bytes_received"] == N_HANDSHAKES * len(hello), "the server to read them")
        each = (exact_rss_bytes(server.pid) - before) / N_HANDSHAKES
        check_equal(stats(control)["active"], N_HANDSHAKES, "handshakes under way")
    print(f"     tcpserver: {each:.0f} bytes per handshake")
    check(MOST_HELLO_BYTES < each <= MOST_HANDSHAKE_BYTES, f"{each} bytes per handshake")


def client_rss_bytes(server, n_threads, prefix):
    client = Client("-p", server.port, "-c", 90, "-r", 90, "--threads", n_threads, "--stats-interval", "100ms",
                    "127.0.0.1", prefix=prefix)
    wait_until_running(client)
    n_bytes = exact_rss_bytes(client.pid)
    client.process.send_signal(signal.SIGINT)
    client.wait()
    return n_bytes


@plain_build_only
def test_thread_touches_few_pages_of_its_histograms_also_under_a_limit_of_address_space():
    with Server("--threads", 1) as server:
        for limit in ("unlimited", 4000000):
            under = ["sh", "-c", f'ulimit -v {limit}; exec "$@"', "sh"]
            few, many = (client_rss_bytes(server, n, under) for n in (1, MANY_THREADS))
            each = (many - few) / (MANY_THREADS - 1)
            print(f"     tcpclient, ulimit -v {limit}: {each:.0f} bytes per thread")
            with stall_may_spoil():
                check(0 < each <= MOST_THREAD_BYTES, f"ulimit -v {limit}: {each} bytes per thread")


if __name__ == "__main__":
    main()
