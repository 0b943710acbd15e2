# SPDX-License-Identifier: MIT
"""The setup scripts on hosts with a firewall: no connection is cut off unless --notrack was given."""

import types

from helpers.setup_host import *

# As distributions ship it: established connections and allowed new ones.
STATEFUL = """
table inet filter {
    chain input {
        type filter hook input priority filter; policy drop;
        ct state established,related accept
        icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
        tcp dport { 22, 4242 } ct state new accept
    }
    chain output {
        type filter hook output priority filter; policy accept;
    }
}
"""
STATELESS = """
table inet filter {
    chain input {
        type filter hook input priority filter; policy drop;
        icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
        tcp dport 4242 accept
        tcp sport 4242 accept
    }
}
"""
ADDRESSES = {"IPv4": ("10.77.0.1", "10.77.0.2", "24"), "IPv6": ("fd77::1", "fd77::2", "64")}


@contextlib.contextmanager
def two_hosts(ruleset):
    """(the one with the firewall, the other), on one link."""
    need_program("nft", "ip", "ss")
    with Namespace("a") as a, Namespace("b") as b:
        a.run("ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth0", "netns", b.name)
        for index, host in enumerate((a, b)):
            host.run("ip", "link", "set", "veth0", "addrgenmode", "none", "up")
            for addresses in ADDRESSES.values():
                command = ["ip", "addr", "add", f"{addresses[index]}/{addresses[2]}", "dev", "veth0"]
                host.run(*command, *(["nodad"] if ":" in addresses[index] else []))
        subprocess.run([*a.prefix, "nft", "-f", "-"], input=ruleset, text=True, check=True)
        yield a, b


def proven(host, address, *limits):
    """How many of five connections from this host are answered."""
    r = run_client("-p", 4242, "-c", 5, "-r", 50, "-t", 1, *limits, "--force", address, prefix=host.prefix)
    return r.json["connections"]["proven"]


def check_reachable(firewalled, peer, n, what):
    """A server behind the firewall is reached by n of 5, and a client behind it reaches as many."""
    limits = [] if n > 0 else ["--connect-timeout", "1s", "--timeout", "1s"]
    for family, (here, there, _) in ADDRESSES.items():
        with Server(port="4242", prefix=firewalled.prefix):
            check_equal(proven(peer, here, *limits), n, f"{what}: connections to the server over {family}")
        with Server(port="4242", prefix=peer.prefix):
            check_equal(proven(firewalled, there, *limits), n, f"{what}: connections of the client over {family}")


def setup(host, mode, *arguments, **options):
    """Both scripts; what they say."""
    return "".join(script(host, path, mode, "--connections", "1000", "--state", state, *arguments, **options).stderr
                   for path, state in ((SERVER, host.name + "-server"), (CLIENT, host.name + "-client")))


def test_apply_leaves_a_host_with_a_stateful_firewall_reachable():
    os.chdir(temp_directory())
    with two_hosts(STATEFUL) as (host, peer):
        before = everything(host)
        check_reachable(host, peer, 5, "before")
        with Server(port="4242", prefix=host.prefix) as server:
            client = Client("-p", 4242, "-c", 5, "-r", 50, "-t", 3600, "--stats-interval", "200ms", "10.77.0.1", prefix=peer.prefix)
            wait_until_running(client)
            setup(host, "--apply")
            n = sum(s.state == ESTABLISHED for s in tcp_sockets(server.pid))
            client.process.send_signal(signal.SIGINT)
            r = client.wait()
        check_equal(n, 5, "connections from before --apply")
        check_equal(r.json["queries"]["outcomes"], {}, "failed queries")
        check_reachable(host, peer, 5, "after --apply")
        check(not any("notrack" in line for line in everything(host)), "no notrack rule")
        r = script(host, SERVER, "--check", "--connections", "1000")
        check("the firewall needs connection state: ct state established,related accept" in r.stdout, r.stdout)
        # the control: what --apply did before
        said = setup(host, "--apply", "--notrack")
        check("ct state established,related accept" in said, f"the rule is named: {said}")
        check_reachable(host, peer, 0, "with --notrack")
        setup(host, "--revert")
        check_reachable(host, peer, 5, "after --revert")
        check_same(everything(host), before, "after --revert")


def test_notrack_works_with_a_stateless_firewall():
    os.chdir(temp_directory())
    with two_hosts(STATELESS) as (host, peer):
        before = everything(host)
        check("needs connection state" not in setup(host, "--apply", "--notrack"), "no rule needs it")
        check_reachable(host, peer, 5, "with --notrack")
        setup(host, "--revert")
        check_same(everything(host), before, "after --revert")


def test_rules_that_need_connection_state_are_detected():
    need_program("nft", "iptables", "ip6tables-legacy")
    nft = "nft add table inet f; nft add chain inet f c '{ type %s hook %s priority %s; }'; nft add rule inet f c '%s'"
    with_state = [nft % ("filter", "input", "0", "ct state vmap { established : accept }"),
                  nft % ("filter", "input", "0", "tcp dport 1 ct original proto-dst 2 accept"),
                  nft % ("nat", "postrouting", "100", "masquerade"), nft % ("nat", "prerouting", "-100", "tcp dport 1 redirect to :2"),
                  "iptables -A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT",
                  "ip6tables-legacy -A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT",
                  "iptables-legacy -t nat -A POSTROUTING -j MASQUERADE", "iptables -A INPUT -m state --state ESTABLISHED -j ACCEPT"]
    without = [":", nft % ("filter", "input", "0", "tcp dport 22 accept"), nft % ("filter", "input", "0", "meta mark 1 counter drop"),
               "iptables -A INPUT -p tcp --dport 22 -j ACCEPT"]
    for commands, found in ((with_state, True), (without, False)):
        for command in commands:
            with Namespace() as namespace:
                namespace.run("sh", "-c", command)
                r = run_command([*namespace.prefix, SERVER, "--check"])
                check_equal("firewall needs connection state" in r.stdout, found, f"{command}: {r.stdout}")


def test_rule_that_this_user_cannot_see_is_neither_there_nor_missing():
    need_program("unshare", "nft", "ss")
    with Namespace() as namespace:
        options = ("--notrack", "--connections", "1000", "--state", temp_path("state"))
        script(namespace, SERVER, "--apply", *options)
        seen = [run_command([*namespace.prefix, *user, SERVER, "--check", *options]) for user in ((), ("unshare", "--user"))]
        if seen[1].returncode == 1 and not seen[1].stdout:
            skip(seen[1].stderr)
    rules = [re.search("^notrack rule.*$", r.stdout, re.M)[0].split("port 4242")[-1].split()[0] for r in seen]
    check_equal((rules, [r.returncode for r in seen]), (["ok", "unknown"], [0, 1]), seen[1].stdout + seen[1].stderr)


def test_notrack_refuses_the_port_of_ssh():
    with Namespace() as namespace:
        before = everything(namespace)
        state = ("--state", temp_path("state"))
        r = script(namespace, SERVER, "--apply", "--notrack", "--port", "22", *state, code=2,
                   env={"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"})
        check("port 22 carries this ssh session" in r.stderr, r.stderr)
        check_same(everything(namespace), before, "after the refusal")
        script(namespace, SERVER, "--dry-run", "--notrack", "--port", "22", env={"SSH_CONNECTION": ""})


def test_sources_refuse_the_address_of_the_ssh_client():
    sources = {"IPv4": ("10.77.0.1-3", "10.77.0.0/24"), "IPv6": ("fd77:0:0::2", "fd77::/64")}
    with two_hosts(STATELESS) as (host, peer):
        before = everything(host)
        for family, (here, there, _) in ADDRESSES.items():
            options = {"env": {"SSH_CONNECTION": f"{there} 50000 {here} 4242"}}
            with Server(port="4242", prefix=host.prefix):
                client = Client("-p", 4242, "-c", 1, "-r", 1, "-t", 3600, here, prefix=peer.prefix)
                wait_until_running(client)
                for item in sources[family]:
                    r = script(host, CLIENT, "--apply", "--sources", item, "--dev", "lo", code=2, **options)
                    check("the other end of an ssh session" in r.stderr, r.stderr)
                script(host, CLIENT, "--dry-run", "--sources", "10.77.1.0/24,fd77:1::/64,10.77.0.3", "--dev", "lo", **options)
                client.process.send_signal(signal.SIGINT)
                client.wait()
        check_same(everything(host), before, "after the refusals")


def path_with_awk(path):
    directory = temp_directory()
    os.symlink(path, os.path.join(directory, "awk"))
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


def test_sources_refuse_gateways():
    routes = (("-4", "default", "10.77.0.2"), ("-4", "10.78.0.0/16", "10.77.0.3"), ("-6", "default", "fd77::2"))
    with two_hosts(STATELESS) as (host, _):
        device = host.run("ip", "-o", "route", "get", "10.77.0.2").stdout.split("dev ")[1].split()[0]
        for family, destination, gateway in routes:
            host.run("ip", family, "route", "add", destination, "via", gateway, "dev", device)
        for destination, hops in (("10.79.0.0/16", ("10.77.0.5", "10.77.0.6")), ("fd79::/32", ("fd77::5", "fd77::6"))):
            host.run("ip", "route", "add", destination, *(word for hop in hops for word in ("nexthop", "via", hop, "dev", device)))
        host.run("ip", "route", "add", "10.80.0.0/16", "via", "inet6", "fd77::7", "dev", device)
        before = everything(host)
        for item, gateway in (("10.77.0.0/24", "the default gateway"), ("10.77.0.2", "the default gateway"),
                              ("10.77.0.3-4", "the gateway to 10.78.0.0/16"), ("fd77::/64", "the default gateway"),
                              ("10.77.0.6", "the gateway to 10.79.0.0/16"), ("fd77:0:0::4/127", "the gateway to fd79::/32"),
                              ("FD77::7", "the gateway to 10.80.0.0/16")):
            r = script(host, CLIENT, "--apply", "--sources", item, "--dev", "lo", code=2)
            check(f"includes {gateway}, which would be cut off" in r.stderr, r.stderr)
        for awk in filter(None, map(shutil.which, ("mawk", "gawk", "original-awk", "busybox"))):
            r = script(host, CLIENT, "--check", "--sources", "fd77::/64", "--dev", "lo", code=2, env=path_with_awk(awk))
            check_equal(r.stderr.splitlines()[1:], [], f"stderr with {awk}")
            check("fd77::/64 is or includes the default gateway, which would be cut off" in r.stderr, f"{awk}: {r.stderr}")
        r = script(host, CLIENT, "--check", "--sources", "10.77.0.0/24", "--dev", "lo", code=2, env=path_with_awk("/bin/false"))
        check(r.stderr.endswith("awk failed to look for gateways, which would be cut off\n"), r.stderr)
        check_same(everything(host), before, "after the refusals")
        script(host, CLIENT, "--dry-run", "--sources", "10.77.0.4,10.77.1.0/24,fd77::4,fd77:1::/64", "--dev", "lo")


# As systemd does: one program listens, another has the session.
ACTIVATES = """
import socket, subprocess, sys
with socket.create_server(("10.77.0.1", 4242)) as listener:
    print("listening", flush=True)
    connection, _ = listener.accept()
    connection.set_inheritable(True)
    subprocess.run([sys.argv[1], "3600"], close_fds=False)
"""
CONNECTS = """
import socket, time
with socket.create_connection(("10.77.0.1", 4242)):
    time.sleep(3600)
"""


def test_ssh_sessions_are_found_if_sshd_does_not_listen():
    """sudo has dropped SSH_CONNECTION."""
    sshd = os.path.join(temp_directory(), "sshd-session")
    shutil.copy(shutil.which("sleep"), sshd)
    sources = ("--sources", "10.77.0.0/24", "--dev", "lo")
    no_session = {"env": {"SSH_CONNECTION": ""}}
    with two_hosts(STATELESS) as (host, peer):
        before = everything(host)
        listener = spawn([*host.prefix, sys.executable, "-c", ACTIVATES, sshd], stdout=subprocess.PIPE, text=True)
        check_equal(listener.stdout.readline(), "listening\n", "what listens")
        script(host, CLIENT, "--dry-run", *sources, **no_session)
        script(host, SERVER, "--dry-run", "--notrack", **no_session)
        spawn([*peer.prefix, sys.executable, "-c", CONNECTS])
        wait_for(lambda: '"sshd-session"' in host.run("ss", "-Htnp").stdout, "the session")
        r = script(host, CLIENT, "--apply", *sources, code=2, **no_session)
        check("the other end of an ssh session" in r.stderr, r.stderr)
        script(host, CLIENT, "--dry-run", "--sources", "10.77.1.0/24", "--dev", "lo", **no_session)
        r = script(host, SERVER, "--apply", "--notrack", code=2, **no_session)
        check("sshd uses port 4242" in r.stderr, r.stderr)
        check_same(everything(host), before, "after the refusals")


def test_options_that_could_cut_off_ssh_need_the_tool_that_finds_it():
    env = {"SSH_CONNECTION": "", **path_without("ss")}
    with Namespace() as namespace:
        for path, *options in ((SERVER, "--notrack"), (CLIENT, "--sources", "10.77.0.0/24", "--dev", "lo")):
            for mode in ("--apply", "--check"):
                r = script(namespace, path, mode, *options, code=2, env=env)
                check("cannot find 'ss' of iproute2" in r.stderr and len(r.stderr.splitlines()) == 1, r.stderr)
            script(namespace, path, "--revert", *options, "--state", temp_path("state"), env=env)


def test_rules_for_another_port_are_added():
    need_program("nft")
    with Namespace() as namespace:
        before = everything(namespace)
        common = ("--notrack", "--connections", "1000", "--state", temp_path("state"))
        script(namespace, SERVER, "--apply", *common)
        script(namespace, SERVER, "--check", *common)
        script(namespace, SERVER, "--check", *common, "--port", "5300", code=1)
        script(namespace, SERVER, "--apply", *common, "--port", "5300")
        for port in (4242, 5300):
            check(f"\t\ttcp dport {port} notrack" in everything(namespace), f"a rule for {port}")
        namespace.run("nft", "flush", "table", "inet", "tcpscaler-server-5300")
        script(namespace, SERVER, "--check", *common, "--port", "5300", code=1)
        script(namespace, SERVER, "--revert", *common)
        check_same(everything(namespace), before, "after --revert")


def without_nft(namespace):
    """The namespace as on hosts that have iptables alone."""
    hide = ("unshare", "--mount", "sh", "-c", 'mount -n --bind /dev/null "$0" && exec "$@"')
    return types.SimpleNamespace(prefix=[*namespace.prefix, *hide, os.path.realpath(shutil.which("nft"))])


def test_iptables_rules_are_added_for_both_families_and_removed():
    need_program("iptables", "ip6tables", "nft")
    with Namespace() as namespace:
        host = without_nft(namespace)
        namespace.run("iptables", "-t", "raw", "-A", "OUTPUT", "-p", "tcp", "--dport", "9", "-j", "CT", "--notrack")
        rules = lambda: [line for line in network(namespace) if line.startswith("-A")]
        before = rules()
        common = ("--notrack", "--connections", "1000", "--state", temp_path("state"))
        script(host, CLIENT, "--apply", *common)
        check_equal(sorted(set(rules()) - set(before)), sorted(
            2 * [f"-A {chain} -p tcp -m tcp --{side} 4242 -j CT --notrack" for chain, side in (("OUTPUT", "dport"), ("PREROUTING", "sport"))])[::2],
            "rules that came")
        check_equal(len(rules()), len(before) + 4, "rules, of IPv4 and IPv6")
        script(host, CLIENT, "--check", *common)
        namespace.run("iptables", "-t", "raw", "-F", "PREROUTING")
        script(host, CLIENT, "--check", *common, code=1)
        script(host, CLIENT, "--revert", *common)
        check_equal(rules(), before, "rules after a flush and --revert")
        script(host, CLIENT, "--apply", *common)
        script(host, CLIENT, "--revert", *common)
        check_equal(rules(), before, "rules after --apply and --revert")


if __name__ == "__main__":
    main(own_network=False)
