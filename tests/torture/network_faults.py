# SPDX-License-Identifier: MIT
"""The network between the two programs loses packets, forgets connections, goes down, loses its address."""

from helpers.cable import *
from helpers.control_api import ask, control_path, stats
from table import *


def with_losses(row, percent, *options, most_failed=0, most_timeouts):
    with Cable() as cable, Server(prefix=cable.server.prefix) as server:
        cable.lose(percent)
        client = cable.load(server, "-c", 100, "-r", 500, "-t", 4, *options)
        r = client.wait()
        at_client, at_server = cable.lost()
        row.injected("packets dropped towards the client", at_client)
        row.injected("towards the server", at_server)
        row.conserved(r)
        c, q = r.json["connections"], r.json["queries"]
        row.expect("exit", OneOf(0, 3), r.code)
        row.expect("retransmits", Between(1, 10 * (at_client + at_server)), c["retransmits"])
        row.expect("connections short", at_most(most_failed), c["asked"] - c["live_at_end"])
        row.expect("timed out or half-open", c["asked"] - c["live_at_end"], sum(
            c["outcomes"].get(name, 0) for name in ("connect/timed out", "receive/half-open")))
        row.expect("answered, in % of those sent", Between(100 - most_timeouts, 100),
                   100 * q["answered"] / q["sent"])
        row.expect("unsent", 0, q["unsent"])
        row.note("timeouts", q["timeout"])
        row.note("p99 in ms", "beyond" if r.json["latency_ns"]["response"]["p99"] == "beyond" else
                 r.json["latency_ns"]["response"]["p99"] // 10**6)
        row.served(server)


@scenario(short=True)
@covered_by_others
def one_percent_of_packets_lost(row):
    with_losses(row, 1, most_timeouts=0)


@scenario()
def five_percent_of_packets_lost(row):
    with_losses(row, 5, most_timeouts=1)


@scenario()
def thirty_percent_of_packets_lost(row):
    with_losses(row, 30, "--connect-timeout", "4s", "--timeout", "3s", most_failed=60, most_timeouts=70)


@scenario(short=True)
def connections_killed_by_ss(row):
    need_program("ss")
    control = control_path()
    with Server() as server:
        client = Client("-c", 200, "-r", 2000, "--reconnect", "--stats-interval", "200ms", "--control", control, "--close",
                        "rst", f"127.0.0.1:{server.port}")
        wait_until_running(client)
        killed = subprocess.run(["ss", "-HKt", "dport", "=", f":{server.port}"], capture_output=True, text=True)
        n_killed = len(killed.stdout.splitlines())  # some may be back, and killed again, before ss is done
        row.injected("sockets killed by ss -K", n_killed)

        def all_are_back():
            c = stats(control)["connections"]
            return c["live_at_end"] == 200 and sum(c["outcomes"].values()) >= n_killed

        wait_for(all_are_back, "the connections to be back")
        ask(control, "/stop")
        r = client.wait()
        row.conserved(r)
        c = r.json["connections"]
        row.expect("exit", OneOf(0, 3), r.code)
        row.expect("killed", Between(200), n_killed)
        row.expect("reset", n_killed, sum(n for name, n in c["outcomes"].items() if name.endswith("/reset")))
        row.expect("live at the end", 200, c["live_at_end"])
        row.expect("errors with a lost connection", r.json["queries"]["error"], lost(r.json["queries"]["outcomes"]))
        row.served(server)
        row.expect("accepted", 200 + n_killed, server.result["accepted"])


def interrupted(row, what, break_it, mend_it, carries, seconds):
    """Checks that queries that became due meanwhile and were not answered within 1 s timed out, that no connection ended, and that the
    load continues afterwards."""
    with Cable() as cable, Server(prefix=cable.server.prefix) as server:
        client = cable.load(server, "-c", 50, "-r", 500, "--arrival", "constant", "-t", seconds + 5,
                            "--timeout", "1s", "--drain", "5s")
        time.sleep(0.5)
        for command in break_it:
            cable.client.run(*command)
        begin = time.monotonic()
        broken = not carries(cable)
        time.sleep(seconds)
        broken = broken and not carries(cable)
        for command in mend_it:
            cable.client.run(*command)
        row.injected(what, broken and round(time.monotonic() - begin, 1))
        r = client.wait()
        row.conserved(r)
        q = r.json["queries"]
        row.expect("exit", OneOf(0, 3), r.code)
        row.expect("sent", 500 * (seconds + 5), q["sent"])
        row.expect("timeouts", Between(500 * (seconds - 2), 500 * (seconds + 3)), q["timeout"])
        row.expect("errors", 0, q["error"])
        row.expect("connections", {"run/finished": 50}, r.json["connections"]["outcomes"])
        row.note("answered late", q["late"])
        row.note("answered", q["answered"])
        row.served(server)


def ping_goes_through(cable):
    """Not by ping(8), which a host may lack: a connection to a closed port is refused."""
    r = subprocess.run([*cable.client.prefix, sys.executable, "-c", f"""
import socket
s = socket.socket()
s.settimeout(0.3)
try:
    s.bind(("{CLIENT_IP}", 0))
    s.connect(("{SERVER_IP}", 1))
except ConnectionRefusedError:
    print("refused")
except OSError:
    pass"""], capture_output=True, text=True, timeout=HANGS_S)
    return "refused" in r.stdout


@scenario()
def link_down_5_s(row):
    interrupted(row, "s with the link down", [("ip", "link", "set", "wire", "down")],
                [("ip", "link", "set", "wire", "up")], ping_goes_through, 5)


@scenario()
def address_removed_3_s(row):
    interrupted(row, "s without the address", [("ip", "addr", "del", f"{CLIENT_IP}/24", "dev", "wire")],
                [("ip", "addr", "add", f"{CLIENT_IP}/24", "dev", "wire")], ping_goes_through, 3)


@scenario()
def address_removed_for_good(row):
    with Cable() as cable, Server(prefix=cable.server.prefix) as server:
        client = cable.load(server, "-c", 50, "-r", 500, "-t", 3, "--timeout", "1s")
        cable.client.run("ip", "addr", "del", f"{CLIENT_IP}/24", "dev", "wire")
        row.injected("address removed", not ping_goes_through(cable))
        r = client.wait()
        row.conserved(r)
        q = r.json["queries"]
        row.expect("exit", OneOf(0, 3), r.code)
        row.expect("answered, of those scheduled", Between(1, q["scheduled"] - 500), q["answered"])
        row.expect("the others timed out, failed or were not sent", q["scheduled"] - q["answered"],
                   q["timeout"] + q["error"] + q["unsent"])
        row.expect("ended in 3 s + 1 s, s", at_most(60 if SANITIZED else 7), round(r.seconds, 1))
        row.note("connections", r.json["connections"]["outcomes"])
        row.served(server)
