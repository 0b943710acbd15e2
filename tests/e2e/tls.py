# SPDX-License-Identifier: MIT
"""TLS: both programs with each other, resumption, certificates that must be rejected, real DNS servers."""

import ssl

from helpers.authority import *
from helpers.dns_server import NSD, UNBOUND, DnsServer, query_bytes


# --- with each other ---

@covered_by_others
def test_everything_is_answered_and_counted_on_both_sides():
    ca = Authority()
    with serve_with(ca.sign()) as server:
        r = ask(ca, server.port, "-c", 200, "-r", 1000, "-t", 1, "-R", "--kernel-ts")
        server.stop()
    check_conservation(r)
    check_complete(r)
    j = r.json
    check_equal((j["connections"]["proven"], j["tls"]["handshakes"]), (200, 200), "connections")
    check_equal((j["tls"]["version"], j["queries"]["answered"]), ("TLSv1.3", j["queries"]["scheduled"]), "TLS")
    check_equal(j["latency_ns"]["handshake"]["count"], 200, "handshake times")
    check_equal(j["latency_ns"]["net"]["count"], j["queries"]["answered"], "stamps of the kernel")
    check_equal(sum(row["type"] == "A" for row in r.rows()), j["queries"]["answered"], "rows")
    s = server.result
    check_equal((s["tls_handshakes"], s["tls_resumed"]), (200, j["tls"]["resumed"]), "the server's counts")
    check_equal(s["bytes_received"], j["resources"]["bytes_sent"], "bytes of the sockets")
    check_equal(s["closed"], {"receive/closed by peer": 200}, "closed")


def test_plain_run_reports_no_tls():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 2, *FEW, "127.0.0.1")
        server.stop()
    check_equal((r.json["tls"], r.json["latency_ns"]["handshake"]["count"]), (None, 0), "TLS")
    check_equal(server.result["tls_handshakes"], 0, "handshakes")


def test_other_protocols_and_the_closed_loop_work_over_tls():
    ca = Authority()
    pair = ca.sign()
    for name, arguments in [("ping", ["-i", "20ms", "--loop", "closed"]),
                            ("echo", ["--size", "64KiB", "-r", 200])]:
        with serve_with(pair, "--protocol", name) as server:
            r = ask(ca, server.port, "-c", 20, "-t", 1, "--protocol", name, *arguments)
        check_conservation(r)
        check_complete(r)
        with stall_may_spoil():
            check(r.json["queries"]["answered"] > 100, f"{name}: {r.json['queries']}")


def test_rows_of_connections_include_the_handshakes():
    ca, rows = Authority(), temp_path("connections.csv")
    with serve_with(ca.sign()) as server:
        r = ask(ca, server.port, "-c", 10, "--threads", 1, "--connect-window", 1, "-t", 0.2, "-n", 1000,
                "--connect-arrival", "constant", "--connections-out", rows)
    rows = read_rows(rows)
    check_equal([row["resumed"] for row in rows], ["0"] + 9 * ["1"], "resumed")
    check(all(float(row["handshake_us"]) > 10 for row in rows), f"times: {rows}")
    for column, name in (("handshake_us", "handshake"), ("due_to_secured_us", "due_to_secured")):
        times_ns = [round(float(row[column]) * 1000) for row in rows]
        times = r.json["latency_ns"][name]
        check_equal((times["min"], times["max"]), (min(times_ns), max(times_ns)), f"{name}: result and rows")


def test_connections_after_the_first_resume_unless_told_not_to():
    ca = Authority()
    with serve_with(ca.sign()) as server:
        for version in ("1.3", "1.2"):
            only = ["--tls-ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256"] if version == "1.2" else []
            for choice, n_resumed in (("yes", 19), ("no", 0)):
                r = ask(ca, server.port, "-c", 20, "--threads", 1, "--connect-window", 1, "--tls-resume",
                        choice, *only, *FEW)
                check_complete(r)
                check_equal((r.json["tls"]["version"], r.json["tls"]["resumed"]),
                            (f"TLSv{version}", n_resumed), f"resumed with {choice}")
        server.stop()
    check_equal((server.result["tls_handshakes"], server.result["tls_resumed"]), (80, 38), "the server's")


@covered_by_others
def test_a_connection_per_query_resumes():
    ca = Authority()
    for close in ("fin", "rst"):
        with serve_with(ca.sign()) as server:
            r = ask(ca, server.port, "-c", 5, "--threads", 1, "--queries-per-conn", 1, "--close", close, "-r", 200,
                    "-t", 1)
            server.stop()
        check_conservation(r)
        check_equal(r.json["queries"]["answered"], r.json["queries"]["sent"], "nothing lost")
        tls, n = r.json["tls"], r.json["queries"]["answered"]
        check(tls["handshakes"] >= n, f"a handshake per query: {tls}, {n} answered")
        with stall_may_spoil():
            check(n > 20, f"{n} answered")
        check_between(tls["resumed"], tls["handshakes"] - 10, tls["handshakes"] - 1, f"resumed with {close}")
        check_between(server.result["tls_resumed"] - tls["resumed"], 0, 5, "the server's count")


# --- certificates, versions, ciphers ---

def test_invalid_certificates_are_refused_by_name():
    ca, other = Authority(), Authority()
    for pair, outcome, text in [
            (ca.sign(days=-1), "tls/certificate expired", "certificate has expired"),
            (ca.sign("DNS:elsewhere.example"), "tls/certificate of another name", "IP address mismatch"),
            (other.sign(), "tls/certificate not trusted", "unable to get local issuer")]:
        with serve_with(pair) as server:
            r = ask(ca, server.port, "-c", 5, *FEW)
            insecure = run_client("--tls", "--tls-insecure", "-c", 5, *FEW, f"127.0.0.1:{server.port}")
            server.stop()
        check_all_refused(r, outcome)
        check(text in r.err, f"'{text}' in: {r.err}")
        check_complete(insecure)
        check_equal(insecure.json["connections"]["proven"], 5, f"{outcome}, insecure")
        check_equal(server.result["closed"].get("tls/tls alert"), 5, f"{server.result['closed']}")


@covered_by_others
def test_system_authorities_decide_without_a_ca_file():
    with serve_with(Authority().sign()) as server:
        r = run_client("--quiet", "--tls", "-c", 5, *FEW, f"127.0.0.1:{server.port}")
    check_all_refused(r, "tls/certificate not trusted")
    check("tcpclient: 5 connections: tls: certificate not trusted: use --tls-ca " in r.err, f"said with --quiet: {r.err}")


@covered_by_others
def test_certificate_must_have_the_requested_name():
    ca = Authority()
    with serve_with(ca.sign("DNS:dot.example")) as server:
        right = ask(ca, server.port, "--tls-name", "dot.example", *FEW)
        wrong = ask(ca, server.port, "--tls-name", "dot.example.net", *FEW)
    check_complete(right)
    check_all_refused(wrong, "tls/certificate of another name")


def test_server_name_and_protocol_are_offered():
    ca = Authority()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*ca.sign("DNS:dot.example"))
    context.set_alpn_protocols(["dot"])
    names = []
    context.sni_callback = lambda stream, name, _: names.append(name)

    def serve(server, stream):
        server.seen.append((stream.selected_alpn_protocol(), stream.recv(512)))

    with PythonServer(serve, context) as server:
        ask(ca, server.port, "--tls-name", "dot.example", "-t", 0.2, "--timeout", "300ms")
        wait_for(lambda: server.seen, "the first query")
        need_program("kdig")
        subprocess.run(["kdig", "@127.0.0.1", "-p", str(server.port), "+tls-ca=" + ca.cert,
                        "+tls-hostname=dot.example", "+noedns", "+noadflag", "+retry=0", "+time=20", "example.com",
                        "A"], capture_output=True, timeout=HANGS_S)
        wait_for(lambda: len(server.seen) > 1, "kdig's query")
    check_equal(names[0], "dot.example", "SNI")
    check_equal(server.seen[0], ("dot", query_bytes(0)), "ALPN and the query")
    kdig = server.seen[1][1]
    check_equal(kdig[:2] + kdig[4:], query_bytes(0)[:2] + query_bytes(0)[4:], "kdig's, but for the id")


def openssl_server(pair, *arguments):
    need_program("openssl")
    port = free_port()
    process = spawn(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", pair[0], "-key", pair[1],
                     "-quiet", *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL)

    wait_for(lambda: listens(port), "openssl s_server")
    return process, port


@covered_by_others
def test_minimum_version_is_enforced():
    ca = Authority()
    _, port = openssl_server(ca.sign(), "-tls1_2")
    allowed = ask(ca, port, "--prove", "no", "-t", 0.2)
    refused = ask(ca, port, "--tls-min", "1.3", *FEW)
    check_equal((allowed.json["tls"]["handshakes"], allowed.json["tls"]["version"]), (1, "TLSv1.2"), "1.2")
    check_equal(allowed.json["connections"]["live_at_end"], 1, "live")
    check_all_refused(refused, "tls/no common version or cipher")


def test_minimum_version_of_the_server_is_enforced():
    ca = Authority()
    with serve_with(ca.sign(), "--tls-min", "1.3") as server:
        refused = ask(ca, server.port, "-c", 5, "--tls-ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256", *FEW)
        allowed = ask(ca, server.port, "--tls-ciphers",
                      "ECDHE-ECDSA-AES128-GCM-SHA256:TLS_CHACHA20_POLY1305_SHA256", *FEW)
        server.stop()
    check_all_refused(refused, "tls/no common version or cipher")
    check_equal(server.result["closed"].get("tls/no common version or cipher"), 5,
                f"{server.result['closed']}")
    check_complete(allowed)
    check_equal((allowed.json["tls"]["version"], allowed.json["tls"]["cipher"]),
                ("TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256"), "what was offered")


# --- real DNS servers ---

# Each connection has a period of its own: nsd 4.6 leaves a second query in one record unanswered until
# the next record comes.
def dns_over_tls(program, configuration, extra, *arguments):
    need_program(program, "kdig")
    ca, port = Authority(), free_port()
    cert, key = ca.sign()
    tls = (f"  {extra}: 127.0.0.1@{port}\n  tls-port: {port}\n  tls-service-key: {key}\n"
           f"  tls-service-pem: {cert}\n")
    server = DnsServer(program, configuration.replace("server:\n", "server:\n" + tls, 1), *arguments)
    try:
        kdig = run_command(["kdig", "@127.0.0.1", "-p", str(port), f"+tls-ca={ca.cert}",
                            "+tls-hostname=localhost", "+short", "example.com", "A"])
        n = 100 if SANITIZED else 1000
        r = ask(ca, port, "-c", n, "-i", "500ms", "-t", 2, "--timeout", "5s", "--quickack")
        wrong = ask(ca, port, "--tls-name", "elsewhere.example", *FEW)
    finally:
        server.stop()
    check_equal(kdig.stdout, "192.0.2.1\n", f"kdig's answer; {kdig.stderr}")
    check_conservation(r)
    j = r.json
    with stall_may_spoil():  # of half a second: the last two queries of a connection in one record
        check_equal(j["queries"]["answered"], j["queries"]["scheduled"], "nothing lost")
    check_complete(r)
    check_equal((j["connections"]["proven"], j["tls"]["handshakes"], j["tls"]["version"]), (n, n, "TLSv1.3"),
                "connections")
    check_all_refused(wrong, "tls/certificate of another name")


@covered_by_others
def test_unbound_answers_over_tls():
    dns_over_tls("unbound", UNBOUND, "interface", "-d", "-p", "-c")


def test_nsd_answers_over_tls():
    dns_over_tls("nsd", NSD, "ip-address", "-d", "-c")


if __name__ == "__main__":
    main()
