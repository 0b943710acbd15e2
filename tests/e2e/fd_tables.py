# SPDX-License-Identifier: MIT
"""tcpserver beyond one fd table: a thread whose table is full lets others accept for it; with --threads auto another
thread is started when all are full."""

import resource

from helpers.control_api import ask, control_path, metrics, stats
from helpers.harness import *
from helpers.served import connect, connect_many, is_served

LIMIT = 200  # of a table; some of it are not connections
UNDER = under_fd_limit(LIMIT)


def close_all(server, sockets):
    for s in sockets:
        s.close()
    wait_for(lambda: server_ends(server.port) == 0, "the server to close them")


@covered_by_others
@needs_own_fd_tables
def test_default_server_takes_many_times_its_fd_limit():
    with Server(prefix=UNDER) as server:
        check(" (more when their fd tables are full), room for " in server.stderr(), server.stderr())
        r = run_client("-p", server.port, "-c", 1500, "-r", 1500, "-t", 1, "127.0.0.1")
        server.stop()
    check_complete(r)
    check_equal(r.json["connections"]["proven"], 1500, "proven")
    s = server.result
    check_equal((s["accepted"], s["refused"], s["peak"], s["accept_pauses"]), (1500, 0, 1500, 0), "of the server")
    each = [worker["accepted"] for worker in s["workers"]]
    check_equal(sum(each), 1500, "accepted by all threads")
    check(len(each) > 1500 // LIMIT and max(each) < LIMIT, f"accepted by each: {each}")


@covered_by_others
@needs_own_fd_tables
def test_fixed_threads_refuse_only_when_no_table_has_room():
    with Server("--threads", 2, prefix=UNDER) as server:
        served = connect_many(server, 3 * LIMIT)
        room = len(served)
        check_between(room, 2 * (LIMIT - 20), 2 * (LIMIT - 1), "room in two tables")
        for _ in range(3):  # the kernel hardly ever deals exactly half of them to each listener
            close_all(server, served)
            served = connect_many(server, room)
            check_equal(len(served), room, "served as long as a table has room")
        check(not connect_many(server, 1), "one more is refused")
        served.pop().close()
        wait_for(lambda: server_ends(server.port) < room, "one to end")
        check(connect_many(server, 1), "whichever listener it comes to, it takes the slot of the one that ended")
        server.stop()
    check_equal(len(server.result["workers"]), 2, "threads")
    check_equal(server.result["refused_by"]["fd limit"], 3 * LIMIT - room + 1, "refused")
    check(re.search(r"cannot accept: Too many open files;.*\(use --threads auto, which adds a table per thread, or raise the hard "
                    r"limit: ulimit -Hn\)\n", server.stderr()), server.stderr())


@needs_own_fd_tables
@covered_by_others
def test_started_threads_are_reused():
    path, n_threads = control_path(), []
    with Server("--control", path, prefix=UNDER) as server:
        for _ in range(3):
            served = connect_many(server, 900)
            check_equal(len(served), 900, "served")
            n_threads.append(len(stats(path)["workers"]))
            close_all(server, served)
    check(n_threads[0] > 900 // LIMIT, f"threads: {n_threads}")
    check_equal(n_threads, n_threads[:1] * 3, "threads, as often as they come")


@covered_by_others
@needs_own_fd_tables
def test_later_threads_are_reported_and_controlled_like_the_others():
    path = control_path()
    with Server("--control", path, prefix=UNDER) as server:
        served = connect_many(server, 900)
        now = stats(path)
        n_threads = len(now["workers"])
        check_equal((now["active"], sum(w["active"] for w in now["workers"])), (900, 900), "active")
        shown = [value for name, value in metrics(path)[1].items() if name.startswith("tcpserver_connections_active{")]
        check_equal((len(shown), sum(shown)), (n_threads, 900), "active, as metrics")
        ask(path, "/connections/stop?n=450")
        wait_for(lambda: stats(path)["active"] == 450, "half of them to be stopped")
        left = [w["active"] for w in stats(path)["workers"]]
        check(all(0 < n < LIMIT * 0.6 for n in left), f"each thread stopped its part: {left}")
        ask(path, "/pause")
        waiting = [connect(server) for _ in range(900)]
        time.sleep(0.3)
        check_equal((stats(path)["active"], len(stats(path)["workers"])), (450, n_threads), "active, threads in the pause")
        ask(path, "/resume")
        check(all(is_served(s) for s in waiting), "served after the pause")
        check_equal(stats(path)["refused"], 0, "refused")
        server.stop()
    check_equal(len(served), 900, "served before it")
    check(len(server.result["workers"]) > n_threads, "more threads for the newcomers")


@covered_by_others
@needs_own_fd_tables
def test_limits_also_hold_for_later_threads():
    with Server("--max-connections-per-source", 300, prefix=UNDER) as server:
        served = [connect_many(server, 400, source) for source in ("127.0.0.2", "127.0.0.3")]
        server.stop()
    check_equal([len(each) for each in served], [300, 300], "served of each source")
    check_equal(server.result["refused_by"]["connections of one source"], 200, "refused")
    with Server("--max-connections", 700, prefix=UNDER) as server:
        served = connect_many(server, 800)
        n_threads = len(server.stop() or server.result["workers"])
    check_between(len(served), 700, 700 + n_threads, "served, and one under way in each thread")
    check_equal(server.result["refused_by"]["connection limit"], 800 - len(served), "refused")


@plain_build_only
def test_thread_that_cannot_be_started_is_named_and_retried():
    with Server(prefix=UNDER) as server:
        most = resource.prlimit(server.pid, resource.RLIMIT_AS)
        no_stack = (1 << 20, most[1])
        resource.prlimit(server.pid, resource.RLIMIT_AS, no_stack)
        served = connect_many(server, 2000)
        check(len(served) < 2000, "some were refused")
        wait_for(lambda: "cannot start thread" in server.stderr(), "its words")
        check_equal(server.stderr().count("cannot start thread"), 1, "said once")
        resource.prlimit(server.pid, resource.RLIMIT_AS, most)
        wait_for(lambda: connect_many(server, 1), "another thread")
        check_equal(len(connect_many(server, 500)), 500, "served from then on")
        resource.prlimit(server.pid, resource.RLIMIT_AS, no_stack)
        served += connect_many(server, 2000)
        wait_for(lambda: server.stderr().count("cannot start thread") == 2, "the second shortage, said as well")
        server.stop()
    check_equal(server.result["refused"], server.result["refused_by"]["fd limit"], "refused, all for lack of descriptors")


def n_listening_sockets(server):
    return sum(s.state == LISTEN and s.local_port == server.port for s in tcp_sockets())


@needs_own_fd_tables
def test_verbose_server_names_its_limits_and_each_thread_that_it_starts():
    somaxconn = int(read_text("/proc/sys/net/core/somaxconn"))
    with Server("-v", prefix=UNDER) as server:
        connect_many(server, 900)
        n_sockets = n_listening_sockets(server)
        server.stop()
    n_threads = int(re.search(r", (\d+) threads? \(more", server.stderr())[1])
    check(re.search(rf"^tcpserver: fd limit {LIMIT} per thread; {n_sockets} listening sockets?, accept queue 4,096 each, "
                    rf"at most {somaxconn:,} \(net.core.somaxconn\); libevent \S+ \(epoll\)$", server.stderr(), re.M), server.stderr())
    check_equal([int(i) for i in re.findall(r"thread (\d+) started: the fd tables of all others are full\n", server.stderr())],
                list(range(n_threads, len(server.result["workers"]))), "threads that it says it has started")
    with Server("-v", "--threads", 60, "--backlog", 100) as server:
        n_sockets = n_listening_sockets(server)
        server.stop()
    check(f"; {n_sockets} listening sockets, accept queue 100 each, " in server.stderr(), server.stderr())
    with Server(prefix=UNDER) as server:
        connect_many(server, 900)
        server.stop()
    check(len(server.result["workers"]) > n_threads, "the control: threads")
    check(not re.search("fd limit|started", server.stderr()), f"the control: {server.stderr()}")


@needs_own_fd_tables
def test_plan_mentions_threads_that_start_later():
    auto, fixed = (run_command([*UNDER, TCPSERVER, "--plan", *threads]).stdout
                   for threads in ([], ["--threads", "2"]))
    check(re.match(r"room for [\d,]+ connections: \d+ threads?, more when their fd tables are full\n", auto), auto)
    check(re.match(r"room for 272 connections: 2 threads\n", fixed), fixed)
    # the main thread has a descriptor for each of the others
    check_equal(int(re.search(r"[\d,]+", auto)[0].replace(",", "")), (LIMIT - LIMIT // 8 - 64) * (LIMIT - 64), "room")
    many = run_command([*UNDER, TCPSERVER, "-c", "100k", "0"])
    check_equal(many.returncode, 2, "exit code for more threads than descriptors")
    check("fd limit per table: available 200" in many.stderr and "threads), or fewer connections" in many.stderr, many.stderr)


if __name__ == "__main__":
    main()
