# SPDX-License-Identifier: MIT
"""User memory per idle connection: what 9,900 more of them add to each program."""

from harness import *

FEW, MANY, MOST_BYTES = 100, 10000, 256


def resident(n_connections):
    """(client, server) with so many connections open and proven."""
    with Server() as server:
        client = Client("-p", server.port, "-c", n_connections, "-t", 3, "--settle", "500ms",
                        "--stats-interval", "100ms", "127.0.0.1")
        wait_for(lambda: "running" in client.stderr(), "all connections")
        sizes = rss_bytes(client.pid), rss_bytes(server.pid)
        r = client.wait()
    check_equal(r.json["connections"]["proven"], n_connections, "proven")
    return sizes


def test_idle_connection_costs_at_most_256_bytes_in_each_program():
    few, many = resident(FEW), resident(MANY)
    for name, a, b in zip(("tcpclient", "tcpserver"), few, many):
        each = (b - a) / (MANY - FEW)
        print(f"     {name}: {each:.0f} bytes per connection")
        check(0 < each <= MOST_BYTES, f"{name}: {each} bytes per connection")


if __name__ == "__main__":
    main()
