# SPDX-License-Identifier: MIT
"""DNS servers from Debian packages, started here."""

import socket

from helpers.harness import *

ZONE = """$ORIGIN example.com.
$TTL 3600
@ SOA ns hostmaster 1 3600 900 604800 300
@ NS ns
@ A 192.0.2.1
ns A 127.0.0.1
"""

# Slots are plentiful: above half of them in use unbound and nsd shorten their idle timeouts.  Their receive buffers hold
# 10,000 datagrams of UDP tests: no stall of the server drops one.
UNBOUND = """server:
  interface: {address}@{port}
  directory: "{state}"
  chroot: ""
  username: ""
  pidfile: "{state}/pid"
  use-syslog: no
  do-daemonize: no
  do-ip6: no
  num-threads: 2
  so-reuseport: yes
  so-rcvbuf: 8m
  incoming-num-tcp: 4500
  msg-buffer-size: 8192
  tcp-idle-timeout: 600000
  module-config: "iterator"
  access-control: 0.0.0.0/0 allow
  local-zone: "example.org." always_refuse
  extended-statistics: yes
auth-zone:
  name: "example.com"
  zonefile: "{state}/example.com.zone"
  for-upstream: no
remote-control:
  control-enable: yes
  control-interface: "{state}/control"
  control-use-cert: no
"""

KNOT = """server:
  listen: {address}@{port}
  rundir: "{state}"
  udp-workers: 1
  tcp-workers: 2
  background-workers: 1
  tcp-reuseport: on
  tcp-max-clients: 6000
  tcp-idle-timeout: 600
  tcp-io-timeout: 0
log:
  - target: stderr
    any: error
database:
  storage: "{state}"
template:
  - id: default
    storage: "{state}"
    zonefile-sync: -1
    zonefile-load: whole
    journal-content: none
zone:
  - domain: example.com
    file: example.com.zone
"""

NSD = """server:
  ip-address: {address}@{port}
  server-count: 2
  reuseport: yes
  receive-buffer-size: 8388608
  tcp-count: 5000
  tcp-timeout: 600
  tcp-query-count: 0
  rrl-ratelimit: 0
  username: ""
  chroot: ""
  zonesdir: "{state}"
  database: ""
  pidfile: "{state}/pid"
  xfrdfile: "{state}/xfrd.state"
  xfrdir: "{state}"
  zonelistfile: "{state}/zone.list"
  logfile: "{state}/log"
remote-control:
  control-enable: yes
  control-interface: "{state}/control"
zone:
  name: example.com
  zonefile: example.com.zone
"""


class DnsServer:
    """A server on a free port; {address}, {port} and {state}, a directory of its own, are replaced in the configuration."""

    def __init__(self, program, configuration, *arguments, prefix=(), zone=ZONE, address="127.0.0.1"):
        need_program(program)
        self.address, self.port, path = address, free_port(), temp_path("server.conf")
        self.program, self.configuration = program, path
        state = os.path.dirname(path)
        os.chmod(state, 0o755)
        write_text(path, configuration.replace("{address}", address).replace("{port}", str(self.port)).replace("{state}", state))
        write_text(os.path.join(state, "example.com.zone"), zone)
        self.log = open(os.path.join(state, "output"), "w+")
        self.process = spawn(["sh", "-c", 'ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh", *prefix, program,
                              *arguments, path], stdout=self.log, stderr=self.log, start_new_session=True)
        wait_for(self._answers, f"{program} to answer; {self.log.name}")

    def _answers(self):
        check(self.process.poll() is None, read_text(self.log.name))
        try:
            # long enough that no query is given up and counted nevertheless
            with socket.create_connection((self.address, self.port), timeout=HANGS_S) as s:
                s.sendall(query_bytes(1))
                return len(s.recv(512)) > 12
        except OSError:
            return False

    def statistics(self):
        """What the server counts itself: {name: number}."""
        said = run_command([f"{self.program}-control", "-c", self.configuration, "stats_noreset"])
        check_equal(said.returncode, 0, f"{self.program}-control: {said.stdout} {said.stderr}")
        return {name: float(number) for name, number in
                (line.split("=") for line in said.stdout.splitlines() if "num" in line)}

    def stop(self):
        stop_group(self.process)


def query_bytes(number):
    """RFC 1035: header with RD, one question: example.com A IN; behind its length (RFC 7766)."""
    return (b"\x00\x1d" + number.to_bytes(2, "big") + b"\x01\x00\x00\x01" + bytes(6) +
            b"\x07example\x03com\x00\x00\x01\x00\x01")
