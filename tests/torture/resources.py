# SPDX-License-Identifier: MIT
"""File descriptors, ports and memory run out."""

import resource

from table import *


@scenario()
def fd_limit_of_the_client_hit_in_the_ramp(row):
    with Server() as server:
        client = Client("-c", 1000, "-n", 500, "-r", 500, "-t", 2, "--threads", 2, f"127.0.0.1:{server.port}")
        time.sleep(0.3)
        resource.prlimit(client.pid, resource.RLIMIT_NOFILE, (250, 250))
        r = client.wait()
        row.injected("sockets refused by prlimit 250", r.json["connections"]["outcomes"].get("socket/fd limit", 0))
        row.conserved(r)
        c, q = r.json["connections"], r.json["queries"]
        row.expect("exit", 3, r.code)
        row.expect("live at the end", Between(150, 500), c["live_at_end"])
        row.expect("fd limit", 1000 - c["live_at_end"], c["outcomes"].get("socket/fd limit", 0))
        row.expect("answered", q["scheduled"], q["answered"])
        row.expect("named", ["fd limit"], [line["limit"] for line in r.json["diagnosis"]])
        row.served(server)


@scenario(short=True)
def fd_limit_of_the_server_hit_in_the_ramp(row):
    with Server("--threads", 2) as server:
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (200, 200))
        client = Client("-c", 1000, "-n", 500, "-r", 500, "-t", 2, "--threads", 2, f"127.0.0.1:{server.port}")
        before, begin = cpu_seconds(server.pid), time.monotonic()
        r = client.wait()
        used = (cpu_seconds(server.pid) - before) / (time.monotonic() - begin)
        again = run_client("-c", 50, "-r", 100, "-t", 1, f"127.0.0.1:{server.port}")
        row.injected("EMFILE said", server.stderr().count("Too many open files"))
        row.conserved(r, again)
        c, q = r.json["connections"], r.json["queries"]
        row.expect("exit", 3, r.code)
        row.expect("live at the end", Between(100, 450), c["live_at_end"])
        row.expect("answered", q["scheduled"], q["answered"])
        row.expect("proven by the next client", 50, again.json["connections"]["proven"])
        row.expect("CPUs used by the full server", at_most(1 if SANITIZED else 0.5), round(used, 2))
        row.served(server)
        # connections still waiting in the accept queue when the client left may have been refused without its knowledge
        told = sum(n for name, n in c["outcomes"].items() if name.endswith(("/reset", "/closed by peer")))
        row.expect("refused", Between(told, 1000 - c["live_at_end"]), server.result["refused"])
        row.expect("told so", Between(1), told)


@scenario(short=True)
def automatic_ports_exhausted(row):
    with Server() as server, open("/proc/sys/net/ipv4/ip_local_port_range", "w") as ports:
        ports.write("20000 20099")
        ports.close()
        target = f"127.0.0.1:{server.port}"
        plain = run_client("-c", 150, "-r", 100, "-t", 1, target)
        row.injected("ports for 150 connections", 100)
        row.expect("exit", 2, plain.code)
        row.expect("names the limit", True, "source tuples" in plain.err and plain.err.count("\n") == 1)
        forced = run_client("-c", 150, "-r", 100, "-t", 1, "--force", target)
        row.conserved(forced)
        c = forced.json["connections"]
        row.expect("with --force: exit", 3, forced.code)
        row.expect("outcomes", {"connect/source ports exhausted": 50, "run/finished": 100}, c["outcomes"])
        row.expect("answered", forced.json["queries"]["scheduled"], forced.json["queries"]["answered"])
        row.served(server)


@scenario(short=True)
@covered_by_others
def planned_ports_exhausted(row):
    with Server() as server:
        arguments = ("-c", 150, "-r", 100, "-t", 1, "--source", "127.0.0.3", "--sport", "30000-30099",
                     f"127.0.0.1:{server.port}")
        plain = run_client(*arguments)
        row.injected("tuples for 150 connections", 100)
        row.expect("exit", 2, plain.code)
        forced = run_client("--force", *arguments)
        row.conserved(forced)
        row.expect("with --force: outcomes", {"bind/source ports exhausted": 50, "run/finished": 100},
                   forced.json["connections"]["outcomes"])
        row.served(server)


def failing_calls(log):
    with open(log) as f:
        return sum("(INJECTED)" in line for line in f)


def strace(log, *faults):
    """Makes system calls fail as if there were no memory: a real shortage would affect all programs."""
    need_program("strace")
    injected = [word for call, which in faults for word in ("-e", f"inject={call}:error={which}")]
    calls = ",".join(call for call, _ in faults)
    return ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-e", f"trace={calls}", *injected, "-o", log]


@scenario()
@plain_build_only
def no_memory_for_sockets_of_the_client(row):
    """Every thread's 50th socket and 200th send are refused memory."""
    log = temp_path("strace")
    with Server() as server:
        client = Client("-c", 200, "-r", 2000, "-t", 2, "--reconnect", "--threads", 2,
                        f"127.0.0.1:{server.port}",
                        prefix=strace(log, ("socket", "ENOBUFS:when=50+50"), ("sendto", "ENOBUFS:when=200+200")))
        r = client.wait()
        row.injected("calls failed with ENOBUFS by strace", failing_calls(log))
        row.conserved(r)
        c, q = r.json["connections"], r.json["queries"]
        row.expect("exit", OneOf(0, 3), r.code)
        row.expect("no memory", failing_calls(log), sum(n for name, n in c["outcomes"].items() if "no memory" in name))
        row.expect("other ends", {}, {name: n for name, n in c["outcomes"].items()
                                     if "no memory" not in name and not name.startswith("run/")})
        row.expect("live at the end, but for those just begun", Between(180, 200), c["live_at_end"])
        row.note("errors", q["error"])
        row.served(server)


@scenario()
@plain_build_only
def no_memory_for_sockets_of_the_server(row):
    log = temp_path("strace")
    with Server("--threads", 2, prefix=strace(log, ("accept4", "ENOMEM:when=20+20"),
                                              ("sendto", "ENOBUFS:when=200+200"))) as server:
        r = run_client("-c", 200, "-r", 2000, "-t", 2, "--reconnect", "--connect-timeout", "2s",
                       f"127.0.0.1:{server.port}")
        row.injected("calls failed with ENOMEM, ENOBUFS by strace", failing_calls(log))
        row.conserved(r)
        row.expect("exit", OneOf(0, 3), r.code)
        c = r.json["connections"]
        row.expect("live at the end, but for those just begun", Between(150, 200), c["live_at_end"])
        row.note("ends", c["outcomes"])
        row.served(server)
        row.expect("refused, or ended for lack of memory", lost(c["outcomes"]),
                   server.result["refused"] + server.result["closed"].get("send/no memory", 0))
        row.expect("names memory", True, "net.ipv4.tcp_mem" in server.stderr())


class LittleTcpMemory:
    """Meanwhile TCP has no memory except what the kernel grants each socket in any case: net.ipv4.tcp_mem is a setting of the whole
    machine. It is restored when this process ends, in whatever way."""

    HOLD = """trap '' INT TERM HUP; cd /proc/sys/net/ipv4 && was=$(cat tcp_mem) || exit
              echo 1 1 2 >tcp_mem; echo low; read -r end; echo "$was" >tcp_mem"""

    def __enter__(self):
        need_program("nsenter")
        self.process = subprocess.Popen(["nsenter", f"--net=/proc/self/fd/{FIRST_NETWORK}", "sh", "-c", self.HOLD],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        pass_fds=[FIRST_NETWORK])
        if self.process.stdout.readline() != "low\n":
            skip("no net.ipv4.tcp_mem: this was not started in the machine's first network namespace")

    def __exit__(self, *_):
        self.process.communicate()


@scenario(machine_wide=True)
def tcp_memory_short(row):
    """During the ramp and during the load; another client connects, sends queries and ends meanwhile."""
    with Server() as server:
        client = Client("-c", 400, "-n", 200, "-r", 2000, "-t", 3, "--close", "fin", f"127.0.0.1:{server.port}")
        time.sleep(1)
        with LittleTcpMemory():
            meanwhile = run_client("-c", 200, "-r", 2000, "-t", 1, f"127.0.0.1:{server.port}")
            time.sleep(1)
        r = client.wait()
        row.injected("times under TCP memory pressure", r.json["resources"]["tcp_memory_pressures"])
        row.conserved(r, meanwhile)
        for who, found, n in (("", r, 400), ("meanwhile: ", meanwhile, 200)):
            row.expect(f"{who}exit", 3, found.code)
            row.expect(f"{who}ends", {"run/finished": n}, found.json["connections"]["outcomes"])
            row.expect(f"{who}answered", found.json["queries"]["scheduled"], found.json["queries"]["answered"])
        row.expect("doubted for it", True, "memory-pressure" in r.json["reasons"])
        again = run_client("-c", 50, "-r", 500, "-t", 1, f"127.0.0.1:{server.port}")
        row.conserved(again)
        row.expect("afterwards: doubted for it", False, "memory-pressure" in again.json["reasons"])
        row.served(server)
        row.expect("the server counted", Between(1), server.result["tcp_memory_pressures"])
        row.note("ends at the server", server.result["closed"])
