# SPDX-License-Identifier: MIT
"""Two network namespaces and a cable between them, which can lose packets."""

from helpers.namespace import *

CLIENT_IP, SERVER_IP = "10.98.0.1", "10.98.0.2"
BURST_S = 0.01


class Cable:
    """A veth pair between two namespaces, client and server."""

    def __init__(self):
        self.client = Namespace("c")
        try:
            self.server = Namespace("s")
        except BaseException:
            self.client.__exit__()
            raise

    def __enter__(self):
        try:
            self._connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _connect(self):
        self.client.run_outside("ip", "link", "add", "wire", "netns", self.client.name, "type", "veth",
                                "peer", "name", "wire", "netns", self.server.name)
        for end, address in ((self.client, CLIENT_IP), (self.server, SERVER_IP)):
            end.run("ip", "addr", "add", f"{address}/24", "dev", "wire")
            end.run("ip", "link", "set", "wire", "up")

    def __exit__(self, *_):
        for end in (self.client, self.server):
            end.__exit__()

    def lose(self, percent):
        """Each end drops this share of the packets that arrive at it."""
        for end in (self.client, self.server):
            end.drop(f"iifname wire numgen random mod 100 < {percent}")

    def limit(self, per_s):
        """The server gets no more packets with data per second: a token bucket."""
        self.server.drop(f"tcp flags & psh == psh limit rate over {per_s}/second burst {int(per_s * BURST_S)} packets")

    def lost(self):
        """(at the client, at the server), as nftables counted."""
        return [end.dropped() for end in (self.client, self.server)]

    def load(self, server, *arguments):
        client = Client("--stats-interval", "200ms", "--close", "rst", *arguments, f"{SERVER_IP}:{server.port}",
                        prefix=self.client.prefix)
        wait_until_running(client)
        return client
