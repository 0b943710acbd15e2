# SPDX-License-Identifier: MIT
"""Real DNS servers from Debian packages, started here on loopback: nothing is lost, each answer answers its query, the round
trips match the wire; the counts agree with the servers' own statistics; the bytes of a query match kdig's."""

import socket
import threading
from collections import Counter

from helpers.capture import *
from helpers.dns_server import *

CONNECTIONS, RATE_QPS, SECONDS = 2000, 5000, 3


def check_answer(message):
    check_equal(message[2] & 0x80, 0x80, "QR: it is an answer")
    check_equal(message[3] & 15, 0, "RCODE")
    check(int.from_bytes(message[6:8], "big") >= 1, "answers in it")
    check(bytes([192, 0, 2, 1]) in message, "the address")


# knot listens with a backlog of 10: connections beyond it, while its thread does not run, stay half-open.
WINDOW = "--connect-window", 8


def run_against(server, first_port):
    try:
        capture = Capture(server.port)
        r = run_client("-p", server.port, "-c", CONNECTIONS, "-r", RATE_QPS, "-t", SECONDS,
                       "--quickack", *WINDOW, "--source", "127.0.0.1", "--sport",
                       f"{first_port}-{first_port + CONNECTIONS - 1}", "-R", "127.0.0.1")
        check_conservation(r)
        c, q = r.json["connections"], r.json["queries"]
        check_equal((c["proven"], c["live_at_end"]), (CONNECTIONS, CONNECTIONS), "connections")
        check_equal(q["answered"], q["scheduled"], "nothing lost")
        round_trips, last_answers = capture.stop()
    finally:
        server.stop()
    differences = differences_us(r, round_trips)
    print(f"     {len(differences)} matched; tool - wire: min {differences[0]:.1f} us, p50 "
          f"{at_rank(differences, 0.5):.1f} us, p99 {at_rank(differences, 0.99):.1f} us; response "
          f"p50 {r.json['latency_ns']['response']['p50'] / 1000:.0f} us, verdict {r.json['verdict']}")
    check(differences[0] >= 0, f"a query was faster than on the wire: {differences[0]} us")
    for message in last_answers.values():
        check_answer(message)


@measures_time
def test_unbound_answers_everything():
    run_against(DnsServer("unbound", UNBOUND, "-d", "-p", "-c"), 20000)


@measures_time
def test_knot_answers_everything():
    run_against(DnsServer("knotd", KNOT, "-c"), 22000)


@measures_time
def test_nsd_answers_everything():
    run_against(DnsServer("nsd", NSD, "-d", "-c"), 24000)


# --- a file of questions against a server's own statistics ---

N_LINES, N_PROOFS, ASKED_QPS, ASKED_S = 20000, 100, 10000, 3
TYPES = ("A", "AAAA", "MX", "TXT", "SRV", "PTR", "SOA")


def line(i):
    """(name, type, response code): six names in ten exist, three do not, one belongs to another zone."""
    kind = TYPES[i % len(TYPES)]
    if i % 10 == 9:
        return f"host{i}.example.org", kind, "REFUSED"
    return (f"host{i}.example.com", kind, "NOERROR") if i % 10 < 6 else (f"no{i}.example.com", kind, "NXDOMAIN")


def zone_of_lines():
    return ZONE + "".join(f"host{i} A 192.0.2.2\n" for i in range(N_LINES) if i % 10 < 6)


def expected_counts(lines):
    """({type: count}, {response code: count})."""
    lines = list(lines)
    return Counter(kind for _, kind, _ in lines), Counter(rcode for _, _, rcode in lines)


def counts_of_unbound(before, after):
    """The same since the first statistics, and the queries with EDNS."""
    grown = {name: int(number - before.get(name, 0)) for name, number in after.items()}

    def those(prefix):  # nodata is no code but a kind of NOERROR
        return Counter({name.removeprefix(prefix): n for name, n in grown.items()
                        if name.startswith(prefix) and n > 0 and not name.endswith(".nodata")})

    return those("num.query.type."), those("num.answer.rcode."), grown["num.query.edns.present"]


def run_file_against_unbound():
    path = temp_path("queries")
    with open(path, "w") as f:
        f.writelines("{} {}\n".format(*line(i)) for i in range(N_LINES))
    server = DnsServer("unbound", UNBOUND, "-d", "-p", "-c", zone=zone_of_lines())
    try:
        before = server.statistics()
        r = run_client("-p", server.port, "-c", N_PROOFS, "-r", ASKED_QPS, "-t", ASKED_S, "--arrival", "constant",
                       "--threads", 2, "--query-file", path, "--dnssec", "--quickack", "127.0.0.1")
        after = server.statistics()
    finally:
        server.stop()
    check_conservation(r)
    check_equal((r.json["queries"]["scheduled"], r.json["queries"]["answered"]), (ASKED_QPS * ASKED_S,) * 2,
                "queries and answers")
    return r, counts_of_unbound(before, after)


@measures_time
def test_query_file_agrees_with_the_statistics_of_unbound():
    r, (types, rcodes, with_edns) = run_file_against_unbound()
    print(f"     {r.json['answers']}, verdict {r.json['verdict']}, response p50 "
          f"{r.json['latency_ns']['response']['p50'] / 1000:.0f} us")
    asked = [i % N_LINES for i in range(ASKED_QPS * ASKED_S)]  # in the order of the file, by both threads
    _, wanted_rcodes = expected_counts(map(line, asked))
    check_equal(r.json["answers"], {"rcodes": wanted_rcodes, "echoed": 0, "truncated": 0},
                "our response codes, by the file")
    proofs = [0] * N_PROOFS
    wanted_types, wanted_rcodes = expected_counts(map(line, asked + proofs))
    check_equal(types, wanted_types, "types, by the server")
    check_equal(rcodes, wanted_rcodes, "response codes, by the server")
    check_equal(with_edns, len(asked) + N_PROOFS, "queries with EDNS, by the server")
    # controls: one more query, or each line shifted by one
    for other in (asked + proofs + [0], [i + 1 for i in asked] + proofs):
        check(expected_counts(map(line, other)) != (types, rcodes), "the control: other lines, other counts")


# --- the bytes of a query ---

def first_message(run):
    """The first message that a client sends, if it is sent in one piece."""
    received = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(HANGS_S)

        def serve():
            s, _ = listener.accept()
            with s:
                s.settimeout(HANGS_S)
                received.append(s.recv(512))

        thread = threading.Thread(target=serve)
        thread.start()
        run(listener.getsockname()[1])
        thread.join()
    check_equal(len(received), 1, "messages")
    return received[0]


def kdigs_message(*arguments):
    return first_message(lambda port: subprocess.run(
        ["kdig", "@127.0.0.1", "-p", str(port), "+tcp", "+noadflag", "+retry=0", "+time=10", *arguments],
        capture_output=True, timeout=HANGS_S))


def our_message(*options):
    return first_message(lambda port: run_client("-c", 1, "-t", 0.2, "--timeout", "1s", *options,
                                                 f"127.0.0.1:{port}"))


def without_id(message):
    return message[:2] + message[4:]


def test_queries_equal_those_of_kdig():
    need_program("kdig")
    kdig, ours = kdigs_message("+noedns", "example.com", "A"), our_message()
    check_equal(len(ours), 31, "bytes")
    check_equal(without_id(ours), without_id(kdig), "all but the id")
    check_equal(ours, query_bytes(0), "and what the RFC says")


def test_names_types_and_edns_equal_those_of_kdig():
    need_program("kdig")
    seen = set()
    for kdigs, options in [
            (["+noedns", "-t", "AAAA", "www.example.org."], ["--qname", "www.example.org", "--qtype", "AAAA"]),
            (["+noedns", "-t", "HTTPS", "example.com"], ["--qtype", "https"]),
            (["+noedns", "-t", "TYPE65280", "example.com"], ["--qtype", "TYPE65280"]),
            (["+noedns", "-t", "NS", "."], ["--qname", ".", "--qtype", "NS"]),
            (["+noedns", "-t", "TXT", "a\\.b\\007.example"], ["--qname", "a\\.b\\007.example", "--qtype", "TXT"]),
            (["+bufsize=4096", "example.com"], ["--edns", 4096]),
            (["+bufsize=1232", "+dnssec", "example.com"], ["--dnssec"]),
            (["+bufsize=512", "+dnssec", "-t", "MX", "example.com"],
             ["--edns", 512, "--dnssec", "--qtype", "MX"]),
            (["+bufsize=1232", "+alignment=128", "example.com"], ["--padding", 128]),
            (["+bufsize=4096", "+dnssec", "+alignment=44", "example.com"],
             ["--edns", 4096, "--dnssec", "--padding", 44]),
    ]:
        ours = our_message(*options)
        check_equal(without_id(ours).hex(), without_id(kdigs_message(*kdigs)).hex(), f"{options}, all but the id")
        seen.add(ours)
    check_equal(len(seen), 10, "each of them different")


if __name__ == "__main__":
    main()
