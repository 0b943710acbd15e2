# SPDX-License-Identifier: MIT
"""Before the run: what does not fit is refused with the numbers and a remedy, --force tries it anyway; sources from files
and interfaces; a row per connection afterwards."""

from helpers.cable import *


@covered_by_others
def test_more_connections_than_ports_are_refused_or_counted_with_force():
    with Namespace() as namespace:
        namespace.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=20000 20999")
        with Server(prefix=namespace.prefix, port=4242) as server:
            refused = run_client("-c", 1500, "-r", 100, "-t", 1, "127.0.0.1",
                                 prefix=namespace.prefix)
            forced = run_client("-c", 1500, "-r", 100, "-t", 1, "--force", "127.0.0.1",
                                prefix=namespace.prefix)
            explicit = run_client("-c", 1500, "-r", 100, "-t", 1, "--force", "--source", "127.0.0.2",
                                  "--sport", "30000-30999", "127.0.0.1", prefix=namespace.prefix)
            server.stop()
    check_equal(refused.code, 2, f"exit code; stderr: {refused.err}")
    check("available 1,000, needed 1,500" in refused.err, refused.err)
    check_equal(len(refused.err.splitlines()), 1, "lines")
    check_equal(server.result["accepted"], 2000, "connections that were opened, of the two runs")
    for r, phase in ((forced, "connect"), (explicit, "bind")):
        check_conservation(r)
        check_equal(r.json["connections"]["proven"], 1000, "proven")
        check_equal(r.json["connections"]["outcomes"],
                    {f"{phase}/source ports exhausted": 500, "run/finished": 1000}, "outcomes")
        check("add source tuples" in r.err, "the remedy")
        line = r.json["diagnosis"][0]
        check_equal((line["limit"], line["connections"]), ("source ports", 500), "diagnosis")
        check("source tuples: 1,000;" in line["evidence"] and "Limiting factors" in r.err, line["evidence"])


def test_reserved_ports_are_left_out_of_the_plan():
    out = temp_path("connections.csv")
    with Namespace() as namespace:
        namespace.run("sysctl", "-qw", "net.ipv4.ip_local_reserved_ports=30002,30004-30006")
        with Server(prefix=namespace.prefix) as server:
            r = run_client("-p", server.port, "-c", 6, "-t", 0.2, "--source", "127.0.0.2", "--sport",
                           "30000-30009", "--connections-out", out, "127.0.0.1",
                           prefix=namespace.prefix)
            refused = run_client("-p", server.port, "-c", 7, "--source", "127.0.0.2", "--sport",
                                 "30000-30009", "127.0.0.1", prefix=namespace.prefix)
    check_complete(r)
    check_equal([int(row["source_port"]) for row in read_rows(out)],
                [30000, 30001, 30003, 30007, 30008, 30009], "ports in order")
    check("available 6, needed 7" in refused.err, refused.err)


def test_as_many_sources_as_the_plan_asks_for_have_the_tuples():
    with Namespace() as namespace:
        def source_tuples(*options):
            plan = run_command([*namespace.prefix, TCPCLIENT, "--plan", "--json", "-", "-c", "62k", *options, "127.0.0.1"]).stdout
            return {line["limit"]: line for line in json.loads(plan)["plan"]}["source tuples"]
        namespace.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=60000 60999", "net.ipv4.ip_local_reserved_ports=1024-5000")
        sources = re.search(r"use --source with 2 addresses \((\S+) need no setup\)", source_tuples()["fix"])
        check(sources is not None, source_tuples()["fix"])
        check_equal(source_tuples("--source", sources[1])["level"], "ok", "with these")


def file_max_line(file_max, *prefix):
    """The line of --plan, as text, and the exit code where fs.file-max is this: no test may set it."""
    path = temp_path("file-max")
    write_text(path, f"{file_max}\n")
    r = run_command(["unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/sys/fs/file-max && exec "$@"', path, *prefix,
                     TCPSERVER, "--plan", "-c", "1000"])
    line = re.search(r"^fs.file-max .*$", r.stdout, re.M)
    check(line is not None, f"no line: {r.stdout} {r.stderr}")
    return line[0], r.returncode


def test_largest_file_max_is_no_limit_and_keeps_the_columns():
    need_root()
    line, code = file_max_line(2**63 - 1)
    check(re.fullmatch(r"fs.file-max {42}- {1,17}[\d,]+  ok", line) and len(line) == 36 + 2 * 18 + 4, line)
    check_equal(code, 0, "exit code")


def test_file_max_stops_only_those_whom_the_kernel_stops():
    """A capability in a user namespace exempts from nothing."""
    need_root()
    need_program("setpriv")
    if read_text("/proc/self/uid_map").split() != ["0", "0", "4294967295"]:
        skip("in a user namespace")
    without = "setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"
    for prefix, expected in (((), ("warn", 0)), (without, ("stop", 2)), (("unshare", "-U", "-r"), ("stop", 2))):
        line, code = file_max_line(1500, *prefix)
        check_equal((line.split()[-1], code), expected, f"level and exit code: {prefix}")


def test_plan_opens_no_connection_and_prints_to_stdout():
    with Server() as server:
        fits = run_command([TCPCLIENT, "--plan", "-c", "1000", f"127.0.0.1:{server.port}"])
        server.stop()
    check_equal((fits.returncode, fits.stderr), (0, ""), "exit code and stderr of a plan that fits")
    for part in ("source tuples", "fd limit per table", "fs.file-max", "fs.epoll.max_user_watches", "kernel.threads-max",
                 "memory", "net.ipv4.tcp_mem", "TIME_WAIT", "net.core.somaxconn", "It fits"):
        check(part in fits.stdout, f"'{part}' in: {fits.stdout}")
    check_equal(server.result["accepted"], 0, "connections")
    stops = run_command([TCPCLIENT, "--plan", "--json", "-", "-c", "100k", "127.0.0.1"])
    check_equal(stops.returncode, 2, "exit code of a plan that does not fit")
    plan = json.loads(stops.stdout)
    line = next(line for line in plan["plan"] if line["limit"] == "source tuples")
    check_equal((plan["level"], line["level"], line["needed"]), ("stop", "stop", 100000), "levels")
    check("--source" in line["fix"], "the remedy")
    line = next(line for line in plan["plan"] if line["limit"] == "kernel.threads-max")
    with open("/proc/sys/kernel/threads-max") as most, open("/proc/loadavg") as running:
        check_equal(line["is"], int(most.read()), "threads of the host")
        check(line["needed"] > int(running.read().split()[3].split("/")[1]) // 2, f"with those that run: {line}")


def test_plan_and_refusal_keep_the_files_of_the_last_run():
    rows, result = temp_path("rows.csv"), temp_path("result.json")
    outputs = ["--output", rows, "--json", result, "127.0.0.1"]
    for path in (rows, result):
        write_text(path, "of yesterday\n")
    check_equal(subprocess.run([TCPCLIENT, "--plan", "-c", "3", "--output", rows, "127.0.0.1"],
                               capture_output=True).returncode, 0, "exit code of a plan")
    r = subprocess.run([TCPCLIENT, "-c", "3", "--sport", "4000-4001", *outputs], capture_output=True)
    check_equal(r.returncode, 2, "exit code of what does not fit")
    for path in (rows, result):
        check_equal(read_text(path), "of yesterday\n", path)
    # control: a run replaces them
    with Server() as server:
        subprocess.run([TCPCLIENT, "-p", str(server.port), "-c", "1", "-r", "5", "-t", "0.2", *outputs], capture_output=True)
    for path in (rows, result):
        check("of yesterday" not in read_text(path), path)


def test_server_has_a_plan():
    r = run_command([*under_fd_limit(200), TCPSERVER, "--plan", "-c", "1000", "--threads", "2"])
    check_equal(r.returncode, 2, "exit code")
    check(re.search(r"^fd limit per table +200 +[\d,]+  stop$", r.stdout, re.M), r.stdout)
    r = run_command([TCPSERVER, "--plan", "-c", "1000"])
    check_equal((r.returncode, r.stderr), (0, ""), "exit code and stderr")


def test_table_of_tracked_connections_is_enlarged_on_the_host():
    with Namespace() as namespace:
        def run(*command):
            return run_command([*namespace.prefix, *command])
        most = run("cat", "/proc/sys/net/netfilter/nf_conntrack_max").stdout.strip()
        if most in ("", "0"):
            skip("this kernel does not limit tracked connections")
        asked = "--plan", "--json", "-", "-c", str(int(most) + 1)
        for program in ([TCPSERVER, *asked], [TCPCLIENT, *asked, "--source", "127.0.0.0/24", "127.0.0.1"]):
            line, = (line for line in json.loads(run(*program).stdout)["plan"]
                     if line["limit"] == "net.netfilter.nf_conntrack_max")
            sysctl = line["fix"].split("sysctl -w ")[1].split()[0].rstrip(",")
            r = run("sysctl", "-w", sysctl)
            check(r.returncode == 0 or f"{sysctl} on the host" in line["fix"], f"{line['fix']}: {r.stderr}")


def handshakes_in_progress(namespace, port, n_syns):
    """The number of handshakes in progress of a server that got n_syns SYNs; the clients get no answer."""
    with namespace.entered(), contextlib.ExitStack() as sockets:
        for _ in range(n_syns):
            client = sockets.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        return len(namespace.run("ss", "-tnH", "state", "syn-recv", f"sport = {port}").stdout.splitlines())


def test_syn_queue_of_the_length_that_the_plan_asks_for_holds_the_backlog():
    need_program("ss", "sysctl")
    with Namespace() as namespace:
        def sysctl(value):
            namespace.run("sysctl", "-qw", f"net.ipv4.tcp_max_syn_backlog={value}")
        namespace.run("sysctl", "-qw", "net.ipv4.tcp_syncookies=0")
        sysctl(16)
        server = "--backlog", "300", "--threads", "1"
        plan = run_command([*namespace.prefix, TCPSERVER, "--plan", "--json", "-", *server]).stdout
        line, = (line for line in json.loads(plan)["plan"] if line["limit"] == "net.ipv4.tcp_max_syn_backlog")
        check_equal((line["level"], line["fix"]), ("warn", f"sysctl -w net.ipv4.tcp_max_syn_backlog={line['needed']}"), str(line))
        with Server(*server, prefix=namespace.prefix, port=4242), Server(*server, prefix=namespace.prefix, port=4243):
            namespace.drop("tcp sport 4242-4243")
            sysctl(line["needed"])
            check_between(handshakes_in_progress(namespace, 4242, 400), 300, 301, "handshakes in progress")
            sysctl(line["needed"] - 10)
            check_between(handshakes_in_progress(namespace, 4243, 400), 200, 299, "the control: with a shorter queue")


def test_either_remedy_for_a_short_accept_queue_keeps_it_from_overflowing():
    need_program("sysctl")
    with Namespace() as namespace:
        def overflows(n_at_once, *options):
            """Overflows at a server that is stopped until the client has sent n_at_once SYNs."""
            with Server("--threads", "1", prefix=namespace.prefix, port=4242) as server:
                server.process.send_signal(signal.SIGSTOP)
                client = Client("-c", 100, "-r", 100, "-t", 0.2, *options, "127.0.0.1", prefix=namespace.prefix)
                wait_for(lambda: namespace.run("ss", "-tnH", "dport = 4242").stdout.count("\n") >= n_at_once, "SYNs")
                server.process.send_signal(signal.SIGCONT)
                r = client.wait()
            check_equal(r.json["connections"]["outcomes"], {"run/finished": 100}, f"outcomes; {r.err}")
            return r.json["resources"]["listen_overflows"], r.err

        namespace.run("sysctl", "-qw", "net.core.somaxconn=10")
        n, said = overflows(100)
        check(n > 0, f"the control: {n} overflows")
        remedy = re.search(r"net.core.somaxconn: available 10, needed (\d+): sysctl -w net.core.somaxconn=\1 and restart "
                           r"the server, or (--connect-window) (\d+)", said)
        check(remedy is not None, said)
        check_equal(overflows(int(remedy[3]), remedy[2], remedy[3])[0], 0, f"overflows with {remedy[2]} {remedy[3]}")
        namespace.run("sysctl", "-qw", f"net.core.somaxconn={remedy[1]}")
        check_equal(overflows(100)[0], 0, "overflows with a larger queue")


def for_every_user(program):
    """A copy of a program: another user need not be able to read the source tree."""
    path = temp_path(os.path.basename(program))
    shutil.copy(program, path)
    os.chmod(os.path.dirname(path), 0o755)
    return path


def test_privileged_port_of_a_server_is_named():
    need_root()
    r = run_command([for_every_user(TCPSERVER), "--bind", "127.0.0.1", "1023"], user=65534, cwd="/")
    check_equal((r.returncode, r.stderr), (2, "tcpserver: cannot listen on 127.0.0.1:1023: Permission denied "
                                              "(see net.ipv4.ip_unprivileged_port_start)\n"), "exit code, words")


def test_privileged_port_is_refused_before_the_run():
    need_root()
    program = for_every_user(TCPCLIENT)
    r = run_command([program, "-c", "10", "--sport", "500-600", "127.0.0.1"], user=65534, cwd="/")
    check_equal(r.returncode, 2, f"exit code; stderr: {r.stderr}")
    check("ip_unprivileged_port_start=500" in r.stderr, r.stderr)
    root_of_a_container = ["unshare", "--user", "--map-root-user"]  # with the host's network
    if subprocess.run([*root_of_a_container, "true"], user=65534, capture_output=True).returncode == 0:
        r = run_command([*root_of_a_container, program, "-c", "10", "--sport", "500-600", "127.0.0.1"], user=65534, cwd="/")
        check_equal((r.returncode, "ip_unprivileged_port_start=500" in r.stderr), (2, True), f"in a user namespace: {r.stderr}")
        r = run_command([*root_of_a_container, "--net", program, "--plan", "-c", "10", "--sport", "500-600", "127.0.0.1"],
                        user=65534, cwd="/")
        check_equal(r.returncode, 0, f"the control: with a network of its own: {r.stdout}{r.stderr}")
    with Server() as server:
        r = run_client("-p", server.port, "-c", 10, "--sport", "500-520", "-t", 1, "127.0.0.1")
    check_equal(r.json["connections"]["proven"], 10, "root may")


def test_source_of_loopback_is_refused_if_the_target_is_another_host():
    def plan(host):
        return run_command([*cable.client.prefix, TCPCLIENT, "--plan", "--source", "127.0.0.2", host])

    with Cable() as cable:
        refused, here = plan(SERVER_IP), plan(CLIENT_IP)
        cable.client.run("sysctl", "-w", "net.ipv4.conf.all.route_localnet=1")
        routed = plan(SERVER_IP)
    check_equal((refused.returncode, here.returncode, routed.returncode), (2, 0, 0), "exit codes")
    check("127.0.0.2, of loopback, reaches only this host: correct --source" in refused.stdout, refused.stdout)


def test_sources_without_a_route_are_named_if_connections_need_them():
    with Namespace() as namespace:
        namespace.run("ip", "link", "add", "d0", "up", "type", "veth", "peer", "name", "d1")
        for address in ("10.9.0.1", "10.9.0.3"):
            namespace.run("ip", "addr", "add", f"{address}/24", "dev", "d0")
        for kind, fails in (("unreachable", "no route"), ("prohibit", "not permitted")):
            rule = "from", "10.9.0.3", kind
            namespace.run("ip", "rule", "add", *rule)
            for n, expected in ((10, None), (11, f"connections from 10.9.0.3 fail ({fails})")):
                r = run_command([*namespace.prefix, TCPCLIENT, "--plan", "-c", str(n), "--source", "10.9.0.1,10.9.0.3",
                                 "--sport", "30000-30009", "10.9.0.2"])
                check_equal((r.returncode, "route to the server" in r.stdout), (0, expected is not None), f"{kind}, {n}: {r.stdout}")
                check(expected is None or expected in r.stdout, r.stdout)
            namespace.run("ip", "rule", "del", *rule)


def test_ipv6_source_without_a_local_route_is_named_though_it_can_be_bound():
    with Namespace() as namespace:
        if run_command([*namespace.prefix, "sysctl", "-qw", "net.ipv6.ip_nonlocal_bind=1"]).returncode != 0:
            skip("no IPv6")
        namespace.run("ip", "route", "add", "local", "fd77::/64", "dev", "lo")
        for source, level in (("fd77::7", "ok"), ("fd78::7", "warn")):
            r = run_command([*namespace.prefix, TCPCLIENT, "--plan", "--json", "-", "-c", "2", "--source", source, "::1"])
            line, = (line for line in json.loads(r.stdout)["plan"] if line["limit"] == "source addresses of this host")
            check_equal((line["level"], "local fd78::7 dev lo" in (line["fix"] or "")), (level, level == "warn"), f"{source}: {line}")


def test_sources_may_come_from_a_file_or_an_interface():
    path = temp_path("sources")
    write_text(path, "# two addresses\n127.0.0.{5,6}  # braces\n\n127.0.0.7\n")
    out = temp_path("connections.csv")
    with Namespace() as namespace, Server(prefix=namespace.prefix) as server:
        r = run_client("-p", server.port, "-c", 8, "-t", 1, "--source", f"@{path},iface:lo", "--sport",
                       "25000-25001", "--connections-out", out, "127.0.0.1", prefix=namespace.prefix)
        missing = run_command([TCPCLIENT, "--source", "iface:nonesuch", "127.0.0.1"])
    check_complete(r)
    rows = read_rows(out)
    check_equal([row["source"] for row in rows],
                [a for a in ("127.0.0.5", "127.0.0.6", "127.0.0.7", "127.0.0.1") for _ in range(2)],
                "sources in order")
    check_equal(missing.returncode, 2, "exit code")
    check("iface:nonesuch" in missing.stderr, missing.stderr)


@covered_by_others
def test_rows_of_connections_agree_with_the_result():
    out = temp_path("connections.csv")
    with Server() as server:
        r = run_client("-p", server.port, "-c", 100, "-r", 1000, "-t", 2, "--connections-out", out,
                       "127.0.0.1")
        server.stop()
    rows = read_rows(out)
    q, probes, resources = r.json["queries"], r.json["probes"], r.json["resources"]
    check_equal([int(row["connection_id"]) for row in rows], list(range(100)), "connections")
    for column, wanted in (("queries", q["sent"] + probes["sent"]),
                           ("answers", q["answered"] + probes["answered"]),
                           ("bytes_sent", resources["bytes_sent"]),
                           ("bytes_received", resources["bytes_received"]), ("proven", 100), ("connections", 100)):
        check_equal(sum(int(row[column]) for row in rows), wanted, f"sum of {column}")
    check_equal((resources["bytes_sent"], resources["bytes_received"]),
                (server.result["bytes_received"], server.result["bytes_sent"]), "bytes, as the server counted them")
    check_equal({row["ended"] for row in rows}, {"run/finished"}, "ends")
    check_equal(len({row["source_port"] for row in rows}), 100, "source ports")
    check(all(float(row["connect_us"]) > 0 for row in rows), "connect times")
    longest_ns = max(float(row["connect_us"]) for row in rows) * 1000
    check(abs(longest_ns - r.json["latency_ns"]["connect"]["max"]) < 2, f"the longest connect: {longest_ns} ns")
    begun_s = min(float(row["established_s"]) - float(row["connect_us"]) / 1e6 for row in rows)
    end_s = max(float(row["established_s"]) for row in rows)  # rounded to microseconds
    check_between(r.json["connections"]["connect_elapsed_s"], end_s - begun_s - 2e-6, end_s + 1e-6, "seconds to connect")
    check(begun_s >= 0, f"the first connect, after {begun_s} s")
    with stall_may_spoil():
        check(begun_s < 0.5, f"the first connect, after {begun_s} s")


if __name__ == "__main__":
    main(own_network=False)  # sysctls that a namespace does not have
