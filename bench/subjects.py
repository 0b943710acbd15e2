# SPDX-License-Identifier: MIT
"""The servers whose capacity is searched: DNS servers of Debian packages and tcpserver, with one worker each."""

import shutil

import usage

from helpers.authority import Authority
from helpers.dns_server import *

# Slots per connection of a search: unbound and nsd shorten their timeouts when more than half of the slots are in use.
SLOTS = 2

BIND = """options {
  directory "{state}";
  pid-file "{state}/pid";
  session-keyfile "{state}/session.key";
  listen-on port {port} { {address}; };
  listen-on-v6 { none; };
  tcp-clients {slots};
  tcp-listen-queue 1000;
  tcp-idle-timeout 1200;
  tcp-keepalive-timeout 1200;
  recursion no;
  dnssec-validation no;
  max-cache-size 16M;
};
controls { };
zone "example.com" { type primary; file "{state}/example.com.zone"; };
"""

# Added to the configurations of these servers: TLS on a separate port.
TLS = {
    "unbound": ("server:\n", """server:
  interface: {address}@{tls_port}
  tls-port: {tls_port}
  tls-service-pem: "{cert}"
  tls-service-key: "{key}"
"""),
    "nsd": ("server:\n", """server:
  ip-address: {address}@{tls_port}
  tls-port: {tls_port}
  tls-service-pem: "{cert}"
  tls-service-key: "{key}"
"""),
    "bind": ("options {\n", """tls local { cert-file "{cert}"; key-file "{key}"; };
options {
  listen-on port {tls_port} tls local { {address}; };
"""),
}


def grown(configuration, slots):
    """The configurations of the tests, with one worker, as for one CPU, and with room for more connections."""
    for old, new in (("incoming-num-tcp: 4500", f"incoming-num-tcp: {slots}"), ("tcp-max-clients: 6000", f"tcp-max-clients: {slots}"),
                     ("tcp-count: 5000", f"tcp-count: {slots}"), ("msg-buffer-size: 8192", "msg-buffer-size: 4096"),
                     ("num-threads: 2", "num-threads: 1\n  outgoing-range: 64\n  num-queries-per-thread: 32"),
                     ("tcp-workers: 2", "tcp-workers: 1"), ("server-count: 2", "server-count: 1"),
                     ("{slots}", str(slots))):
        configuration = configuration.replace(old, new)
    return configuration


PROGRAMS = {"unbound": "unbound", "knot": "knotd", "nsd": "nsd", "bind": "named"}
CONFIGURATIONS = {
    "unbound": (UNBOUND, "-d", "-p", "-c"),
    "knot": (KNOT, "-c"),
    "nsd": (NSD, "-d", "-c"),
    "bind": (BIND, "-g", "-c"),
}


def start(name, transport, slots, pin, address="127.0.0.1"):
    """Returns the server, which has this address, and the port for this transport."""
    if transport == "tls":
        cert, key = Authority().sign()
    if name == "tcpserver":
        server = Server("--protocol", "echo", *(["--tls-cert", cert, "--tls-key", key] if transport == "tls" else []), prefix=pin)
        return server, server.port
    configuration, *arguments = CONFIGURATIONS[name]
    tls_port = free_port()
    if transport == "tls":
        head, with_tls = TLS[name]
        configuration = configuration.replace(head, with_tls, 1)
        for old, new in (("{tls_port}", str(tls_port)), ("{cert}", cert), ("{key}", key)):
            configuration = configuration.replace(old, new)
    server = DnsServer(PROGRAMS[name], grown(configuration, slots), *arguments, prefix=pin, address=address)
    if pin:  # again: knotd chooses the CPUs of its workers itself
        subprocess.run(["taskset", "--all-tasks", "--cpu-list", "--pid", pin[-1], str(server.process.pid)], stdout=subprocess.DEVNULL,
                       check=True)
    return server, tls_port if transport == "tls" else server.port


# How each transport is requested of tcpclient; knot listens with a backlog of 10.
OPTIONS = {
    "udp": ["--transport", "udp"],
    "tcp": ["--close", "rst", "--quickack", "--connect-window", "8"],
    "tls": ["--close", "rst", "--quickack", "--connect-window", "8", "--tls", "--tls-insecure"],
}


LACK = {("knot", "tls"), ("tcpserver", "udp")}


def is_installed(name):
    return shutil.which(PROGRAMS[name]) is not None


def server_names(text):
    """A list of them, as an argument."""
    names = usage.names([*PROGRAMS, "tcpserver"])(text)
    for name in names:
        if name in PROGRAMS and not is_installed(name):
            usage.refuse(name, f"one that is installed: cannot find {PROGRAMS[name]}")
    return names
