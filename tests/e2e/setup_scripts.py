# SPDX-License-Identifier: MIT
"""setup-server.sh and setup-client.sh in a network namespace: applied twice and reverted, every sysctl,
rule and address is as it was."""

from namespace import *

SERVER = os.path.join(SOURCE_DIR, "scripts/setup-server.sh")
CLIENT = os.path.join(SOURCE_DIR, "scripts/setup-client.sh")


def everything(namespace):
    """All the scripts could have touched: sysctls, nft rules, addresses, routes."""
    sysctls = namespace.run("sh", "-c", "sysctl -a 2>/dev/null | grep -E '^(net|fs)\\.' | "
                            "grep -vE 'file-nr|inode|dentry|random|nf_conntrack_count|"
                            "stable_secret|nr_negative'").stdout
    rest = [namespace.run("sh", "-c", command).stdout for command in
            ("nft list ruleset", "ip -o addr", "ip route show table all")]
    return [line for text in (sysctls, *rest) for line in text.splitlines()]


def script(namespace, path, *arguments, code=0):
    r = subprocess.run([*namespace.prefix, path, *arguments], capture_output=True, text=True,
                       timeout=60)
    check_equal(r.returncode, code, f"exit code of {path} {arguments}: {r.stderr}")
    return r


def value(namespace, name):
    return namespace.run("cat", "/proc/sys/" + name.replace(".", "/")).stdout.split()


def test_server_setup_applied_twice_and_reverted_leaves_no_trace():
    need_program("nft", "ip", "sysctl")
    state = temp_path("state")
    with Namespace() as namespace:
        before = everything(namespace)
        common = ("--connections", "1000", "--state", state)
        script(namespace, SERVER, "--check", *common, code=1)
        dry = script(namespace, SERVER, "--dry-run", "--small-buffers", *common).stdout
        check("net.ipv4.tcp_syncookies 0" in dry, dry)
        check_equal(everything(namespace), before, "after --check and --dry-run")
        script(namespace, SERVER, "--apply", "--small-buffers", *common)
        applied = everything(namespace)
        check_equal(value(namespace, "net.ipv4.tcp_syncookies"), ["0"], "syncookies")
        check_equal(value(namespace, "net.core.somaxconn"), ["16384"], "somaxconn")
        check_equal(value(namespace, "net.ipv4.tcp_rmem"), ["1024", "4096", "16384"], "tcp_rmem")
        check(any("notrack" in line for line in applied), "the notrack rule")
        script(namespace, SERVER, "--apply", "--small-buffers", *common)
        check_equal(everything(namespace), applied, "after the second --apply")
        script(namespace, SERVER, "--check", "--small-buffers", *common)
        script(namespace, SERVER, "--revert", *common)
        check_equal(everything(namespace), before, "after --revert")
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
        check_equal(everything(namespace), applied, "after the second --apply")
        with Server(prefix=namespace.prefix) as server:
            r = run_client("-p", server.port, "-c", 8, "-t", 0.5, "--source",
                           "10.9.9.1-3,10.50.77.0/30", "--sport", "600-601", "127.0.0.1",
                           prefix=namespace.prefix)
        check_equal(r.json["connections"]["proven"], 8, "connections from the new addresses")
        script(namespace, CLIENT, "--revert", *common)
        check_equal(everything(namespace), before, "after --revert")


def test_command_runs_under_the_raised_limit():
    with Namespace() as namespace:
        out = subprocess.run(["sh", "-c", f"ulimit -Sn 100; {SERVER} --check -- sh -c 'ulimit -n'"],
                             capture_output=True, text=True, timeout=60).stdout
    check(int(out.splitlines()[-1]) > 1000, f"fd limit of the command: {out}")


def test_bad_input_is_refused():
    for arguments in (["--connections", "x"], ["--nonsense"], ["--port", "0"], ["--connections"]):
        r = subprocess.run([SERVER, *arguments], capture_output=True, text=True, timeout=30)
        check_equal((r.returncode, r.stdout, len(r.stderr.splitlines())), (2, "", 1),
                    f"{arguments}: {r.stderr}")
    r = subprocess.run([CLIENT, "--sources", "10.0.0.1"], capture_output=True, text=True, timeout=30)
    check_equal(r.returncode, 2, r.stderr)


if __name__ == "__main__":
    main(own_network=False)  # sysctls that a namespace does not have
