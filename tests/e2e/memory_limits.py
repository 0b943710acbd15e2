# SPDX-License-Identifier: MIT
"""Where memory or CPU time is limited by a cgroup: the plan says so before the run."""

from cgroups import *


def plan(program, *arguments, prefix=()):
    """(exit code, {limit: its line}) of --plan."""
    r = subprocess.run([*prefix, program, "--plan", "--json", "-", *arguments], capture_output=True, text=True, timeout=30)
    return r.returncode, {line["limit"]: line for line in json.loads(r.stdout)["plan"]}


def test_plan_in_a_small_cgroup_says_stop_and_names_its_file():
    client = ("-c", "100k", "--source", "127.0.0.2-127.0.0.3", "127.0.0.1")
    with MemoryCgroup(64 * MIB) as cgroup:
        for program, arguments in ((TCPCLIENT, client), (TCPSERVER, ("-c", "100k"))):
            code, lines = plan(program, *arguments, prefix=cgroup.prefix)
            line = lines["cgroup memory (bytes available)"]
            check_equal((code, line["level"]), (2, "stop"), f"exit code and level of {program}")
            check_between(line["is"], 32 * MIB, 64 * MIB, "bytes available")
            check(cgroup.path in line["fix"] and cgroup.limit_file in line["fix"], line["fix"])
            check_equal(lines["memory (bytes available)"]["level"], "ok", "of the machine")
            code, lines = plan(program, *arguments[2:], "-c", "1000", prefix=cgroup.prefix)
            check_equal((code, lines["cgroup memory (bytes available)"]["level"]), (0, "ok"), "a thousand fit")
    code, lines = plan(TCPCLIENT, *client)  # the control
    check_equal(code, 0, "exit code outside of it")


def test_plan_under_a_limit_of_address_space_says_stop():
    under = ["sh", "-c", 'ulimit -v 100000; exec "$@"', "sh"]
    code, lines = plan(TCPSERVER, "-c", "1M", prefix=under)
    check_equal((code, lines["address space (bytes available)"]["level"]), (2, "stop"), "exit code and level")
    check("ulimit -v" in lines["address space (bytes available)"]["fix"], "the remedy")
    check("address space (bytes available)" not in plan(TCPSERVER, "-c", "1M")[1], "without a limit there is no line")


def test_threads_auto_takes_no_more_threads_than_the_quota_pays_for():
    if len(os.sched_getaffinity(0)) < 2:
        skip("a single CPU")
    for quota_us, n_threads in ((50000, 1), (100000, 1), (110000, 2)):
        with CpuCgroup(quota_us, 100000) as cgroup, Server(prefix=cgroup.prefix) as server:
            server.stop()
            check_equal(len(server.result["workers"]), n_threads, f"threads with {quota_us / 100000} of a CPU")


if __name__ == "__main__":
    main()
