# SPDX-License-Identifier: MIT
"""Source ports: a connection never meets itself."""

from namespace import *


def test_plans_leave_out_the_targets_own_port():
    """Nobody listens: a connection from that port would be its own server."""
    sources = [["--source", "127.0.0.1"], ["--source", "127.0.0.0-3"], []]
    for target, lists in (("127.0.0.1:15901", sources), ("[::1]:15901", [["--source", "::1"], []])):
        for source in lists:
            r = run_client("-c", 40, *source, "--sport", "15880-15929", "-r", 100, "-t", 0.2, target)
            check_conservation(r)
            check_equal(r.json["connections"]["outcomes"], {"connect/refused": 40}, f"{target} from {source}")
    # control: from other addresses it is a port as any other
    plan = ["--plan", "-c", "50", "--sport", "15880-15929", "--source"]
    for source, code in (("127.0.0.2", 0), ("127.0.0.1", 2)):
        r = subprocess.run([TCPCLIENT, *plan, source, "127.0.0.1:15901"], capture_output=True, text=True, timeout=30)
        check_equal(r.returncode, code, f"from {source}: {r.stdout}")


def test_a_plan_of_the_targets_port_alone_is_refused():
    r = subprocess.run([TCPCLIENT, "-c", "1", "-t", "1", "--source", "127.0.0.1", "--sport", "15901", "127.0.0.1:15901"],
                       capture_output=True, text=True, timeout=30)
    check_equal((r.returncode, len(r.stderr.splitlines())), (2, 1), f"exit code, lines of {r.stderr}")
    check("--sport" in r.stderr and "15901" in r.stderr, r.stderr)


def test_automatic_ports_that_meet_the_target_are_a_counted_failure():
    with Namespace() as namespace:
        namespace.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40003")
        for target in "127.0.0.1:40002", "[::1]:40002":
            r = run_client("-c", 3, "-r", 100, "-t", 2, "--reconnect", "--backoff", "10ms-20ms", target,
                           prefix=namespace.prefix)
            check_conservation(r)
            c = r.json["connections"]
            check_equal((c["connected"], c["proven"]), (0, 0), f"connected, proven to {target}; {r.err}")
            check(c["outcomes"].get("connect/connected to itself", 0) > 0, f"{target}: {c['outcomes']}")
            check("themselves" in r.json["diagnosis"][0]["evidence"], str(r.json["diagnosis"]))


def test_reconnecting_leaves_a_stopped_server_its_port():
    """It is in the kernel's range, and free while the server is down."""
    with Namespace() as namespace:
        namespace.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40007")
        with Server(prefix=namespace.prefix, port=40004) as server:
            client = Client("-c", 2, "-r", 100, "-t", 4, "--reconnect", "--backoff", "10ms-20ms", "--stats-interval",
                            "100ms", f"127.0.0.1:{server.port}", prefix=namespace.prefix)
            wait_until_running(client)
        time.sleep(1)
        with Server(prefix=namespace.prefix, port=40004) as server:
            wait_for(lambda: "2 live" in client.stderr().splitlines()[-1], "both connections to be back")
            r = client.wait()
            server.stop()
    check_conservation(r)
    check_equal(r.json["connections"]["live_at_end"], 2, "live at the end")
    check(r.json["connections"]["outcomes"].get("connect/connected to itself", 0) > 0, "it met itself meanwhile")
    check_equal(server.result["accepted"], 2, "of the second server")



main()
