# SPDX-License-Identifier: MIT
"""User memory per idle connection: what some thousands more of them add to each program."""

from harness import *
from tls import Authority

FEW, MANY, MOST_BYTES = 100, 10000, 256
# OpenSSL 3.0 takes 15.1 kB for a resting TLS 1.3 client and 13.8 kB for a server; a buffer of a record,
# were one kept, 16.6 kB.
MANY_TLS, MOST_TLS_BYTES = 3000, 20000


def resident(n_connections, of_server=(), of_client=()):
    """(client, server) with so many connections open and proven."""
    with Server(*of_server) as server:
        client = Client("-p", server.port, "-c", n_connections, "-t", 3, "--settle", "500ms",
                        "--stats-interval", "100ms", *of_client, "127.0.0.1")
        wait_for(lambda: "running" in client.stderr(), "all connections")
        sizes = rss_bytes(client.pid), rss_bytes(server.pid)
        r = client.wait()
    check_equal(r.json["connections"]["proven"], n_connections, "proven")
    return sizes


def check_growth(few, many, n_more, most_bytes):
    for name, a, b in zip(("tcpclient", "tcpserver"), few, many):
        each = (b - a) / n_more
        print(f"     {name}: {each:.0f} bytes per connection")
        check(0 < each <= most_bytes, f"{name}: {each} bytes per connection")


def test_idle_connection_costs_at_most_256_bytes_in_each_program():
    check_growth(resident(FEW), resident(MANY), MANY - FEW, MOST_BYTES)


def test_counting_sources_and_idle_time_cost_no_more():
    limits = ["--max-connections-per-source", "1M", "--idle-timeout", "1h"]
    check_growth(resident(FEW, limits), resident(MANY, limits), MANY - FEW, MOST_BYTES)


def test_resting_tls_connection_holds_no_buffer():
    ca = Authority()
    cert, key = ca.sign()
    options = ["--tls-cert", cert, "--tls-key", key], ["--tls", "--tls-ca", ca.cert]
    # as many at a time in both runs: a handshake under way does need its buffers
    few, many = resident(300, *options), resident(MANY_TLS, *options)
    check_growth(few, many, MANY_TLS - 300, MOST_TLS_BYTES)


if __name__ == "__main__":
    main()
