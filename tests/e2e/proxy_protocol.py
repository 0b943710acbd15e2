# SPDX-License-Identifier: MIT
"""PROXY headers between both programs, wrong ones, and limits per client."""

from helpers.identities import *
from helpers.authority import Authority

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
LOCAL = SIGNATURE + b"\x20\0\0\0"
SHORT = ["-r", 500, "-t", 0.3]


# --- with each other ---

def as_printed(row):
    address, port = row["identity"], row["identity_port"]
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


@covered_by_others
def test_each_connection_is_counted_as_its_client():
    for version, sources in (("v1", SOURCES), ("v2", SOURCES), ("v1", "fd00::/124"), ("v2", "fd00::/124")):
        with NamingServer() as server:
            r, asked = ask_as_clients(server.port, version, "-c", 100, *SHORT, sources=sources)
            server.stop()
        check_same_clients(r, asked, server)
        check_equal(sum(identities(asked).values()), 100, "connections")
        check_equal(max(identities(asked).values()), 1, "connections of a client")
        check_equal(server.result["proxy_headers_local"], 0, "headers that name nobody")
        check_equal(server.result["proxy_header_bytes"], r.json["proxy"]["header_bytes"], "bytes of headers")
        first, last = (as_printed(row) for row in (asked[0], asked[-1]))
        check_equal([r.json["proxy"][f"{which}_identity"] for which in ("first", "last")], [first, last], "of 100 connections")
        check(f"PROXY        100 {version} headers sent, clients {first} to {last}\n" in r.err, r.err)
        check("PROXY        100 headers, 0 without a client" in server.stderr(), server.stderr())


def test_ipv6_target_is_told_the_ipv4_address_of_a_client():
    with NamingServer() as server:
        r, asked = ask_as_clients(server.port, "v1", "-c", 10, *SHORT, host="::1")
        server.stop()
    check_same_clients(r, asked, server)


@covered_by_others
def test_header_precedes_tls():
    ca = Authority()
    cert, key = ca.sign()
    with NamingServer("--tls-cert", cert, "--tls-key", key) as server:
        r, asked = ask_as_clients(server.port, "v2", "-c", 50, "--tls", "--tls-ca", ca.cert, *SHORT)
        server.stop()
    check_same_clients(r, asked, server)
    check_equal(server.result["tls_handshakes"], 50, "handshakes")


def test_connections_that_send_nothing_also_have_a_header():
    with ControlledServer() as server:
        r, asked = ask_as_clients(server.port, "v1", "-c", 20, "--prove", "no", "-t", 0.3)
        wait_for(lambda: server.stats()["accepted"] == 20, "their headers")
        server.stop()
    check_same_clients(r, asked, server)
    check_equal(server.result["bytes_received"], 0, "bytes without headers")


def test_greeting_and_messages_follow_the_header():
    with NamingServer("--push", 2000) as server:
        r, asked = ask_as_clients(server.port, "v2", "-c", 30, "--protocol", "listen", "-t", 0.5, "--drain", "200ms")
        server.stop()
    check_equal(identities(server.served()), identities(asked), "clients")
    check_equal((r.json["connections"]["proven"], r.json["push"]["damaged"]), (30, 0), "greeted, damaged")
    with stall_may_spoil():  # the server pushes for half a second
        check(r.json["push"]["measured"] > 0, "messages")


@covered_by_others
def test_client_keeps_its_name_when_it_reconnects():
    with NamingServer() as server:
        r, asked = ask_as_clients(server.port, "v1", "-c", 20, "--queries-per-conn", 2, "--close", "rst", "-r", 500,
                                  "-t", 1)
        server.stop()
    check_conservation(r)
    with stall_may_spoil():  # after one all queries are due at once
        check(r.json["connections"]["reopened"] > 0, "connections replaced")
    check_equal(set(identities(server.served())), set(identities(asked)), "clients")
    check_equal(r.json["proxy"]["headers"], r.json["connections"]["connected"], "headers")


def check_tested_once(server, n):
    """Checks for n connections that name a client and one that names none, and for no connection without a header."""
    s = server.result
    check_equal((s["proxy_headers"], s["proxy_headers_local"]), (n + 1, 1), "headers, those without a client")
    check_equal((s["accepted"], s["refused"]), (n + 1, 0), "accepted, refused")


@covered_by_others
def test_lost_server_is_retried_with_a_header():
    for version in ("v1", "v2"):
        with NamingServer("--idle-timeout", "1s") as server:
            r, _ = ask_as_clients(server.port, version, "-c", 20, "-t", 3)
            server.stop()
        check_equal(r.json["connections"]["live_at_end"], 0, "connections that the server has left")
        with stall_may_spoil():  # a header that is late by a second is refused
            check_tested_once(server, 20)


def test_addresses_of_a_host_are_tried_with_a_header():
    need_root()
    with NamingServer() as server:
        r, _ = ask_as_clients(server.port, "v2", "-c", 20, *SHORT, host="two.test", prefix=knowing("127.0.0.1 two.test", "::1 two.test"))
        server.stop()
    check_equal(r.json["connections"]["proven"], 20, "connections")
    check_tested_once(server, 20)


def test_too_few_clients_are_refused_in_one_line():
    r = run_client("-c", 64513, *naming("v1", "10.1.0.1"), "--plan", "127.0.0.1")
    check_code(r, 2)
    check_equal(r.err.count("\n"), 1, f"lines: {r.err}")
    check("--proxy-source: invalid value '10.1.0.1'" in r.err and "64513" in r.err, r.err)


# --- other clients ---

def is_reset(s):
    """Whether the server ends the connection with a reset, and sends nothing before."""
    try:
        s.recv(100)
        return False
    except ConnectionResetError:
        return True
    finally:
        s.close()


def test_server_without_the_protocol_is_named_as_the_cause():
    with Server() as server:  # which waits for the rest of a long query
        r, _ = ask_as_clients(server.port, "v1", "-c", 5, *SHORT, "--timeout", "500ms")
    check_code(r, 3)
    check_equal([d["limit"] for d in r.json["diagnosis"]], ["nobody answers"], "diagnosis")
    check("check that the server expects PROXY headers of this version, otherwise omit --proxy-protocol" in r.err, r.err)


def test_headers_without_a_client_count_as_the_peer():
    with NamingServer("--max-connections-per-source", 3) as server:
        open_sockets = []
        for header in (LOCAL, b"PROXY UNKNOWN\r\n", LOCAL):
            s = server.connect()
            s.sendall(header + b"hello")
            check_equal(s.recv(100), b"hello", "the echo")
            open_sockets.append(s)
        s = server.connect()
        s.sendall(LOCAL)
        check(is_reset(s), "the fourth of 127.0.0.1 is reset")
        server.stop()
    check_equal(server.result["refused_by"]["connections of one source"], 1, "refused")
    check_equal((server.result["accepted"], server.result["proxy_headers_local"]), (3, 4), "without a client")
    check_equal([(row["source"], row["identity"]) for row in server.served()], [("127.0.0.1", "")] * 3, "rows")


def test_header_may_arrive_byte_by_byte_followed_by_data():
    header = b"PROXY TCP4 10.9.8.7 127.0.0.1 6543 53\r\n"
    with NamingServer() as server, server.connect() as s:
        for byte in header[:-1]:
            s.send(bytes([byte]))
        s.sendall(header[-1:] + b"hello")
        check_equal(s.recv(100), b"hello", "the echo")
        s.close()
        server.stop()
    check_equal(identities(server.served()), {("10.9.8.7", 6543): 1}, "clients")
    check_equal((server.result["proxy_header_bytes"], server.result["bytes_received"]), (len(header), 5), "bytes")


def refusals(server):
    """Refused connections by reason, of a server that accepted none."""
    check_equal(server.result["accepted"], 0, "accepted")
    named = {name: n for name, n in server.result["refused_by"].items() if n > 0}
    check_equal(server.result["refused"], sum(named.values()), "refused")
    return named


def test_wrong_missing_and_late_headers_are_counted_separately():
    with NamingServer() as server:
        for text in (b"GET / HTTP/1.1\r\n", b"PROXY TCP4 1.2.3.4\r\n", SIGNATURE + b"\x31", b"PROXY " + 120 * b"x"):
            s = server.connect()
            s.sendall(text)
            check(is_reset(s), f"reset after {text}")
        for text in (b"", b"PROXY TCP4 1."):
            s = server.connect()
            s.sendall(text)
            s.shutdown(socket.SHUT_WR)
            check(is_reset(s), f"reset after {text} and the end")
        server.stop()
    with stall_may_spoil():  # of some seconds: any header is late then
        check_equal(refusals(server), {"malformed PROXY header": 4, "no PROXY header": 2}, "refused")
        check("malformed PROXY header: 4, no PROXY header: 2\n" in server.stderr(), server.stderr())
    with NamingServer("--idle-timeout", "200ms") as server:
        check(is_reset(server.connect()), "reset after silence")
        server.stop()
    check_equal(refusals(server), {"late PROXY header": 1}, "refused")
    check("late PROXY header: 1\n" in server.stderr(), server.stderr())


def test_peak_counts_connections_that_await_their_header():
    with ControlledServer() as server:
        open_sockets = [server.connect() for _ in range(3)]
        with stall_may_spoil():  # of some seconds: they are reset then
            wait_for(lambda: server.stats()["peak"] == 3, "a peak of 3")
        s = server.stats()
        check_equal((s["accepted"], s["active"]), (0, 0), "connections served")
        for client in open_sockets:
            client.close()


def test_limit_per_source_counts_named_clients():
    with ControlledServer("--max-connections-per-source", 2) as server:
        r, asked = ask_as_clients(server.port, "v2", "-c", 40, *SHORT, sources="10.1.0.0-10.1.0.19")
        check_conservation(r)
        check_equal(r.json["connections"]["proven"], 40, "two connections of each client")
        check_equal({client for client, _ in identities(asked)}, {f"10.1.0.{i}" for i in range(20)}, "clients")
        server.wait_until_idle()
        r, _ = ask_as_clients(server.port, "v2", "-c", 30, *SHORT, sources="10.1.0.0-10.1.0.9")
        server.stop()
    check_equal(r.json["connections"]["outcomes"].get("run/finished"), 20, f"outcomes: {r.json['connections']}")
    check_equal((server.result["accepted"], server.result["refused_by"]["connections of one source"]), (60, 10), "served")


if __name__ == "__main__":
    main()
