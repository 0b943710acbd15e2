# SPDX-License-Identifier: MIT
"""If a kernel lacks a feature, or a container forbids it, both programs warn once and continue."""

from helpers.control_api import control_path, stats
from helpers.faults import *
from helpers.namespace import *
from helpers.served import connect_many

# The feature; how a program tests for it, and the error that it gets: the control of the injection; the warnings of
# tcpserver and of tcpclient; how both results change.
ROWS = {
    "SO_TIMESTAMPING": ("socket.socket().setsockopt(socket.SOL_SOCKET, 37, 24)", "ENOPROTOOPT",
                        None, "no kernel timestamps here (Protocol not available)",
                        lambda client, server: client["latency_ns"]["net"]["count"] == 0),
    "sock_diag": ("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)", "EPROTONOSUPPORT",
                  None, "no sock_diag here (Protocol not supported)",
                  lambda client, server: client["sockets"] is None),
    "IPv6": ("socket.socket(socket.AF_INET6)", "EAFNOSUPPORT",
             "no IPv6 here (Address family not supported by protocol)", None,
             lambda client, server: server["address"].startswith("0.0.0.0:")),
    # nothing depends on it: the plan chooses every port, or the kernel does when it connects
    "IP_BIND_ADDRESS_NO_PORT": ("socket.socket().setsockopt(socket.IPPROTO_IP, 24, 1)", "ENOPROTOOPT",
                                None, None, lambda client, server: True),
    # likewise: one close(2) after the other instead
    "close_range": ("ctypes.CDLL(None, use_errno=True).close_range(900, 901, 0) == 0 or fail()", "ENOSYS",
                    None, None, lambda client, server: True),
}

CONTROL = """
import ctypes, errno, os, socket
def fail(): raise OSError(ctypes.get_errno(), "")
try:
    {}
    print("done")
except OSError as error:
    print(errno.errorcode[error.errno])
"""


def told(prefix, statement):
    """What the kernel returns to a program that tries."""
    r = run_command([*prefix, *BARE_PYTHON, "-c", CONTROL.format(statement)])
    return r.stdout.strip()


def warnings(text):
    return [line for line in text.splitlines() if " warning: " in line]


def run_both(prefix, *arguments):
    """The client's result, the server's, and the warnings of both."""
    with Server("--threads", 2, prefix=prefix) as server:
        r = run_client("-p", server.port, "-c", 20, "-r", 500, "-t", 0.5, "--threads", 2, "--source", "127.0.0.2",
                       *arguments, "127.0.0.1", prefix=prefix)
        check_equal(server.stop(), 0, "the server's exit code")
    check_conservation(r)
    check_complete(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    check_equal(r.json["connections"]["proven"], 20, "proven")
    return r, server, warnings(server.stderr()), warnings(r.err)


def check_warnings(got, usual, expected, what):
    """In addition to the warnings that a build always prints, there is the expected one, once."""
    more = [line for line in got if line not in usual]
    check_equal(len(more), 0 if expected is None else 1, f"{what}: {more}")
    check(expected is None or expected in more[0], f"{what}: '{expected}' in {more}")


def test_missing_features_are_reported_once_and_the_run_continues():
    _, _, usual_server, usual_client = run_both([], "--kernel-ts")
    check(SANITIZED or usual_server + usual_client == [], f"without: {usual_server} {usual_client}")
    for lacking, (statement, error, of_server, of_client, holds) in ROWS.items():
        check_equal(told([], statement), "done", f"{statement}, with {lacking}")
        prefix = [*DENY, lacking, "--"]
        check_equal(told(prefix, statement), error, f"{statement}, without {lacking}")
        r, server, from_server, from_client = run_both(prefix, "--kernel-ts")
        check_warnings(from_server, usual_server, of_server, f"warnings of tcpserver without {lacking}")
        check_warnings(from_client, usual_client, of_client, f"warnings of tcpclient without {lacking}")
        check(holds(r.json, server.result), f"the results without {lacking}")


@plain_build_only
def test_without_close_range_only_open_descriptors_are_closed():
    """The limit may be a billion."""
    need_program("strace")
    log = temp_path("strace")
    traced = [*under_fd_limit(5000), "strace", "-f", "-qq", "-e", "trace=close", "-o", log, *DENY, "close_range", "--"]
    with Server("--threads", 2) as server:
        r = run_client("-p", server.port, "-c", 20, "-r", 100, "-t", 0.5, "--threads", 2, "127.0.0.1", prefix=traced)
    check_complete(r)
    with open(log) as f:
        n_closed = sum("close(" in line for line in f)
    check_between(n_closed, 20, 4999, "calls of close(2), of Python, too")


@needs_own_fd_tables
def test_threads_share_one_fd_table_if_unshare_is_forbidden():
    prefix = [*DENY, "unshare", "--"]
    statement = "ctypes.CDLL(None, use_errno=True).unshare(0x400) == 0 or fail()"
    check_equal((told([], statement), told(prefix, statement)), ("done", "EPERM"), "unshare, with and without")
    r, server, from_server, from_client = run_both(prefix)
    check_warnings(from_server, [], "no per-thread fd tables here (Operation not permitted)", "of tcpserver")
    check_warnings(from_client, [], "does not allow per-thread fd tables", "of tcpclient")
    check_equal(r.json["host"]["own_fd_tables"], False, "own fd tables")
    few = run_command([*under_fd_limit(200), *prefix, TCPCLIENT, "-c", "500", "--plan", "127.0.0.1"])
    check_equal(few.returncode, 2, f"500 connections in one table of 200: {few.stdout}")


@needs_own_fd_tables
@covered_by_others
def test_plan_for_one_fd_table_includes_the_descriptors_of_each_thread():
    prefix = [*under_fd_limit(300), *DENY, "unshare", "--"]
    most = 300 - 64 - 20 * 7
    for program in ([TCPSERVER], [TCPCLIENT, "127.0.0.1"]):
        plans = [run_command([*prefix, *program, "--plan", "--threads", "20", "-c", str(n)]) for n in (most, most + 1)]
        check_equal([p.returncode for p in plans], [0, 2], f"exit codes: {plans[1].stdout}")
        check("-> ulimit -n 301\n" in plans[1].stdout, plans[1].stdout)
    with Server("--threads", 20, "-c", most, prefix=prefix) as server:
        r = run_client("-p", server.port, "-c", most, "-r", 100, "-t", 0.5, "--threads", 20, "127.0.0.1", prefix=prefix)
        server.stop()
    check_equal((r.json["connections"]["proven"], server.result["refused"]), (most, 0), "proven, refused")


def test_server_for_which_the_host_has_no_files_left_names_that_limit():
    with Server(prefix=[*DENY, "fs.file-max", "--"]) as server, socket.create_connection(("127.0.0.1", server.port), HANGS_S):
        wait_for(lambda: "cannot accept" in server.stderr(), "its words")
        check("cannot accept: Too many open files in system; refusing new connections until it can (raise fs.file-max)\n"
              in server.stderr(), server.stderr())


@plain_build_only
def test_full_fd_table_shared_by_all_threads_leaves_room_for_control_requests_and_results():
    control = control_path()
    with Server("--control", control, "--threads", 2, prefix=[*under_fd_limit(200), *DENY, "unshare", "--"]) as server:
        n_idle = n_descriptors(server)
        served = connect_many(server, 300)
        check_between(len(served), 200 - 64 - 2 * 6, 200 - 16, "served")
        for _ in range(3):
            check_equal(stats(control)["active"], len(served), "active, as a full server says")
        server.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: os.path.exists(server.json_path) and os.path.getsize(server.json_path), "its result so far")
        served.pop().close()
        # not stats(): until the server has closed it, the connection of that request may take the free descriptor
        wait_for(lambda: n_descriptors(server) == n_idle + len(served), "one to end, and the last request")
        check(connect_many(server, 1), "another takes its place")
        server.stop()
    check_equal(server.result["refused_by"]["fd limit"], server.result["refused"], "refused")
    check_equal("could not write" in server.stderr(), False, server.stderr())


def without_proc(directory):
    """In a private mount namespace there is nothing."""
    return ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none {directory} && exec "$@"', "sh"]


@plain_build_only
def test_figures_missing_from_proc_are_unknown():
    need_root()
    need_program("unshare")
    for directory, file in (("/proc", "/proc/stat"), ("/proc/sys", "/proc/sys/fs/nr_open")):
        prefix = without_proc(directory)
        check_equal((told([], f"os.stat('{file}')"), told(prefix, f"os.stat('{file}')")), ("done", "ENOENT"),
                    f"{file}, with and without {directory}")
        r, server, from_server, from_client = run_both(prefix)
        for name, got in (("tcpserver", from_server), ("tcpclient", from_client)):
            check_warnings(got, [], "no complete /proc here (No such file or directory)", f"of {name} without {directory}")
        known = directory != "/proc"
        check_equal(r.json["resources"]["rss_bytes"] is not None, known, "whether the client's memory is known")
        check_equal(server.result["rss_bytes"] is not None, known, "whether the server's memory is known")
        check_equal("resident" in r.err, known, f"whether the text has it: {r.err}")
        v = Server("-v", prefix=prefix)
        with v:
            check_equal(v.stop(), 0, "the exit code of tcpserver -v")
        check_equal("net.core.somaxconn" in v.stderr(), False, f"the limit of the accept queue, without {directory}")
        check("EiB" not in r.err + server.stderr(), "no unknown figure is printed as a number")
        for plan in ([TCPCLIENT, "--plan", "127.0.0.1"], [TCPSERVER, "--plan"]):
            p = run_command([*prefix, *plan])
            check(re.search(r"^fs.file-max +- +\d+  ok$", p.stdout, re.M), p.stdout)
            check_warnings(warnings(p.stderr), [], "no complete /proc here", f"of {plan} without {directory}")
            check_equal(run_command([*prefix, *plan, "-q"]).stderr, "", f"{plan} -q")


def test_ipv4_works_when_ipv6_is_disabled():
    with Namespace() as namespace:
        namespace.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.lo.disable_ipv6=1")
        check_equal(told(namespace.prefix, "socket.socket(socket.AF_INET6).bind(('::1', 0))"), "EADDRNOTAVAIL",
                    "an IPv6 address, switched off")
        run_both(namespace.prefix)
        r = run_client("-c", 5, "-t", 1, "::1", prefix=namespace.prefix)
        check_equal((r.code, r.err), (2, "tcpclient: HOST: cannot reach '[::1]:4242': this host has no "
                                         "suitable IPv6 address\n"), "a target without a way to it")


if __name__ == "__main__":
    main()
