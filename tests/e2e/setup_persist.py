# SPDX-License-Identifier: MIT
"""--persist: what the setup scripts leave for the next boot, and take back."""

from pathlib import Path

from helpers.setup_host import *


def test_persisted_sysctls_are_reverted_before_and_after_a_reboot():
    for reboots, family in ((0, "IPv4"), (1, "IPv6"), (2, "IPv4")):
        with Host() as host:
            host.write("etc/sysctl.d/90-tcpscaler-setup-client.conf", "# somebody's\nnet.core.somaxconn = 5000\n")
            os.chmod(host.path("etc/sysctl.d/90-tcpscaler-setup-client.conf"), 0o600)
            host.boot("first")
            before = host.everything()
            apply(host, SERVER, "--persist")
            apply(host, CLIENT, "--persist", family=family)
            tuned = {name: host.value(name) for name in SYSCTLS if not name.startswith("kernel")}
            check_equal(tuned["net/ipv4/tcp_mem"], "32500 48750 65000", "tcp_mem")
            for n in range(reboots):
                host.reboot(f"boot-{n}")
                # the file that was there is back when the host is
                check_equal({name: host.value(name) for name in tuned if tuned[name] != host.value(name)},
                            {}, f"sysctls that differ after reboot {n}")
                check(not any("10.9.9.1" in line or "notrack" in line for line in network(host)), "what a reboot takes back")
            revert(host, CLIENT)
            revert(host, SERVER)
            host.write("proc/sys/kernel/random/boot_id", SYSCTLS["kernel/random/boot_id"] + "\n")
            check_same(host.everything(), before, f"after {reboots} reboots, {family}")


def test_script_with_nothing_to_persist_keeps_the_file_of_the_other():
    with Host() as host:
        small = ("--apply", "--connections", "1")
        script(host, CLIENT, *small)
        shutil.rmtree(host.path("run/tcpscaler"))  # from now on these values are the host's own
        script(host, SERVER, *small, "--persist")
        file = Path(host.path("etc/sysctl.d/90-tcpscaler-setup-server.conf"))
        before = file.read_text()
        check("net.core.somaxconn" in before, before)
        script(host, CLIENT, *small, "--persist")
        check(not os.path.exists(host.path("etc/sysctl.d/90-tcpscaler-setup-client.conf")), "nothing to persist")
        check_equal(file.read_text(), before, "the server's file")


def test_persisted_values_stay_without_the_state():
    with Host() as host:
        apply(host, SERVER, "--persist")
        file = Path(host.path("etc/sysctl.d/90-tcpscaler-setup-server.conf"))
        before = file.read_text()
        check("net.core.somaxconn" in before, before)
        shutil.rmtree(host.path("var/lib/tcpscaler"))
        apply(host, SERVER, "--persist")
        check_equal(file.read_text(), before, "the file")


def test_persisted_values_are_not_reverted_by_a_timer():
    with Host() as host:
        apply(host, SERVER, "--persist")
        r = script(host, SERVER, "--apply", "--revert-after", "1h", code=2)
        check("--revert-after: conflicts with" in r.stderr and len(r.stderr.splitlines()) == 1, r.stderr)
        apply(host, CLIENT, "--revert-after", "1h")  # the control: nothing of it is persisted
        revert(host, CLIENT)


def test_persist_adopts_what_was_applied_without_it():
    with Host() as host:
        before = host.everything()
        apply(host, CLIENT)
        check_equal(os.listdir(host.path("var/lib")), [], "durable state without --persist")
        apply(host, CLIENT, "--persist")
        check_equal(os.listdir(host.path("run")), [], "volatile state with --persist")
        host.reboot("first")
        check(host.value("net.ipv4.tcp_tw_reuse") == "1", "persisted though it was changed before --persist")
        apply(host, CLIENT)
        revert(host, CLIENT)
        check_same(host.everything(), before, "after a reboot, --apply and --revert")


def test_nothing_is_restored_after_a_reboot_without_persist():
    """The boot has set other values, which must stay; an interrupt may belong to another device now."""
    with Host() as host:
        state = temp_path("state")
        apply(host, SERVER, "--state", state)
        host.reboot()
        host.write("proc/sys/net/core/somaxconn", "777\n")
        before = host.everything()
        script(host, SERVER, "--revert", "--state", state)
        check_same(host.everything(), before, "after --revert")
        check(not os.path.exists(state), "the state is gone")
        apply(host, SERVER, "--state", state)
        script(host, SERVER, "--revert", "--state", state)
        check_same(host.everything(), before, "after --apply and --revert")


if __name__ == "__main__":
    main(own_network=False)
