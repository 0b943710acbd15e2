# SPDX-License-Identifier: MIT
"""edns-tcp-keepalive (RFC 7828) of real DNS servers, started here on loopback: clients on demand close when told, and as
many connections and queries are counted as by the servers and the kernel."""

import urllib.request

from helpers.dns_server import *
from helpers.witness import *

CLIENTS, TOLD_S = 10, 1

BIND = """options {
  directory "{state}";
  pid-file "{state}/pid";
  session-keyfile none; lock-file none; managed-keys-directory "{state}";
  listen-on port {port} { 127.0.0.1; };
  listen-on-v6 { none; };
  tcp-clients 1000;
  tcp-idle-timeout 300;
  tcp-keepalive-timeout 300;
  tcp-advertised-timeout 10;
  recursion no; dnssec-validation no; empty-zones-enable no;
};
controls { };
statistics-channels { inet 127.0.0.1 port {control} allow { 127.0.0.1; }; };
zone "example.com" { type primary; file "{state}/example.com.zone"; check-integrity no; };
"""


def unbounds_tcp_queries(server):
    return int(server.statistics()["num.query.tcp"])


def bind_counts(server):
    """(requests over TCP, connections accepted, among them the one that asks)."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.control}/json/v1", timeout=HANGS_S) as f:
        statistics = json.load(f)
    return statistics["nsstats"].get("ReqTCP", 0), statistics["sockstats"]["TCP4Accept"]


def binds_after_the_first_query(server):
    """The query that showed that it answers has been counted."""
    return wait_for(lambda: (counts := bind_counts(server))[0] > 0 and counts, "the first query to be counted")


def knots_tcp_queries(server):
    said = run_command(["knotc", "-c", server.configuration, "stats", "mod-stats.request-protocol"])
    check_equal(said.returncode, 0, f"knotc: {said.stdout} {said.stderr}")
    return sum(int(n) for n in re.findall(r"\[tcp4\] = (\d+)", said.stdout))


def passive_opens():
    """Connections accepted in this network namespace."""
    with open("/proc/net/snmp") as f:
        names, values = [line.split() for line in f if line.startswith("Tcp:")]
    return int(values[names.index("PassiveOpens")])


def run_against(server, *arguments):
    """Through a relay.  Returns the result and the relay's connections."""
    relay, before = Relay(server.port), passive_opens()
    r = run_client("-p", relay.port, "-c", CLIENTS, "-r", 15, "-t", 3, "--on-demand", "--keepalive",
                   "--stats-interval", 0, "--quickack", *arguments, "127.0.0.1")
    check_conservation(r)
    d = r.json["on_demand"]
    connections = relay.stop()
    check_equal(len(connections), d["opened"], "connections, by the relay")
    check_equal(passive_opens() - before, 2 * d["opened"], "connections, by the kernel: to the relay and to the server")
    check(d["opened"] > CLIENTS, f"idle connections are closed, and others opened: {d['opened']}")
    return r, connections


def check_all_answered(r):
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")


def check_idle(r, connections, most_s):
    """No connection stays open for longer after its last answer."""
    idle_s = sorted(c.closed - c.answered for c in connections if c.answered is not None)
    print(f"     {len(connections)} connections, idle for {idle_s[0]:.3f} to {idle_s[-1]:.3f} s; allowed {most_s} s; "
          f"{r.json['connections']['outcomes']}")
    with stall_may_spoil():
        check(idle_s[-1] <= most_s + 1, f"closed later than after {most_s} s: {idle_s[-5:]}")


def check_told(r, connections):
    """The clients close when told."""
    sent, keepalive = r.json["queries"]["sent"], r.json["on_demand"]["keepalive"]
    check_equal((keepalive["timeouts"], keepalive["none"], keepalive["malformed"]), (sent, 0, 0), "answers")
    check_equal((keepalive["min_s"], keepalive["max_s"]), (TOLD_S, TOLD_S), "timeouts")
    check_idle(r, connections, TOLD_S)
    with stall_may_spoil():
        check(r.json["connections"]["outcomes"].get("run/keepalive timeout", 0) > 0, "connections closed as told")


def check_reuse(r, queries, connections):
    """According to the counters of the server."""
    check_equal(queries, r.json["queries"]["sent"], "queries, by the server")
    check_equal(round(r.json["on_demand"]["reuse_ratio"], 9), round(1 - connections / queries, 9), "reuse ratio")


def test_idle_timeout_of_unbound_is_obeyed():
    server = DnsServer("unbound", UNBOUND.replace("  extended-statistics: yes", """  extended-statistics: yes
  edns-tcp-keepalive: yes
  edns-tcp-keepalive-timeout: 1000"""), "-d", "-p", "-c")
    before = unbounds_tcp_queries(server)
    r, connections = run_against(server)
    with stall_may_spoil():  # the server closes 100 ms after the client should have
        check_all_answered(r)
    check_told(r, connections)
    check_reuse(r, unbounds_tcp_queries(server) - before, len(connections))


def test_idle_timeout_of_bind_is_obeyed():
    control = free_port()
    server = DnsServer("named", BIND.replace("{control}", str(control)), "-g", "-n", "2", "-c")
    server.control = control
    queries, accepted = binds_after_the_first_query(server)
    r, connections = run_against(server)
    check_all_answered(r)
    check_told(r, connections)
    after = bind_counts(server)
    check_reuse(r, after[0] - queries, after[1] - accepted - 1)


def test_client_uses_its_own_idle_time_if_knot_names_none():
    server = DnsServer("knotd", KNOT.replace("    journal-content: none", "    journal-content: none\n    global-module: "
                                             "mod-stats") + "mod-stats:\n  - id: default\n    request-protocol: on\n", "-c")
    before = knots_tcp_queries(server)
    r, connections = run_against(server, "--idle-close", "300ms")
    check_all_answered(r)
    keepalive = r.json["on_demand"]["keepalive"]
    check_equal(keepalive["none"], r.json["queries"]["sent"], "answers without a timeout")
    check_idle(r, connections, 0.3)
    with stall_may_spoil():
        check(r.json["connections"]["outcomes"].get("run/idle", 0) > 0, "connections closed by the clients' idle time")
    check_reuse(r, knots_tcp_queries(server) - before, len(connections))


if __name__ == "__main__":
    main()
