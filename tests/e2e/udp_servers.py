# SPDX-License-Identifier: MIT
"""--transport udp against real DNS servers from Debian packages: their statistics have the same counts, and answers that
do not fit are truncated."""

from helpers.dns_server import *

BIG = "big TXT " + " ".join('"' + letter * 200 + '"' for letter in "abcd") + "\n"


def grown(server, before):
    """What the server has counted since."""
    return {name: int(number - before.get(name, 0)) for name, number in server.statistics().items()}


def check_against(server, of_type, of_tcp):
    """of_type, of_tcp: the names of its counts of queries of type A, and over TCP."""
    try:
        before = server.statistics()
        r = run_client("-p", server.port, "--transport", "udp", "-c", 50, "-r", 2000, "-t", 2, "127.0.0.1")
        counts = grown(server, before)
    finally:
        server.stop()
    check_conservation(r)
    check_complete(r)
    q = r.json["queries"]
    check_equal((q["answered"], r.json["answers"]["rcodes"], r.json["answers"]["truncated"]), (q["sent"], {"NOERROR": q["sent"]}, 0),
                "answers")
    check_equal((counts[of_type], counts[of_tcp]), (q["sent"], 0), "queries that the server counted, and those over TCP")


def test_counts_agree_with_the_statistics_of_unbound():
    check_against(DnsServer("unbound", UNBOUND, "-d", "-p", "-c"), "num.query.type.A", "num.query.tcp")


def test_counts_agree_with_the_statistics_of_nsd():
    check_against(DnsServer("nsd", NSD, "-d", "-c"), "num.type.A", "num.tcp")


def test_large_answers_are_truncated_unless_edns_allows_them():
    server = DnsServer("unbound", UNBOUND, "-d", "-p", "-c", zone=ZONE + BIG)
    try:
        truncated = {}
        for edns in ([], ["--edns", 1232]):
            r = run_client("-p", server.port, "--transport", "udp", "-c", 5, "-r", 200, "-t", "500ms", "--qname", "big.example.com",
                           "--qtype", "TXT", *edns, "127.0.0.1")
            check_conservation(r)
            check_equal(r.json["queries"]["answered"], r.json["queries"]["sent"], "answered")
            truncated[bool(edns)] = r.json["answers"]["truncated"], r.json["queries"]["answered"]
    finally:
        server.stop()
    check_equal(truncated[False][0], truncated[False][1], "without EDNS, 512 bytes are too few")
    check_equal(truncated[True][0], 0, "the control: with EDNS they are enough")


if __name__ == "__main__":
    main()
