# SPDX-License-Identifier: MIT
"""setup-server.sh and setup-client.sh in a network namespace: applied twice and reverted, every sysctl, rule and address
is restored; and what they refuse."""

import ipaddress

from helpers.setup_host import *


def test_server_setup_applied_twice_and_reverted_leaves_no_trace():
    need_program("nft", "ip", "sysctl")
    state = temp_path("state")
    with Namespace() as namespace:
        before = everything(namespace)
        common = ("--notrack", "--connections", "1000", "--state", state)
        script(namespace, SERVER, "--check", *common, code=1)
        dry = script(namespace, SERVER, "--dry-run", "--small-buffers", *common).stdout
        check("sysctl -w net.ipv4.tcp_syncookies=" in dry, dry)
        check_same(everything(namespace), before, "after --check and --dry-run")
        script(namespace, SERVER, "--apply", "--small-buffers", *common)
        applied = everything(namespace)
        check_equal(value(namespace, "net.ipv4.tcp_syncookies"), ["0"], "syncookies")
        check_equal(value(namespace, "net.core.somaxconn"), ["16384"], "somaxconn")
        check_equal(value(namespace, "net.ipv4.tcp_rmem"), ["1024", "4096", "16384"], "tcp_rmem")
        check(any("notrack" in line for line in applied), "the notrack rule")
        script(namespace, SERVER, "--apply", "--small-buffers", *common)
        check_same(everything(namespace), applied, "after the second --apply")
        script(namespace, SERVER, "--check", "--small-buffers", *common)
        script(namespace, SERVER, "--revert", *common)
        check_same(everything(namespace), before, "after --revert")
        check(not os.path.exists(state), "the state file is gone")
        script(namespace, SERVER, "--revert", *common)


def test_client_setup_with_sources_applied_twice_and_reverted_leaves_no_trace():
    need_program("nft", "ip", "sysctl")
    state = temp_path("state")
    with Namespace() as namespace:
        before = everything(namespace)
        common = ("--connections", "1000", "--state", state)
        sources = ("--sources", "10.9.8.7,10.9.9.1-3,10.50.0.0/16", "--dev", "lo")
        script(namespace, CLIENT, "--apply", *common, *sources, "--low-port", "500")
        applied = everything(namespace)
        check_equal(value(namespace, "net.ipv4.ip_local_port_range"), ["1024", "65535"], "ports")
        for address in ("10.9.8.7/32", "10.9.9.1/32", "10.9.9.3/32", "local 10.50.0.0/16 dev lo"):
            check(any(address in line for line in applied), f"{address} is there")
        script(namespace, CLIENT, "--apply", *common, *sources, "--low-port", "500")
        check_same(everything(namespace), applied, "after the second --apply")
        with Server(prefix=namespace.prefix) as server:
            r = run_client("-p", server.port, "-c", 8, "-t", 0.5, "--source",
                           "10.9.9.1-3,10.50.77.0/30", "--sport", "600-601", "127.0.0.1",
                           prefix=namespace.prefix)
        check_equal(r.json["connections"]["proven"], 8, "connections from the new addresses")
        script(namespace, CLIENT, "--revert", *common)
        check_same(everything(namespace), before, "after --revert")


def test_connections_may_come_from_a_block_of_either_family():
    need_program("ip", "sysctl")
    with Namespace() as namespace:
        before = everything(namespace)
        common = ("--connections", "1000", "--state", temp_path("state"))
        for block, other, target in (("10.50.0.0/30", "10.60.0.1", "127.0.0.1"), ("fd50::/126", "fd60::1", "::1")):
            script(namespace, CLIENT, "--apply", *common, "--sources", f"{block},{other}", "--dev", "lo")
            with Server(prefix=namespace.prefix, port=4242):
                r = run_client("-c", 10, "-t", 0.5, "--source", f"{block},{other}", "--sport", "20000-20001", "-p", 4242, target,
                               prefix=namespace.prefix)
            check_equal(r.json and r.json["connections"]["proven"], 10, f"connections from {block} and {other}: {r.err}")
            nonlocal_bind = value(namespace, "net.ipv6.ip_nonlocal_bind")
            check_equal(nonlocal_bind, ["1" if ":" in block else "0"], f"ip_nonlocal_bind for {block}")
            script(namespace, CLIENT, "--revert", *common)
        check_same(everything(namespace), before, "after --revert")


def test_unprivileged_ports_stay_unprivileged():
    need_program("nft", "ip", "sysctl")
    with Namespace() as namespace:
        namespace.run("sysctl", "-w", "net.ipv4.ip_unprivileged_port_start=0")  # as in a container
        common = ("--connections", "1000", "--state", temp_path("state"))
        for mode in ("--apply", "--check", "--revert"):
            script(namespace, CLIENT, mode, *common, "--low-port", "500")
            check_equal(value(namespace, "net.ipv4.ip_unprivileged_port_start"), ["0"], f"after {mode}")


def test_automatic_ports_are_not_privileged():
    """The kernel would refuse the range."""
    need_program("sysctl")
    with Namespace() as namespace:
        namespace.run("sysctl", "-w", "net.ipv4.ip_unprivileged_port_start=2000")
        for options, first in ((), "2000"), (("--low-port", "1500"), "1500"), (("--low-port", "500"), "1024"):
            common = ("--connections", "1000", "--state", temp_path("state"), *options)
            for mode in ("--apply", "--check"):
                script(namespace, CLIENT, mode, *common)
            check_equal(value(namespace, "net.ipv4.ip_local_port_range"), [first, "65535"], f"ports with {options}")
            script(namespace, CLIENT, "--revert", *common)
            check_equal(value(namespace, "net.ipv4.ip_local_port_range"), ["32768", "60999"], "ports after --revert")


def test_nothing_is_lowered_or_narrowed():
    """What is more than enough in part, or without a limit, included."""
    odd = {"net/ipv4/tcp_mem": "30000\t45000\t45000", "net/ipv4/ip_local_port_range": "500\t60000",
           "net/ipv4/tcp_timestamps": "2", "net/netfilter/nf_conntrack_max": "0"}
    with Host() as host:
        for name, value_ in odd.items():
            host.write("proc/sys/" + name, value_ + "\n")
        before = host.everything()
        script(host, CLIENT, "--apply")
        check_equal(host.value("net.ipv4.tcp_mem"), "30000 45000 55000", "tcp_mem, of which 27500 41250 55000 are wanted")
        check_equal(host.value("net.ipv4.ip_local_port_range"), "500 65535", "ports, of which 1024 to 65535 are wanted")
        check_equal(host.value("net.ipv4.tcp_timestamps"), "2", "timestamps without random offsets")
        check_equal(host.value("net.netfilter.nf_conntrack_max"), "0", "tracked connections: no limit")
        script(host, CLIENT, "--check")
        script(host, CLIENT, "--revert")
        check_same(host.everything(), before, "after --revert")


def test_sysctls_that_a_container_lacks_are_skipped():
    with Host() as host:
        for name in SYSCTLS:
            if name != "kernel/random/boot_id":
                os.remove(host.path("proc/sys/" + name))
        before = host.everything()
        for path in (SERVER, CLIENT):
            r = script(host, path, "--apply")
            check("fs.nr_open: not in this kernel or network namespace, skipped\n" in r.stderr, r.stderr)
            script(host, path, "--check")
            script(host, path, "--revert")
        check_same(host.everything(), before, "after --revert")


def addresses_of_plan(sources):
    """How many addresses tcpclient takes this list for."""
    r = run_command([TCPCLIENT, "--plan", "--json", "-", "-c", "1", "--sport", "600", "--source", sources,
                     "::1" if ":" in sources else "127.0.0.1"])
    return next(line["is"] for line in json.loads(r.stdout)["plan"] if line["limit"] == "source tuples")


def addresses_of_script(sources):
    """How many addresses the commands of --dry-run make local, each counted once."""
    with Namespace() as namespace:
        out = script(namespace, CLIENT, "--dry-run", "--sources", sources, "--dev", "lo").stdout
    blocks = re.findall(r"^ip (?:addr add|-. route add local) (\S+) dev lo", out, re.M)
    return sum(ipaddress.ip_network(block).num_addresses for block in set(blocks))


def test_sources_are_the_addresses_that_the_plan_counts():
    for sources, n in (("10.0.0.5", 1), ("10.0.1.1-9", 9), ("10.0.1.1-10.0.2.3", 259), ("10.0.1.200-10.0.2.5", 62),
                       ("10.0.255.255-10.1.0.0,10.2.0.1", 3), ("10.50.0.9/24", 256), ("11.50.0.9/32,10.0.0.0/8", 2**24 + 1),
                       ("fd00::1-9", 9), ("fd00::fe-fd00::101", 4), ("fd00::b,fd00:0:0:0:1::/112", 2**16 + 1)):
        check_equal((addresses_of_script(sources), addresses_of_plan(sources)), (n, n), f"addresses of {sources}")


def limits_of_command(limits, *arguments):
    """(soft, hard) limit of the command that follows the options, after these ulimit commands."""
    out = run_command(["sh", "-c", f"{limits}; {SERVER} --check {' '.join(arguments)} -- sh -c 'ulimit -Sn; ulimit -Hn'"]).stdout
    return tuple(int(word) for word in out.split()[-2:])


def test_command_runs_under_the_raised_limit():
    check_equal(limits_of_command("ulimit -Sn 100; ulimit -Hn 15000", "--connections", "10000"), (15000, 15000),
                "a hard limit that is high enough stays")
    if subprocess.run(["sh", "-c", "ulimit -Sn 100; ulimit -Hn 5000; ulimit -Hn 11024"], capture_output=True).returncode == 0:
        check_equal(limits_of_command("ulimit -Sn 100; ulimit -Hn 5000", "--connections", "10000"), (11024, 11024),
                    "one that is too low is raised")


PERSISTED = "etc/sysctl.d/90-tcpscaler-setup-server.conf"


def test_dry_run_prints_commands_that_do_what_apply_does():
    need_program("nft", "ip", "sysctl")
    with Host("a") as applied, Host("b") as pasted:
        for path, more in ((SERVER, ("--small-buffers",)), (CLIENT, ("--sources", "10.9.9.1-2,fd50::/48,fd51::7", "--dev", "lo"))):
            options = ("--connections", "20000", "--notrack", *more)
            commands = script(pasted, path, "--dry-run", "--persist", *options).stdout
            check(path == SERVER or "ip addr add fd51::7/128 dev lo nodad\n" in commands, commands)
            subprocess.run([*pasted.prefix, "sh", "-e"], input=commands, text=True, check=True, capture_output=True)
            script(pasted, path, "--check", *options)
            script(applied, path, "--apply", "--persist", *options)
        for name in SYSCTLS:
            check_equal(pasted.value(name), applied.value(name), name)
        check_same(network(pasted), network(applied), "rules, addresses and routes")
        with open(pasted.path(PERSISTED)) as a, open(applied.path(PERSISTED)) as b:
            check_equal(a.read(), b.read(), PERSISTED)


def test_check_gives_a_reason_for_every_value():
    with Host() as host:
        lines = script(host, CLIENT, "--check", "--sources", "10.9.9.1,fd50::/48", "--dev", "lo", "--persist", code=1).stdout.splitlines()
    check(len(lines) > 15, f"lines: {lines}")
    for line in lines[1:]:
        check(re.search(r" (ok|differs) +\S+.{10}", line), f"a reason: {line}")


def test_sysctl_that_a_namespace_hides_is_not_denied_to_the_kernel():
    with Namespace() as namespace:
        said = script(namespace, SERVER, "--check", code=1).stderr
    check("net.core.netdev_max_backlog: not in this kernel or network namespace, skipped" in said, said)


def test_statements_about_the_conntrack_table_are_true():
    with Host() as host:
        lines = script(host, SERVER, "--check", "--connections", "1M", code=1).stdout.splitlines()
        check(any(re.match(r"net.netfilter.nf_conntrack_max +1000 +1200000 +differs", line) for line in lines), f"the control: {lines}")
        check(any(line.startswith("notrack rule") and "the wanted conntrack table has room for every connection" in line
                   for line in lines), lines)


def test_nothing_changes_without_awk():
    state, without = temp_path("state"), path_without("awk")
    with Namespace() as namespace:
        before = everything(namespace)
        for path in (SERVER, CLIENT):
            for mode in ("--check", "--dry-run", "--apply", "--revert"):
                r = script(namespace, path, mode, "--state", state, code=2, env=without)
                check_equal((r.stdout, r.stderr), ("", f"{os.path.basename(path)}: cannot find 'awk'\n"), mode)
        check_same(everything(namespace), before, "without awk")
        script(namespace, SERVER, "--apply", "--state", state)
        script(namespace, SERVER, "--revert", "--state", state, code=2, env=without)
        check(os.path.exists(state), "the state remains")
        script(namespace, SERVER, "--revert", "--state", state)
        check_same(everything(namespace), before, "after --revert")


def test_refused_changes_are_listed_and_all_others_made():
    need_program("mount")
    with Host() as host:
        for path in ("/proc/sys/fs/file-max", "/proc/sys/net/ipv4/tcp_mem", "/etc/sysctl.d"):
            host.run("mount", "--bind", path, path)
            host.run("mount", "-o", "remount,bind,ro", path)
        before = host.everything()
        for _ in range(2):
            r = script(host, SERVER, "--apply", "--persist", "--connections", "20000", "--", "echo", "ran", code=3)
            for words in ("refused: sysctl -w fs.file-max='", "tcp_mem='30000 45000 60000': Read-only file system\n",
                          "refused: writing /etc/sysctl.d/90-tcpscaler-setup-server.conf\n", "changes refused: 3\n"):
                check(words in r.stderr, f"{words} in: {r.stderr}")
            check("/proc/sys" not in r.stderr, f"no message of the shell in: {r.stderr}")
            check_equal(r.stdout, "", "the command does not run")
            check_equal(host.value("net.core.somaxconn"), "16384", "somaxconn")
            check_equal(host.value("fs.file-max"), SYSCTLS["fs/file-max"], "file-max")
        script(host, SERVER, "--revert")
        check_same(host.everything(), before, "after --revert")


def to_full_disk(host, stream, *command):
    """Runs it with stdout or stderr on a full disk; its exit code and what it wrote to the other one."""
    with open("/dev/full", "w") as full:
        r = subprocess.run([*host.prefix, *command], **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: full}, text=True)
    return r.returncode, r.stderr if stream == "stdout" else r.stdout


def test_messages_that_cannot_be_written_stop_nothing():
    with Host() as host:
        for path in ("/proc/sys/fs/file-max", "/proc/sys/net/ipv4/tcp_mem"):
            host.run("mount", "--bind", path, path)
            host.run("mount", "-o", "remount,bind,ro", path)
        before = host.everything()
        check_equal(to_full_disk(host, "stderr", SERVER, "--apply"), (3, ""), "--apply")
        check_equal(host.value("net.core.somaxconn"), "16384", "somaxconn")
        check_equal(to_full_disk(host, "stderr", CLIENT, "--lock-wait", "x"), (2, ""), "a bad option")
        check_equal(to_full_disk(host, "stderr", SERVER, "--revert"), (0, ""), "--revert")
        check_equal(to_full_disk(host, "stderr", SERVER, "--revert"), (0, ""), "another --revert")
        check_same(host.everything(), before, "after --revert")
        for mode in ("--check", "--dry-run"):
            check_equal(to_full_disk(host, "stdout", SERVER, mode), (3, "setup-server.sh: cannot write to standard output\n"), mode)


def wanted(path, connections):
    """{sysctl: its value that --check wants}"""
    r = run_command([path, "--check", "--connections", connections])
    return {line.split()[0]: int(line.split()[2]) for line in r.stdout.splitlines()[1:] if line.startswith("fs.")}


def test_tuned_host_passes_the_plan_for_as_many_connections():
    """Of the sysctls that stop a plan; they belong to the machine, so nothing is applied."""
    client = (TCPCLIENT, "--source", "127.0.0.2-127.0.0.60", "127.0.0.1")
    for fd_limit in (1024, 20000):
        for n in ("1000", "100k", "1.5M", "3M"):
            for path, program in ((CLIENT, client), (SERVER, (TCPSERVER,))):
                plan = run_command([*under_fd_limit(fd_limit), program[0], "--plan", "--json", "-", "-c", n, *program[1:]])
                needed = {line["limit"]: line["needed"] for line in json.loads(plan.stdout)["plan"]}
                values = wanted(path, n)
                check_equal(values.keys() & needed.keys(), {"fs.file-max", "fs.epoll.max_user_watches"}, "sysctls in both")
                for name in values.keys() & needed.keys():
                    check(values[name] >= needed[name], f"{path} --connections {n}: {name} = {values[name]}, needed {needed}")


def test_scripts_take_counts_as_the_programs_do():
    for text, number in (("3M", 3000000), ("1.5M", 1500000), ("10k", 10000), ("2000000", 2000000)):
        check_equal(wanted(SERVER, text)["fs.nr_open"], number + 10000, f"fs.nr_open for {text}")
    for text in ("0", "0k", "k", "3m", "1.5", "1.2345k", "1k5", "-1", "1000M", "5" + 18 * "0", 20 * "9"):
        check_refused(SERVER, "--connections", text, contains="100k")


def test_bad_input_is_refused():
    for arguments in (["--connections", "x"], ["--nonsense"], ["--port", "0"], ["--port", "04242"], ["--port", "9" * 20], ["--connections"], ["--state", ""],
                      ["--irq", "lo; reboot"], ["--irq", "-lo"], ["--revert-after", "soon"], ["--revert-after", "s"],
                      ["--revert-after", ""], ["--owner", ""], ["--apply", "--revert"], ["--check", "--apply"]):
        check_refused(SERVER, *arguments)
    check_refused(SERVER, "--dry-run", "--", "true", contains="--dry-run: conflicts with COMMAND")
    for mode in ([], ["--dry-run"], ["--revert"]):
        check_refused(SERVER, *mode, "--revert-after", "1h", contains="--revert-after: requires --apply")
    check_refused(SERVER, "--persist", contains="--persist: requires --apply, --check or --dry-run")
    check_refused(CLIENT, "--dev", "lo", contains="--dev: requires --sources")
    for arguments in (["--sources", "10.0.0.1"], ["--low-port", "1; reboot"], ["--low-port", "65536"], ["--low-port", "0500"],
                      ["--sources", "*", "--dev", "lo"], ["--sources", "-6", "--dev", "lo"],
                      ["--sources", "10.0.0.9-1", "--dev", "lo"], ["--sources", "10.0.2.1-10.0.1.9", "--dev", "lo"],
                      ["--sources", "10.0.0.1-256", "--dev", "lo"], ["--sources", "10.0.0", "--dev", "lo"],
                      ["--sources", "10.0.0.1.2", "--dev", "lo"], ["--sources", "10..0.1", "--dev", "lo"], ["--sources", "10.0.0.01", "--dev", "lo"],
                      ["--sources", "10.0.0.0-10.1.0.0", "--dev", "lo"], ["--sources", "10.0.0.0/33", "--dev", "lo"],
                      ["--sources", "10.0.0.0/010", "--dev", "lo"], ["--sources", "10.0.0.0/08", "--dev", "lo"],
                      ["--sources", "fd00::1-fd01::1", "--dev", "lo"], ["--sources", "fd00::9-1", "--dev", "lo"],
                      ["--sources", "fd00::/129", "--dev", "lo"], ["--sources", "10.0.0.1,", "--dev", "lo"],
                      ["--sources", "10.0.0.1;reboot", "--dev", "lo"], ["--sources", "10.0.0.1", "--dev", "-all"],
                      ["--sources", "10.0.0.1", "--dev", "lo $(reboot)"]):
        check_refused(CLIENT, *arguments)


if __name__ == "__main__":
    main(own_network=False)  # sysctls that a namespace does not have
