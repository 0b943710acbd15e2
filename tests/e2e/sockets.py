# SPDX-License-Identifier: MIT
"""The options of sockets, as the kernel reports them or was asked to set them."""

import contextlib
import socket

from helpers.namespace import *


# --- buffers ---

def buffers(port, way):
    """(receive, send) buffer of each established socket with this port; way: sport, of a server, or dport, of a client."""
    out = subprocess.run(["ss", "-Htmn", "state", "established", f"{way} = :{port}"], capture_output=True, text=True,
                         check=True).stdout
    return re.findall(r"skmem:\(r\d+,rb(\d+),t\d+,tb(\d+),", out)


def test_buffers_have_the_requested_sizes_on_both_ends():
    """The kernel doubles them, for its own needs: socket(7)."""
    need_program("ss")
    with Server("--sndbuf", 20000, "--rcvbuf", 30000) as server:
        client = Client("-p", server.port, "-c", 5, "--sndbuf", 40000, "--rcvbuf", 50000, "--stats-interval", "100ms",
                        "127.0.0.1")
        wait_until_running(client)
        found = [buffers(server.port, way) for way in ("sport", "dport")]
        client.process.send_signal(signal.SIGINT)
        check_conservation(client.wait())
    check_equal(found, [[("60000", "40000")] * 5, [("100000", "80000")] * 5], "of the server, of the client")


# --- calls ---

def options_set(log, pid):
    """How often each option was set, by the log of strace, which may end after the program."""
    def whole():
        text = read_text(log)
        return re.search(rf"^{pid} +\+\+\+ exited", text, re.M) and text
    text = wait_for(whole, "the end of strace")
    return collections.Counter(re.findall(r"setsockopt\(\d+, \w+, (\w+), \[[1-9]\d*\]", text))


def traced_run(*options):
    """A run of a second over 4 connections: its result, and the options set by the client and by the server."""
    need_program("strace")
    logs = [temp_path("trace"), temp_path("trace")]
    of_client, of_the_server = (["strace", "-D", "-f", "-e", "trace=setsockopt", "-o", log] for log in logs)
    with Server("--threads", 2, prefix=of_the_server) as server:
        client = Client("-p", server.port, "-c", 4, "-r", 200, "-t", 1, "--threads", 1, *options, "127.0.0.1", prefix=of_client)
        r = client.wait()
    check_conservation(r)
    return r, options_set(logs[0], client.pid), options_set(logs[1], server.pid)


@plain_build_only
def test_queries_and_answers_are_not_held_back():
    r, of_client, of_server = traced_run()
    check(of_client["TCP_NODELAY"] >= 4, f"of each connection: {of_client}")
    check(of_server["TCP_NODELAY"] >= 2, f"of each listening socket, from which connections have it: {of_server}")


@plain_build_only
def test_quickack_is_set_again_after_each_read():
    """The kernel forgets it: tcp(7)."""
    r, of_client, _ = traced_run("--quickack")
    n = r.json["queries"]["answered"]
    with stall_may_spoil():  # after it many answers are read at once
        check(of_client["TCP_QUICKACK"] > n / 2, f"of {n} answers: {of_client}")
    _, of_client, _ = traced_run()
    check_equal(of_client["TCP_QUICKACK"], 0, "the control: not asked for")


# --- both families ---

def test_ipv4_is_served_regardless_of_bindv6only():
    if not os.path.exists("/proc/net/if_inet6"):
        skip("no IPv6")
    with Namespace() as ns:
        ns.run("sysctl", "-qw", "net.ipv6.bindv6only=1")
        with ns.entered(), socket.socket(socket.AF_INET6) as s:  # the control: a socket of another program
            s.bind(("::", 0))
            s.listen()
            with contextlib.suppress(ConnectionRefusedError), socket.socket() as client:
                client.connect(("127.0.0.1", s.getsockname()[1]))
                check(False, "it takes IPv4")
        with Server(prefix=ns.prefix) as server:
            for target in ("127.0.0.1", "::1"):
                r = run_client("-p", server.port, "-c", 3, "-r", 30, "-t", 0.2, target, prefix=ns.prefix)
                check_conservation(r)
                check_equal(r.json["connections"]["proven"], 3, f"proven on {target}")


if __name__ == "__main__":
    main()
