# SPDX-License-Identifier: MIT
"""haproxy and nginx between both programs: the clients named by PROXY headers arrive unaltered, and the counts of both sides
agree; no query is unaccounted for after a reload in mid-run."""

from helpers.identities import *

LISTEN = """global
  maxconn 4000
  hard-stop-after 300ms
defaults
  mode tcp
  timeout connect 60s
  timeout client 600s
  timeout server 600s
listen through
  bind 127.0.0.1:{port} accept-proxy
"""

HAPROXY = LISTEN + """  server one 127.0.0.1:{server} {send}
"""

HAPROXY_OF_TWO = LISTEN + """  balance roundrobin
  server one 127.0.0.1:{server} weight {weight}
  server two 127.0.0.1:{other} weight 1
"""

# its stream module sends version 1 only
NGINX = """daemon off;
master_process off;
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
pid {state}/pid;
error_log stderr;
events {{ worker_connections 4000; }}
stream {{
  server {{
    listen 127.0.0.1:{port} proxy_protocol;
    set_real_ip_from 127.0.0.0/8;
    proxy_pass 127.0.0.1:{server};
    proxy_protocol on;
    proxy_timeout 600s;
  }}
}}
"""


# haproxy whose first process takes a second longer to restart itself, as it does once it has a worker
SLOW_HAPROXY = """#!{python}
import os, sys, time
if "HAPROXY_MWORKER_WAIT_ONLY" in os.environ:
    time.sleep(1)
os.execv("{haproxy}", sys.argv)
"""


class Balancer:
    """On a free port, in front of a server."""

    def __init__(self, program, configuration, server, command, **values):
        need_program(program)
        self.port, path = free_port(), temp_path("balancer.conf")
        state = os.path.dirname(path)
        os.chmod(state, 0o755)
        write_text(path, configuration.format(port=self.port, server=server.port, state=state, **values))
        self.log = open(os.path.join(state, "output"), "w+")
        self.process = spawn([*command, path], stdout=self.log, stderr=self.log, start_new_session=True)
        wait_for(self._accepts, lambda: f"{program}: {self.said()}")

    def said(self):
        return read_text(self.log.name)

    def _accepts(self):
        check(self.process.poll() is None, self.said())
        try:
            # without a header it is closed, and the server never hears of it
            socket.create_connection(("127.0.0.1", self.port), timeout=HANGS_S).close()
            return True
        except OSError:
            return False

    def reload(self):
        """The first process of haproxy ends by the signal until it has a worker, and then ignores it for some time."""
        wait_for(lambda: catches(self.process.pid, signal.SIGUSR2), lambda: f"a handler of SIGUSR2: {self.said()}")
        self.process.send_signal(signal.SIGUSR2)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            stop_group(self.process)


def haproxy(server, send, command="haproxy"):
    return Balancer("haproxy", HAPROXY, server, [command, "-W", "-db", "-f"], send=send)


def nginx(server):
    if not os.path.exists("/usr/lib/nginx/modules/ngx_stream_module.so"):
        skip("nginx has no stream module here")
    return Balancer("nginx", NGINX, server, ["nginx", "-c"])


def check_through(server, balancer, version, sources=SOURCES):
    """A run through the balancer."""
    with balancer:
        r, asked = ask_as_clients(balancer.port, version, "-c", 200, "-r", 2000, "-t", 0.5, sources=sources)
        server.wait_until_idle()
    server.stop()
    check_same_clients(r, asked, server)


@covered_by_others
def test_haproxy_forwards_every_client():
    for version, send in (("v1", "send-proxy"), ("v2", "send-proxy-v2"), ("v1", "send-proxy-v2"), ("v2", "send-proxy")):
        with ControlledServer() as server:
            check_through(server, haproxy(server, send), version)


@covered_by_others
def test_haproxy_forwards_clients_with_ipv6_addresses():
    with ControlledServer() as server:
        check_through(server, haproxy(server, "send-proxy-v2"), "v2", sources="2001:db8:7::/121")


@covered_by_others
def test_nginx_forwards_every_client():
    for version in ("v1", "v2"):
        with ControlledServer() as server:
            check_through(server, nginx(server), version)


def check_backends(r, addresses, weights):
    """Both sides are in one report, and each server has its share."""
    s, c = r.json["server"], r.json["connections"]
    backends = s["backends"]
    check_equal([b["address"] for b in backends], addresses, "servers")
    check_equal((s["accepted"], s["not_accepted"], s["connections_ratio"], s["restarted"]), (c["connected"], 0, 1, False), "all")
    check_equal(s["bytes_received"], r.json["resources"]["bytes_sent"], "bytes through the balancer")
    check_equal(s["listen_overflows"], None, "overflows of a host that both may share")
    for b, weight in zip(backends, weights):
        share = weight / sum(weights)
        check_between(b["accepted"], share * c["connected"] - 2, share * c["connected"] + 2, f"accepted by {b['address']}")
        check_equal(b["accepted_share"], b["accepted"] / s["accepted"], "its share")
        check_equal(b["bytes_received_share"], b["bytes_received"] / s["bytes_received"], "its share of the bytes")
        row = re.search(rf"^{re.escape(b['address'])} +([\d,]+) +([\d.]+) %", r.err, re.M)
        check(row, r.err)
        check_equal((row[1], row[2]), (str(b["accepted"]), f"{100 * b['accepted_share']:.1f}"), "the table")


def test_both_sides_of_haproxy_are_in_one_report():
    for weight in 1, 3:
        controls = control_path() + "1", control_path() + "2"
        with Server("--control", controls[0]) as one, Server("--control", controls[1]) as two, \
                Balancer("haproxy", HAPROXY_OF_TWO, one, ["haproxy", "-W", "-db", "-f"], other=two.port,
                         weight=weight) as balancer:
            r, _ = ask_as_clients(balancer.port, "v2", "-c", 200, "-r", 2000, "-t", 0.5, "--server-control",
                                  ",".join(controls))
        check_conservation(r)
        check_backends(r, list(controls), (weight, 1))


@covered_by_others
def test_reload_during_the_start_of_haproxy_is_not_lost():
    need_program("haproxy")
    slow = write_program(temp_path("haproxy"), SLOW_HAPROXY.format(python=sys.executable, haproxy=shutil.which("haproxy")))
    with Server() as server, haproxy(server, "send-proxy-v2", slow) as balancer:
        first = wait_for(lambda: children(balancer.process.pid), "its worker")
        balancer.reload()
        wait_for(lambda: not first & children(balancer.process.pid), lambda: f"another worker: {balancer.said()}")


@covered_by_others
def test_every_query_is_accounted_for_when_haproxy_reloads():
    path, control = temp_path("connections.csv"), control_path()
    with ControlledServer() as server, haproxy(server, "send-proxy-v2") as balancer:
        client = Client("-p", balancer.port, *naming("v1"), "-c", 40, "-r", 400, "--reconnect", "--backoff",
                        "10ms-100ms", "--connections-out", path, "--stats-interval", "200ms", "--control", control,
                        "127.0.0.1")
        wait_until_running(client)
        check_equal(server.stats()["accepted"], 40, "connections before")
        balancer.reload()
        wait_for(lambda: (now := stats(control)["connections"])["reopened"] >= 40 and now["live_at_end"] == 40,
                 lambda: f"all to be back: {stats(control)['connections']}, of the server {server.stats()}; {balancer.said()}")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
        server.wait_until_idle()
        server.stop()
    check_conservation(r)
    c = r.json["connections"]
    check(c["reopened"] >= 40 and c["live_at_end"] == 40, f"{c}")
    check_equal(set(identities(server.served())), set(identities(read_rows(path))), "clients before and after")
    check_equal(server.result["accepted"], sum(identities(server.served()).values()), "connections")
    check_equal((server.result["refused"], server.result["proxy_headers"]), (0, server.result["accepted"]), "headers")


if __name__ == "__main__":
    main()
