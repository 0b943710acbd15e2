# SPDX-License-Identifier: MIT
"""Witnesses of connections: a DNS server of our own and a relay to another one.  Both log when each connection was last
answered, who closed it first, and when."""

import socket
import threading

from helpers.harness import *


class Connection:
    """Times of time.monotonic(); None: not yet."""

    def __init__(self):
        self.n_queries = 0
        self.answered = None  # just before the last bytes were sent to the client
        self.closed = self.closed_by = None

    def note_end(self, who):
        if self.closed is None:
            self.closed, self.closed_by = time.monotonic(), who


class Witness:
    """Listens on a port of its own, with two threads per connection at most."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self.listener.getsockname()[1]
        self.connections = []
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection()
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(client, connection), daemon=True).start()

    def stop(self):
        """Returns the connections, each of which the client or the server has closed."""
        wait_for(lambda: all(c.closed is not None for c in self.connections), "all connections to be closed")
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.listener.close()
        return self.connections


def send(client, connection, data):
    connection.answered = time.monotonic()
    try:
        client.sendall(data)
    except OSError:
        connection.note_end("client")


class Relay(Witness):
    """Passes bytes between the clients and a server on another port."""

    def __init__(self, port):
        self.server_port = port
        super().__init__()

    def _serve(self, client, connection):
        with client, socket.create_connection(("127.0.0.1", self.server_port)) as server:
            back = threading.Thread(target=self._pass_back, args=(server, client, connection), daemon=True)
            back.start()
            with contextlib.suppress(OSError):
                while data := client.recv(65536):
                    server.sendall(data)
            connection.note_end("client")
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            back.join(10)

    def _pass_back(self, server, client, connection):
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                send(client, connection, data)
        connection.note_end("server")
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


# An OPT record without options but for the length of all of them; the option; RFC 6891, RFC 7828.
OPT, KEEPALIVE = bytes([0, 0, 41, 4, 208, 0, 0, 0, 0]), bytes([0, 11])


class KeepaliveServer(Witness):
    """Answers queries. An answer to a query with edns-tcp-keepalive has that option, too: timeout(number of the query) returns its
    value in units of 100 ms; None: no option; bytes: the content of the option."""

    def __init__(self, timeout, delay_s=0):
        self.timeout, self.delay_s = timeout, delay_s
        self.lock, self.n_queries, self.n_asked = threading.Lock(), 0, 0
        super().__init__()

    def _serve(self, client, connection):
        buffer = b""
        with client:
            with contextlib.suppress(OSError):
                while data := client.recv(65536):
                    buffer += data
                    while len(buffer) >= 2 and len(buffer) >= (n := 2 + int.from_bytes(buffer[:2], "big")):
                        query, buffer = buffer[2:n], buffer[n:]
                        self._take(client, connection, query)
            connection.note_end("client")

    def _take(self, client, connection, query):
        connection.n_queries += 1
        with self.lock:
            number = self.n_queries
            self.n_queries += 1
            self.n_asked += query.endswith(KEEPALIVE + bytes(2))
        answer = self._answer(query, self.timeout(number))
        if self.delay_s > 0:
            threading.Timer(self.delay_s, send, (client, connection, answer)).start()
        else:
            send(client, connection, answer)

    @staticmethod
    def _answer(query, timeout):
        """A header with the question's id, and the OPT record."""
        option = b""
        if timeout is not None and query.endswith(KEEPALIVE + bytes(2)):
            content = timeout if isinstance(timeout, bytes) else timeout.to_bytes(2, "big")
            option = KEEPALIVE + len(content).to_bytes(2, "big") + content
        message = query[:2] + b"\x81\x80" + bytes(6) + b"\x00\x01" + OPT + len(option).to_bytes(2, "big") + option
        return len(message).to_bytes(2, "big") + message
