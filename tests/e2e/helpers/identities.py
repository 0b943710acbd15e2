# SPDX-License-Identifier: MIT
"""Clients named by PROXY headers: what both programs report of them."""

from collections import Counter

from helpers.control_api import *

SOURCES = "10.1.0.0-10.1.0.39"


def naming(version, sources=SOURCES):
    return ["--proxy-protocol", version, "--proxy-source", sources]


def identities(rows):
    """How many rows name each client."""
    return Counter((row["identity"], int(row["identity_port"])) for row in rows if row["identity"])


class NamingServer(Server):
    """A tcpserver that requires PROXY headers and lists its connections."""

    def __init__(self, *arguments, **options):
        self.listing = temp_path("served.csv")
        super().__init__("--proxy-protocol", "--connections-out", self.listing, *arguments, **options)

    def served(self):
        """The connections that it served. Call it after its end."""
        return read_rows(self.listing)


class ControlledServer(NamingServer):
    def __init__(self, *arguments, **options):
        self.control = control_path()
        super().__init__("--control", self.control, *arguments, **options)

    def stats(self):
        return stats(self.control)

    def wait_until_idle(self):
        wait_for(lambda: self.stats()["active"] == 0, "the last connection to end")


def ask_as_clients(port, version, *arguments, sources=SOURCES, host="127.0.0.1", **options):
    """A run, and its rows of connections."""
    path = temp_path("connections.csv")
    r = run_client("-p", port, *naming(version, sources), "--connections-out", path, *arguments, host, **options)
    return r, read_rows(path)


def check_same_clients(r, asked, server):
    """The server, stopped before, was told of exactly those clients that the connections spoke for."""
    check_conservation(r)
    check_complete(r)
    j, s = r.json, server.result
    check_equal(identities(server.served()), identities(asked), "clients")
    check_equal((j["proxy"]["headers"], s["accepted"], s["proxy_headers"], s["refused"]),
                (j["connections"]["connected"],) * 3 + (0,), "headers and connections")
    check_equal(s["bytes_received"], j["resources"]["bytes_sent"], "bytes without headers")
    if j["tls"] is None:  # else the server's last bytes are its close_notify
        check_equal(s["bytes_sent"], j["resources"]["bytes_received"], "bytes of the answers")
