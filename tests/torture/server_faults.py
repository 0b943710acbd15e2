# SPDX-License-Identifier: MIT
"""One of the two programs dies or freezes under load, or is started twice."""

from helpers.control_api import ask, control_path, stats
from table import *

LOAD = ("--stats-interval", "200ms", "--close", "rst")


@scenario(short=True)
def server_killed_and_restarted(row):
    first, control = Server(port=free_port()), control_path()
    client = Client("-c", 200, "-r", 2000, "--reconnect", "--backoff", "100ms-500ms", "--control", control, *LOAD,
                    f"127.0.0.1:{first.port}")
    wait_until_running(client)
    first.process.kill()
    row.injected("kill -9", first.process.wait() == -signal.SIGKILL)
    wait_for(lambda: stats(control)["connections"]["outcomes"].get("connect/refused", 0) >= 200, "200 to be refused")
    with Server(port=first.port) as second:
        wait_for(lambda: stats(control)["connections"]["live_at_end"] == 200, "all to be back")
        ask(control, "/stop")
        r = client.wait()
        row.conserved(r)
        c, q = r.json["connections"], r.json["queries"]
        row.expect("exit", 3, r.code)
        # while the first server ends, its listener may still accept a few of the reconnecting clients
        row.expect("connected", Between(400), c["connected"])
        established = {name: n for name, n in c["outcomes"].items() if not name.startswith("connect/")}
        row.expect("lost", c["connected"] - 200, lost(established))
        row.expect("refused meanwhile", Between(200), c["outcomes"].get("connect/refused"))
        row.expect("live at the end", 200, c["live_at_end"])
        row.expect("unsent", Between(1), q["unsent"])
        row.expect("errors with a lost connection", q["error"], lost(q["outcomes"]))
        row.expect("timeouts", 0, q["timeout"])
        row.note("answered", q["answered"])
        row.served(second)
        row.expect("accepted by the second", 200, second.result["accepted"])


@scenario()
def server_killed_for_good(row):
    server = Server()
    client = Client("-c", 200, "-r", 2000, "-t", 3, *LOAD, f"127.0.0.1:{server.port}")
    wait_until_running(client)
    server.process.kill()
    row.injected("kill -9", server.process.wait() == -signal.SIGKILL)
    r = client.wait()
    row.conserved(r)
    row.expect("exit", 3, r.code)
    row.expect("lost", 200, lost(r.json["connections"]["outcomes"]))
    row.expect("live at the end", 0, r.json["connections"]["live_at_end"])
    row.expect("unsent", Between(1000, 7000), r.json["queries"]["unsent"])
    row.expect("ended in 3 s + 5 s", True, r.seconds < 8 or bool(SANITIZED))


@scenario()
def server_frozen_10_s(row):
    """Timeout 5 s: queries due in the first half of the freeze time out and are answered late, those due
    in the second half are answered in time; none is lost, no connection ends."""
    with Server() as server:
        client = Client("-c", 200, "-r", 1000, "--arrival", "constant", "-t", 13, "--timeout", "5s", *LOAD,
                        f"127.0.0.1:{server.port}")
        wait_until_running(client)
        time.sleep(0.5)
        server.process.send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        wait_for(lambda: process_state(server.pid) == "T", "the freeze")
        time.sleep(10)
        frozen = process_state(server.pid) == "T"
        server.process.send_signal(signal.SIGCONT)
        row.injected("s frozen by SIGSTOP", frozen and round(time.monotonic() - begin, 1))
        r = client.wait()
        row.conserved(r)
        q = r.json["queries"]
        row.expect("exit", OneOf(0, 3), r.code)
        row.expect("sent", 13000, q["sent"])
        row.expect("timeouts", Between(4500, 5700), q["timeout"])
        row.expect("answered late", q["timeout"], q["late"])
        row.expect("errors", 0, q["error"])
        row.expect("connections finished", {"run/finished": 200}, r.json["connections"]["outcomes"])
        row.expect("slowest answer in ms", Between(4500, 5100), r.json["latency_ns"]["response"]["max"] // 10**6)
        row.served(server)


@scenario(short=True)
@covered_by_others
def client_killed(row):
    with Server() as server:
        client = Client("-c", 500, "-r", 5000, *LOAD, f"127.0.0.1:{server.port}")
        wait_until_running(client)
        client.process.kill()
        client.process.communicate()
        row.injected("kill -9", client.process.returncode == -signal.SIGKILL)
        again = run_client("-c", 100, "-r", 500, "-t", 1, f"127.0.0.1:{server.port}")
        row.conserved(again)
        row.expect("answered to the next client", again.json["queries"]["scheduled"],
                   again.json["queries"]["answered"])
        row.served(server)
        row.expect("accepted", 600, server.result["accepted"])
        row.expect("active", 0, server.result["active"])
        row.expect("closed or reset", 600, lost(server.result["closed"]))


@scenario()
def two_clients_at_once(row):
    """With automatic ports, and with the same 300 planned tuples for 2 x 200 connections."""
    with Server() as server:
        target = f"127.0.0.1:{server.port}"
        both = [Client("-c", 200, "-r", 1000, "-t", 2, "--seed", seed, *LOAD, target) for seed in (1, 2)]
        results = [client.wait() for client in both]
        row.conserved(*results)
        row.injected("runs side by side", len(results))
        row.expect("proven", [200, 200], [r.json["connections"]["proven"] for r in results])
        row.expect("answered of those scheduled", [r.json["queries"]["scheduled"] for r in results],
                   [r.json["queries"]["answered"] for r in results])
        tuples = ("--source", "127.0.0.2", "--sport", "21000-21299")
        both = [Client("-c", 200, "-r", 1000, "-t", 3, *tuples, *LOAD, target) for _ in range(2)]
        results = [client.wait() for client in both]
        row.conserved(*results)
        proven = sum(r.json["connections"]["proven"] for r in results)
        without = sum(r.json["connections"]["outcomes"].get("bind/source ports exhausted", 0) +
                      r.json["connections"]["outcomes"].get("connect/source ports exhausted", 0) for r in results)
        row.expect("proven of the same tuples", 300, proven)
        row.expect("without a tuple", 100, without)
        row.served(server)


@scenario(short=True)
@covered_by_others
def second_server_on_the_port(row):
    with Server() as server:
        second = run_command([TCPSERVER, str(server.port)])
        row.injected("servers on one port", 2)
        row.expect("exit of the second", 2, second.returncode)
        row.expect("says", True, "Address already in use" in second.stderr and second.stderr.count("\n") == 1)
        r = run_client("-c", 50, "-r", 500, "-t", 1, f"127.0.0.1:{server.port}")
        row.conserved(r)
        row.expect("answered by the first", r.json["queries"]["scheduled"], r.json["queries"]["answered"])
        row.served(server)
