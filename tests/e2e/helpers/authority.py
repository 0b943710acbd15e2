# SPDX-License-Identifier: MIT
"""Certificates of our own, and programs that use them."""

import socket
import ssl
import threading

from helpers.harness import *

FEW = ["-r", 200, "-t", 0.3]


# --- certificates ---

def openssl(*arguments):
    need_program("openssl")
    r = run_command(["openssl", *arguments])
    check_equal(r.returncode, 0, f"openssl {arguments}: {r.stderr}")
    return r.stdout


class Authority:
    """A CA of our own and the certificates it signs, as PEM files."""

    def __init__(self):
        self.directory = temp_directory()
        os.chmod(self.directory, 0o755)
        self.n_signed = 0
        self.cert, self.key = self._path("ca.pem"), self._path("ca.key")
        openssl("req", "-x509", "-subj", "/CN=Authority", "-days", "9", "-out", self.cert,
                *self._new_key(self.key))

    def _path(self, name):
        return os.path.join(self.directory, name)

    @staticmethod
    def _new_key(path):
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path

    def sign(self, names="DNS:localhost,IP:127.0.0.1", days=9):
        """(certificate, key) for these names; days < 0: expired that long ago."""
        self.n_signed += 1
        cert, key, request, extensions = (self._path(f"{self.n_signed}.{kind}")
                                          for kind in ("pem", "key", "csr", "ext"))
        write_text(extensions, f"subjectAltName={names}\n")
        openssl("req", "-new", "-subj", "/CN=server", "-out", request, *self._new_key(key))
        openssl("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key, "-days", str(days),
                "-set_serial", str(self.n_signed), "-extfile", extensions, "-out", cert)
        os.chmod(key, 0o644)
        return cert, key


def serve_with(pair, *arguments, **options):
    return Server("--tls-cert", pair[0], "--tls-key", pair[1], *arguments, **options)


def ask(authority, port, *arguments, **options):
    return run_client("--tls", "--tls-ca", authority.cert, *arguments, f"127.0.0.1:{port}", **options)


def check_all_refused(result, outcome):
    check_conservation(result)
    check_equal(result.json["connections"]["outcomes"], {outcome: result.json["connections"]["asked"]},
                f"outcomes; stderr: {result.err}")
    check_equal(result.json["tls"]["handshakes"], 0, "handshakes")
    check_code(result, 3)


def python_client(ca, port):
    context = ssl.create_default_context(cafile=ca.cert)
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=HANGS_S),
                               server_hostname="localhost")


class PythonServer:
    """Accepts one connection after the other and has `serve` do something with each."""

    def __init__(self, serve, context=None):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.seen, self.context, self.serve = [], context, serve
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(s,), daemon=True).start()

    def _one(self, s):
        try:
            with self.context.wrap_socket(s, server_side=True) if self.context else s as stream:
                self.serve(self, stream)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread: the next server may have the descriptor
        self.listener.close()


def never_answer(_, stream):
    while stream.recv(4096):
        pass
