# SPDX-License-Identifier: MIT
"""Limits of a cgroup on memory, CPU time or threads: the plan shows them before the run, and a forced run stops opening
connections before the kernel kills it."""

from helpers.authority import Authority, serve_with
from helpers.cgroups import *
from helpers.served import connect_many


def plan(program, *arguments, prefix=()):
    """(exit code, {limit: its line}) of --plan."""
    r = run_command([*prefix, program, "--plan", "--json", "-", *arguments])
    return r.returncode, {line["limit"]: line for line in json.loads(r.stdout)["plan"]}


def test_plan_in_a_small_cgroup_says_stop_and_names_its_file():
    client = ("-c", "100k", "--source", "127.0.0.2-127.0.0.3", "127.0.0.1")
    with MemoryCgroup(64 * MIB) as cgroup:
        for program, arguments in ((TCPCLIENT, client), (TCPSERVER, ("-c", "100k"))):
            code, lines = plan(program, *arguments, prefix=cgroup.prefix)
            line = lines["cgroup memory (bytes available)"]
            check_equal((code, line["level"]), (2, "stop"), f"exit code and level of {program}")
            check_between(line["is"], 32 * MIB, 64 * MIB, "bytes available")
            check(os.path.basename(cgroup.path) in line["fix"] and cgroup.limit_file in line["fix"], line["fix"])
            check_equal(lines["memory (bytes available)"]["level"], "ok", "of the machine")
            code, lines = plan(program, *arguments[2:], "-c", "1000", prefix=cgroup.prefix)
            check_equal((code, lines["cgroup memory (bytes available)"]["level"]), (0, "ok"), "a thousand fit")
    code, lines = plan(TCPCLIENT, *client)  # the control
    check_equal(code, 0, "exit code outside of it")


def forced_run(limit_bytes, n, of_client=True, of_server=True):
    """(cgroup's kills, result of the client, server) of n connections where they do not fit."""
    with MemoryCgroup(limit_bytes) as cgroup, \
         Server("--force", "--max-connections", n, prefix=cgroup.prefix if of_server else ()) as server:
        r = run_client("--force", "-p", server.port, "-c", n, "-r", 500, "-t", 1, "--source", "127.0.0.2-127.0.0.3",
                       "--close", "rst", "127.0.0.1", prefix=cgroup.prefix if of_client else ())
        check_equal(server.stop(), 0, "exit code of the server")
        check_equal(cgroup.kills(), 0, "programs that the kernel killed")
    check(server.result is not None, "the server's result is written")
    check_conservation(r)
    check_code(r, 3)
    check("connections-short" in r.json["reasons"], f"doubts: {r.json['reasons']}")
    return r, server


def check_stopped_for_memory(r, n, least):
    """The client opened at least this many and names what stopped it; live connections are served."""
    c, q = r.json["connections"], r.json["queries"]
    check_between(c["live_at_end"], least, n // 2, "live at the end")
    check_equal(c["outcomes"], {"socket/no memory": n - c["proven"], "run/finished": c["proven"]}, "outcomes")
    line = r.json["diagnosis"][0]
    check_equal((line["limit"], line["connections"]), ("memory", n - c["proven"]), "limiting factor")
    check("MiB of 64.0 MiB left" in line["evidence"] and "memory." in line["evidence"], line["evidence"])
    check(line["evidence"] in r.err, "the summary says so")
    check(q["answered"] == q["scheduled"] > 0, f"queries: {q}")


@plain_build_only
def test_client_in_a_small_cgroup_stops_opening_and_reports():
    r, server = forced_run(64 * MIB, 100000, of_server=False)
    check_stopped_for_memory(r, 100000, 5000)
    check_equal(server.result["refused"], 0, "refused")


@plain_build_only
def test_both_in_a_small_cgroup_are_not_killed_and_the_client_stops_first():
    r, server = forced_run(64 * MIB, 100000)
    check_stopped_for_memory(r, 100000, 3000)
    check_equal(server.result["refused"], 0, "refused")


@plain_build_only
def test_server_in_a_small_cgroup_refuses_others_and_keeps_serving():
    r, server = forced_run(32 * MIB, 30000, of_client=False)
    c, q = r.json["connections"], r.json["queries"]
    check_between(c["live_at_end"], 4000, 25000, "live at the end")
    check(server.result["refused_by"]["no memory"] > 0, f"refused: {server.result['refused_by']}")
    check_equal(server.result["refused_by"]["no memory"], server.result["refused"], "refused for memory")
    check(re.search(r"low memory, refusing new connections: \S+ MiB of 32.0 MiB left \(\S*memory\.\S+\), ", server.stderr()),
          server.stderr())
    check(q["answered"] == q["scheduled"] > 0, f"queries: {q}")


def test_plan_under_a_limit_of_address_space_says_stop():
    under = ["sh", "-c", 'ulimit -v 100000; exec "$@"', "sh"]
    code, lines = plan(TCPSERVER, "-c", "1M", prefix=under)
    check_equal((code, lines["address space (bytes available)"]["level"]), (2, "stop"), "exit code and level")
    check("ulimit -v" in lines["address space (bytes available)"]["fix"], "the remedy")
    check("address space (bytes available)" not in plan(TCPSERVER, "-c", "1M")[1], "without a limit there is no line")


def room_of(prefix, *arguments):
    """The connections for which tcpserver says it has room, and its plan."""
    said = json.loads(run_command([*prefix, TCPSERVER, "--plan", "--json", "-", *map(str, arguments)]).stdout)
    return int(re.search(r"room for ([\d,]+) connections", said["title"])[1].replace(",", "")), said["plan"]


@plain_build_only
def test_server_has_room_for_what_the_address_space_holds_with_the_stacks_of_its_threads():
    under = ["sh", "-c", 'ulimit -v 60000; ulimit -n 1000; ulimit -s 8192; exec "$@"', "sh"]
    room, _ = room_of(under)
    check_between(room, 900, 7 * 1000, "at most seven stacks of 8 MiB fit, each thread with a table of 1,000")


@plain_build_only
def test_tls_needs_no_more_address_space_than_the_plan_says():
    """Too little for an arena of malloc(3) per thread."""
    ca = Authority()
    under = [["sh", "-c", f'ulimit -v {kib}; ulimit -s 8192; exec "$@"', "sh"] for kib in (60000, 80000)]
    run = ["-c", 300, "-r", 300, "-t", "200ms", "--threads", 2, "--connect-window", 4, "--tls",
           "--tls-ca", ca.cert, "127.0.0.1"]
    for of_server, of_client in ((under[0], ()), ((), under[1])):
        with serve_with(ca.sign(), "--threads", 2, prefix=of_server) as server:
            code, lines = plan(TCPCLIENT, *map(str, run), prefix=of_client)
            check_equal(code, 0, f"exit code of the plan: {lines}")
            r = run_client("-p", server.port, *run, prefix=of_client)
            check_equal(r.json["connections"]["live_at_end"], 300, f"live at the end: {r.err}")


def limited_to(kib):
    return ["sh", "-c", f'ulimit -v {kib}; ulimit -s 8192; exec "$@"', "sh"]


def peak_kib(server, limit_kib, run):
    """The address space of a tcpclient under load."""
    client = Client("-p", server.port, *run, "--stats-interval", "100ms", "127.0.0.1", prefix=limited_to(limit_kib))
    wait_until_running(client)
    peak = int(re.search(r"^VmPeak:\s+(\d+) kB$", read_text(f"/proc/{client.pid}/status"), re.M)[1])
    client.process.send_signal(signal.SIGINT)
    client.wait()
    return peak


@plain_build_only
def test_plan_counts_the_address_space_that_a_run_takes_and_no_more_than_a_third_in_addition():
    classes = [a for i in range(8) for a in ("--class", f"name=c{i},share=12.5%")]
    load, ample_kib = ["-c", 72, "-r", 200], 4000000
    runs = [[*load, "--threads", n, *more] for n, more in (
        (1, ()), (4, ()), (9, ()), (1, classes), (4, classes), (2, ("--raw", "--output", "/dev/null")),
        (2, ("--queries-per-conn", 10, "--reconnect")))]
    runs.append(["-c", 72, "-r", 5000, "--timeout", "60s", "--threads", 2])
    with Server("--threads", 1) as server:
        for run in runs:
            _, lines = plan(TCPCLIENT, *LONG_TIMEOUTS, *map(str, run), "127.0.0.1", prefix=limited_to(ample_kib))
            line = lines["address space (bytes available)"]
            mapped_before = ample_kib * 1024 - line["is"]
            taken = peak_kib(server, ample_kib, run) * 1024 - mapped_before
            check_between(line["needed"], taken, taken * 4 // 3, f"bytes of {run}")
            exact_kib = (mapped_before + line["needed"]) // 1024 + 100
            code, lines = plan(TCPCLIENT, *LONG_TIMEOUTS, *map(str, run), "127.0.0.1", prefix=limited_to(exact_kib))
            check_equal(code, 0, f"exit code of the plan: {lines}")
            peak_kib(server, exact_kib, run)


def test_plan_counts_the_rows_that_fill_the_rings():
    run = ["-c", "100", "--threads", "2", "--arrival", "constant"]
    for load, n_bytes in ((["-r", "100", "-t", "10"], 1000 * 64), (["-r", "15000", "-t", "1h"], 64 * MIB),
                          (["-i", "1s", "--loop", "closed", "-t", "1"], 64 * MIB)):
        without, counted = (plan(TCPCLIENT, *run, *load, *of_rows, "127.0.0.1")[1]["memory (bytes available)"]["needed"]
                            for of_rows in ((), ("--raw", "--output", "/dev/null")))
        check_equal(counted - without, n_bytes, f"bytes of rows: {load}")


def files_of_a_program_that_cannot_start(argv, options, old):
    """Runs it with an output for each option, in which `old`, if any, is from an earlier run.  Returns what it prints,
    and the content of the files."""
    with tempfile.TemporaryDirectory(prefix="tcpscaler-test-") as d:
        for option in options if old else ():
            write_text(f"{d}/{option}", old)
        r = run_command([*argv, *(word for option in options for word in (f"--{option}", f"{d}/{option}"))])
        check_equal(r.returncode, 2, f"exit code: {r.stderr}")
        return r.stderr, {name: read_text(f"{d}/{name}") for name in os.listdir(d)}


@plain_build_only
def test_client_that_cannot_start_names_the_limits_and_keeps_old_files():
    """Rows do not fit into 60 MB, or with them the threads do not into 140."""
    for kib, options, why in ((60000, ("hlog", "json"), "cannot start"), (60000, ("hlog", "output"), "raw output"),
                              (140000, ("hlog", "json", "output", "connections-out"), "cannot start")):
        argv = [*limited_to(kib), TCPCLIENT, "-c", "64", "--threads", "4", "--force", "127.0.0.1"]
        for old in ("of yesterday", None):
            said, files = files_of_a_program_that_cannot_start(argv, options, old)
            check(re.search(rf"{why}: .* \(see .*ulimit -v and -d\)$", said, re.M), said)
            check_equal(files, {option: old for option in options} if old else {}, "files without a run")


@plain_build_only
def test_server_that_cannot_start_leaves_the_files_as_they_are():
    for old in ("of yesterday", None):
        argv = [*limited_to(60000), TCPSERVER, "--threads", "64", "--force", "0"]
        said, files = files_of_a_program_that_cannot_start(argv, ["connections-out"], old)
        check_equal(files, {"connections-out": old} if old else {}, f"files: {said}")


@plain_build_only
def test_server_that_counts_sources_starts_in_a_small_address_space():
    """The table of sources is as large as what the address space leaves for connections."""
    for kib in (60000, 80000, 100000, 150000):
        under = ["sh", "-c", f'ulimit -v {kib}; ulimit -s 8192; exec "$@"', "sh"]
        room, counted = room_of(under), room_of(under, "--max-connections-per-source", 5)
        check_between(counted[0], room[0] * 3 // 4, room[0], f"room with and without the table in {kib} KiB")
        with Server("--threads", 1, "--max-connections-per-source", 5, prefix=under):
            pass
        with Server("--max-connections-per-source", 5, prefix=under) as server:
            r = run_client("-p", server.port, "-c", 10, "-t", "200ms", "127.0.0.1")
            check_equal(r.json["connections"]["live_at_end"], 5, f"live in {kib} KiB: {r.err}")


@plain_build_only
def test_server_counts_sources_where_the_plan_finds_no_room():
    """Its threads start with less than the plan allows for."""
    options = "--threads", "8", "--max-connections-per-source", "5"
    line = plan(TCPSERVER, *options, prefix=limited_to(60000))[1]["address space (bytes available)"]
    under = limited_to(60000 + (line["needed"] - line["is"]) // 1024 + 2500)
    check_equal(room_of(under, *options)[0], 0, "room")
    with Server(*options, prefix=under) as server:
        r = run_client("-p", server.port, "-c", 10, "-t", "200ms", "127.0.0.1")
        check_equal(r.json["connections"]["live_at_end"], 5, f"live: {r.err}")


@plain_build_only
def test_table_of_sources_that_does_not_fit_is_named():
    under = ["sh", "-c", 'ulimit -v 20000; exec "$@"', "sh"]
    stops = stops_of(TCPSERVER, "-c", "2M", "--max-connections-per-source", "5", "--force", "--quiet", "0", prefix=under)
    check_equal(len(stops), 1, f"lines: {stops}")
    check(re.search(r"--max-connections-per-source: out of memory for the sources of [\d,]+ connections: use a smaller --max-con", stops[0]),
          stops[0])


@plain_build_only
def test_plan_counts_the_table_of_sources():
    under = ["sh", "-c", 'ulimit -v 1000000; exec "$@"', "sh"]
    without, counted = (plan(TCPSERVER, "-c", "100k", *of_sources, prefix=under)[1]
                        for of_sources in ((), ("--max-connections-per-source", "5")))
    for limit in ("address space (bytes available)", "memory (bytes available)"):
        check_equal(counted[limit]["needed"] - without[limit]["needed"], 24 * 100000, limit)


@plain_build_only
def test_server_has_room_for_what_a_cgroup_holds_above_its_reserve():
    with MemoryCgroup(32 * MIB) as cgroup:
        room, lines = room_of(cgroup.prefix)
    line, = (line for line in lines if line["limit"] == "cgroup memory (bytes available)")
    check_between(line["is"], 20 * MIB, 28 * MIB, "bytes available: 4 MiB are kept in reserve")
    check_between(room * 1563, line["is"] // 3, line["is"], "bytes of connections")


def stops_of(program, *arguments, prefix):
    """The lines on stderr of a run that does not fit."""
    r = run_command([*prefix, program, *arguments])
    check_equal(r.returncode, 2, f"exit code: {r.stderr}")
    return r.stderr.splitlines()


def test_plan_in_a_cgroup_of_few_threads_says_stop_and_names_its_file():
    with PidsCgroup(6) as cgroup:
        for program, arguments in ((TCPCLIENT, ("-c", "100", "127.0.0.1")), (TCPSERVER, ("-c", "100"))):
            code, lines = plan(program, "--threads", "2", *arguments, prefix=cgroup.prefix)
            check_equal((code, lines["cgroup pids.max"]["level"]), (0, "ok"), "two fit")
            code, lines = plan(program, "--threads", "8", *arguments, prefix=cgroup.prefix)
            line = lines["cgroup pids.max"]
            check_equal((code, line["level"], line["is"]), (2, "stop", 6), f"{program}: exit code, level and limit")
            check_between(line["needed"], 9, 10, "8 and the main thread; ThreadSanitizer has one, too")
            check(f"{os.path.basename(cgroup.path)}/pids.max to {line['needed']}" in line["fix"], line["fix"])
            said, = stops_of(program, "--threads", "8", *arguments, prefix=cgroup.prefix)
            check("cgroup pids.max: available 6, needed" in said and line["fix"] in said, said)
        code, lines = plan(TCPCLIENT, "--threads", "5", "--output", "/dev/null", "-c", "100", "127.0.0.1", prefix=cgroup.prefix)
        check_equal((code, lines["cgroup pids.max"]["level"]), (2, "stop"), "the thread that writes rows counts")
        said, = stops_of(TCPSERVER, "--threads", "8", prefix=cgroup.prefix)
        check("8 threads: cgroup pids.max" in said, f"without --max-connections: {said}")


@plain_build_only
def test_server_in_a_cgroup_of_few_threads_plans_for_what_they_can_hold():
    cpu = str(min(os.sched_getaffinity(0)))
    with PidsCgroup(20) as cgroup:
        r = run_command([*cgroup.prefix, *under_fd_limit(1024), TCPSERVER, "--plan", "--cpu", cpu])
    check_equal(r.returncode, 0, f"exit code: {r.stderr}")
    room = int(re.match(r"room for ([\d,]+) connections", r.stdout)[1].replace(",", ""))
    check_equal(room, (1024 - 64) * 19, "room: 19 threads in addition to the main one")


@plain_build_only
def test_server_that_cannot_have_another_thread_names_the_limit_on_threads():
    cpu = str(min(os.sched_getaffinity(0)))
    with PidsCgroup(3) as cgroup, Server("--cpu", cpu, prefix=[*cgroup.prefix, *under_fd_limit(200)]) as server:
        check(len(connect_many(server, 500)) < 500, "two threads have no room for all")
        wait_for(lambda: "cannot accept" in server.stderr(), "its words")
        check("(raise the cgroup's pids.max, for more threads, or the hard limit of each thread: ulimit -Hn)" in server.stderr(),
              server.stderr())
        server.stop()
    with Server("--cpu", cpu, prefix=under_fd_limit(100)) as server:  # a descriptor of the main thread for each other one
        check(len(connect_many(server, 3000)) < 3000, "24 threads have no room for all")
        wait_for(lambda: "cannot accept" in server.stderr(), "its words")
        check("for more threads" not in server.stderr(), f"the control: {server.stderr()}")
        server.stop()


@plain_build_only
def test_without_a_single_thread_only_the_limit_on_threads_is_named():
    with PidsCgroup(1) as cgroup:
        for program, arguments in ((TCPCLIENT, ("-c", "5000", "127.0.0.1")), (TCPSERVER, ("-c", "5000"))):
            said, = stops_of(program, *arguments, prefix=[*cgroup.prefix, *under_fd_limit(1000)])
            check("cgroup pids.max: available 1," in said, said)


def test_threads_auto_takes_no_more_threads_than_the_quota_pays_for():
    if len(os.sched_getaffinity(0)) < 2:
        skip("a single CPU")
    for quota_us, n_threads in ((50000, 1), (100000, 1), (110000, 2)):
        with CpuCgroup(quota_us, 100000) as cgroup, Server(prefix=cgroup.prefix) as server:
            server.stop()
            check_equal(len(server.result["workers"]), n_threads, f"threads with {quota_us / 100000} of a CPU")


if __name__ == "__main__":
    main()
