# SPDX-License-Identifier: MIT
"""tcpserver on untrusted networks: each source is limited to its share, idle connections are closed, all counted by reason;
it drops the privileges it does not need."""

import socket

from helpers.faults import DENY
from helpers.harness import *
from helpers.authority import Authority, serve_with
from helpers.control_api import token_file
from helpers.served import connect, connect_many, is_served

SHARE = 5
NOBODY = 65534
LIMITS = ("connection limit", "connections of one source", "fd limit", "no memory")


def refusals(server_json):
    return [server_json["refused_by"][name] for name in LIMITS]


def get(path, target):
    """The body of the response of a control port at a unix socket."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return s.makefile().read().split("\n\n", 1)[1]


# --- the share of a source ---

def test_limit_per_source_holds_across_threads():
    control = temp_path("control")
    with Server("--threads", 4, "--max-connections-per-source", SHARE, "--control", "unix:" + control) as server:
        greedy = connect_many(server, 20, "127.0.0.2")
        check_equal(len(greedy), SHARE, "served of the greedy one's 20")
        others = [connect_many(server, SHARE, f"127.0.0.{i}") for i in range(3, 8)]
        check_equal([len(each) for each in others], [SHARE] * 5, "served of the others")
        for s in greedy[:2]:
            s.close()
        wait_for(lambda: json.loads(get(control, "/stats"))["active"] == 6 * SHARE - 2, "the two to end")
        greedy += connect_many(server, 4, "127.0.0.2")
        check_equal(len(greedy), SHARE + 2, "served in their place, too")
        # the client can read a reset before the thread that sent it counts it
        wait_for(lambda: json.loads(get(control, "/stats"))["refused"] == 17, "17 refused, at the control port")
        check_equal(refusals(json.loads(get(control, "/stats"))), [0, 17, 0, 0], "by reason, at the control port")
        metrics = get(control, "/metrics")
        check('tcpserver_refusals_total{limit="connections of one source"} 17\n' in metrics, metrics)
        server.stop()
    check_equal((server.result["refused"], refusals(server.result)), (17, [0, 17, 0, 0]), "refused")
    check_equal(sum(w["refused_by"]["connections of one source"] for w in server.result["workers"]), 17, "by thread")
    check("17 refused\nRefused      connections of one source: 17\n" in server.stderr(), server.stderr())


def datagram_arrives(source, to):
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender, \
            socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as receiver:
        try:
            receiver.bind((to, 0))
            receiver.settimeout(1)
            sender.bind((source, 0))
            sender.sendto(b"x", receiver.getsockname())
            return receiver.recv(1) == b"x"
        except OSError:
            return False


def test_ipv6_source_is_its_first_64_bits():
    need_root()
    if not os.path.exists("/proc/net/if_inet6"):
        skip("no IPv6 here")
    addresses = ("fd00:1::1", "fd00:1::2:1", "fd00:2::1")
    for address in addresses:
        subprocess.run(["ip", "addr", "replace", f"{address}/128", "dev", "lo", "nodad"], check=True)
    for address in addresses:  # a kernel thread adds the routes, later
        wait_for(lambda: datagram_arrives(address, addresses[0]), f"the routes from and to {address}")
    with Server("--max-connections-per-source", SHARE) as server:
        served = [connect_many(server, n, source, "fd00:1::1")
                  for n, source in zip((3, 3, SHARE), addresses)]
        server.stop()
    check_equal([len(each) for each in served], [3, 2, SHARE], "of an address, of its neighbour, of another network")
    check_equal(refusals(server.result), [0, 1, 0, 0], "refused")


def test_place_is_freed_however_a_connection_ended():
    control = temp_path("control")
    # more than the connections of one run, fewer than those of all
    with Server("--threads", 2, "--max-connections-per-source", 450, "--control", "unix:" + control) as server:
        for how in ("fin", "rst"):
            for _ in range(3):
                wait_for(lambda: json.loads(get(control, "/stats"))["active"] == 0, "the last run's to end")
                r = run_client("-p", server.port, "-c", 90, "-r", 2000, "-t", 0.5, "--queries-per-conn", 5, "--close",
                               how, "127.0.0.1")
                check_conservation(r)
                check_equal(r.json["connections"]["failed"], 0, f"failed with {how}")
        server.stop()
    check_equal(server.result["refused"], 0, "refused")
    with stall_may_spoil():
        check(server.result["accepted"] > 2 * 450, f"{server.result['accepted']} accepted")


def test_refusals_are_counted_by_reason():
    # of one thread: two that accept the last one at the same moment may both serve
    with Server("--threads", 1, "--max-connections", 8, "--max-connections-per-source", SHARE) as server:
        served = [connect_many(server, 7, source) for source in ("127.0.0.2", "127.0.0.3")]
        server.stop()
    check_equal([len(each) for each in served], [SHARE, 3], "of the first source, of the second until it is full")
    check_equal(refusals(server.result), [4, 2, 0, 0], "refused")
    with Server("--threads", 1, prefix=under_fd_limit(100)) as server:
        served = connect_many(server, 120, "127.0.0.2")
        server.stop()
    check_between(len(served), 50, 99, "served under 'ulimit -n 100'")
    check_equal(refusals(server.result), [0, 0, 120 - len(served), 0], "refused")


# --- idle ones ---

def ends_within(s, seconds):
    s.settimeout(seconds)
    try:
        return s.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def stuff(s):
    """Sends until the server, whose answers are not read, accepts no more data or has closed the connection."""
    s.settimeout(0.3)
    try:
        while True:
            s.send(b"y" * 65536)
    except (TimeoutError, ConnectionError):
        pass


def connect_deaf(server):
    """Its kernel takes little of what the server's buffers."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.connect(("127.0.0.1", server.port))
    s.sendall(b"y" * 40000)
    return s


def end_of(s):
    s.settimeout(HANGS_S)
    try:
        while s.recv(65536):
            pass
        return "FIN"
    except ConnectionResetError:
        return "RST"


def ping_pong(s, seconds):
    """Whether it is served all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_served(s):
            return False
        time.sleep(0.1)
    return True


def test_peers_that_send_nothing_or_read_nothing_are_closed():
    with Server("--threads", 1, "--idle-timeout", "1s") as server:
        begin = time.monotonic()
        silent, stuffed = connect(server), connect(server)
        stuff(stuffed)
        talking = connect(server)
        with stall_may_spoil():  # it can last longer than the timeout
            check(ping_pong(talking, 3), "who talks is served")
        check(ends_within(silent, 60), "the silent one is closed")
        check(time.monotonic() - begin > 0.9, "not before its time")
        server.stop()
    with stall_may_spoil():
        check_equal(server.result["closed"], {"receive/timed out": 1, "send/timed out": 1}, "closed")
        check_equal(server.result["active"], 1, "active at the end")


def test_idle_peers_that_have_not_read_everything_are_reset():
    control = temp_path("control")
    with Server("--threads", 1, "--idle-timeout", "1s", "--control", "unix:" + control) as server:
        stuffed, deaf, silent = connect(server), connect_deaf(server), connect(server)
        stuff(stuffed)

        def have_ended():
            stats = json.loads(get(control, "/stats"))
            return (stats["accepted"], stats["active"]) == (3, 0)
        wait_for(have_ended, "the end of all")
        check_equal([end_of(s) for s in (stuffed, deaf, silent)], ["RST", "RST", "FIN"], "ends")
        server.stop()


def test_handshake_that_does_not_begin_times_out():
    with serve_with(Authority().sign(), "--idle-timeout", "300ms") as server:
        check(ends_within(connect(server), 60), "closed")
        server.stop()
    check_equal(server.result["closed"], {"tls/timed out": 1}, "closed")


def test_idle_peers_are_kept_without_the_option():
    with Server() as server:
        s = connect(server)
        check(not ends_within(s, 1.5), "open")
        check(is_served(s), "served")


# --- its own rights ---

def statuses(pid):
    """The privileges of each thread, according to the kernel."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as f:
            lines = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
        found.append({key: lines[key].strip() for key in ("Uid", "Gid", "Groups", "CapPrm", "CapEff", "NoNewPrivs")})
    return found


def directory_of_nobody():
    directory = temp_directory()
    os.chown(directory, NOBODY, NOBODY)
    return directory


@plain_build_only  # ThreadSanitizer has started a thread before
def test_user_is_changed_for_good_on_every_thread():
    need_root()
    need_program("setpriv")
    directory = directory_of_nobody()
    control, result = os.path.join(directory, "control"), os.path.join(directory, "json")
    pair = Authority().sign()
    os.chmod(pair[1], 0o600)  # root's alone, as the token and port 80 are
    with serve_with(pair, "--user", "nobody", "--threads", 3, "--json", result, "--control", "unix:" + control,
                    "--control-token", token_file(), port=80, prefix=["setpriv", "--groups", "1,2"]) as server:
        each, = {tuple(sorted(status.items())) for status in statuses(server.pid)}
        check_equal(len(statuses(server.pid)), 4, "threads")
        check_equal(dict(each), {"Uid": "\t".join([str(NOBODY)] * 4), "Gid": "\t".join([str(NOBODY)] * 4),
                                 "Groups": "", "CapPrm": "0" * 16, "CapEff": "0" * 16, "NoNewPrivs": "1"}, "rights")
        about = os.stat(control)
        check_equal((about.st_uid, about.st_mode & 0o777), (NOBODY, 0o600), "owner and mode of the control socket")
        server.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: os.path.exists(result), "the JSON")
        check_equal(os.stat(result).st_uid, NOBODY, "owner of the JSON")
        answer = get(control, "/stats")
        check("Bearer TOKEN" in answer and '"accepted"' not in answer, f"the token is asked for: {answer}")
        os.rename(result, result + ".1")
        server.json_path = result
        check_equal(server.stop(), 0, f"exit code: {server.stderr()}")
    check_equal(server.result["accepted"], 0, "accepted")
    check(not os.path.exists(control), "the control socket is removed")


@plain_build_only
def test_no_privileges_can_be_gained_without_user():
    with Server() as server:
        check_equal({status["NoNewPrivs"] for status in statuses(server.pid)}, {"1"}, "NoNewPrivs")


def start_fails(*arguments, contains, prefix=()):
    r = run_command([*prefix, TCPSERVER, *arguments, "0"])
    check_equal((r.returncode, r.stdout, len(r.stderr.splitlines())), (2, "", 1), f"{arguments}: {r.stderr}")
    check(contains in r.stderr, f"'{contains}' in: {r.stderr}")


def test_server_does_not_start_if_the_user_cannot_be_changed_for_good():
    need_root()
    need_program("setpriv")
    for user, contains in (("root", "other than root"), ("no-such-user", "no such user"), ("nobody:no-such", "no such group"),
                           (":nogroup", "no such user"), ("nobody:", "no such group")):
        start_fails("--user", user, contains=contains)
    start_fails("--user", "nobody", "--json", temp_path("json"), contains="cannot write")
    start_fails("--user", "nobody", contains="not permitted",
                prefix=["setpriv", "--reuid", str(NOBODY), "--clear-groups"])
    for call in ("setgroups", "setresgid", "setresuid"):  # which says that it is done and does nothing
        start_fails("--user", "nobody", contains="could be regained",
                    prefix=["setpriv", "--groups", "1,2", *DENY, call, "--"])


def plan_of_threads(n_threads, *arguments, prefix=()):
    r = subprocess.run([*prefix, "prlimit", "--nproc=3:", TCPSERVER, "--threads", str(n_threads), "--plan", *arguments],
                       capture_output=True, text=True, timeout=HANGS_S)
    return r.returncode, "threads of this user" in r.stdout


def test_plan_has_the_limit_on_threads_of_the_user_to_come():
    need_root()
    need_program("prlimit")
    check_equal(plan_of_threads(8, "--user", "nobody"), (2, True), "8 threads of nobody, who may have 3")
    check_equal(plan_of_threads(8), (0, False), "the control: root may have any number")


def test_plan_has_the_limit_on_threads_of_root_in_a_user_namespace():
    """As in a container without root: to the host, it is any user."""
    need_root()
    need_program("setpriv", "unshare", "prlimit")
    prefix = ["setpriv", "--reuid", str(NOBODY), "--clear-groups", "unshare", "--user", "--map-root-user"]
    r = run_command([*prefix, "id", "-u"])
    if r.returncode != 0:
        skip(f"no user namespaces here: {r.stderr.strip()}")
    check_equal(r.stdout, "0\n", "the user in the namespace")
    check_equal(plan_of_threads(8, prefix=prefix), (2, True), "8 threads, of which it may have 3")
    # the search for leaks starts a thread, too, maybe while those that have ended still count
    without = ["env", "ASAN_OPTIONS=abort_on_error=1:detect_leaks=0"]
    start_fails("--threads", "8", "--force", contains="temporarily unavailable (see ulimit -u",
                prefix=[*prefix, *without, "prlimit", "--nproc=3:"])


if __name__ == "__main__":
    main()
