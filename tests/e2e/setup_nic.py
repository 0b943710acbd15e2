# SPDX-License-Identifier: MIT
"""Interrupts, queues and rings of network cards, with a fake /sys, /proc/irq and ethtool; and what operators forget:
reserved ports, neighbours, limits of logins."""

import glob
import socket

from helpers.setup_host import *

OWN_NIC = ("sys/class/net", "sys/devices/system/cpu/online", "proc/irq", "proc/interrupts")

# eth1: a card with irqs named after itself; eth10: its neighbour by name; mlx0: irqs named after its PCI address;
# virt0: virtio, whose irqs belong to the device above.  All but eth10 are on the node with CPUs 2 and 3.
INTERRUPTS = """            CPU0       CPU1
 24:          1          0  IO-APIC   5-edge      ttyS0
 30:          0          0  PCI-MSI 524288-edge   eth1
 31:          0          0  PCI-MSI 524289-edge   eth1-TxRx-0
 32:          0          0  PCI-MSI 524290-edge   eth1-TxRx-1
 40:          0          0  PCI-MSI 524291-edge   eth10-TxRx-0
 50:          0          0  PCI-MSI 624288-edge   mlx5_async0@pci:0000:01:00.0
 51:          0          0  PCI-MSI 624289-edge   mlx5_comp0@pci:0000:01:00.0
 52:          0          0  PCI-MSI 624290-edge   mlx5_comp1@pci:0000:01:00.0
 60:          0          0  PCI-MSI 724288-edge   virtio2-config
 61:          0          0  PCI-MSI 724289-edge   virtio2-input.0
 62:          0          0  PCI-MSI 724290-edge   virtio2-output.0
NMI:          0          0   Non-maskable interrupts
"""
IRQS = {"eth1": ("30", "31", "32"), "eth10": ("40",), "mlx0": ("51", "52"), "virt0": ("61", "62")}
PCI = {"mlx0": ("50", "51", "52"), "virt0": ("60", "61", "62")}


def nic_files(n_rx=1, n_tx=2, online="0-3", node="2-3"):
    files = {"proc/interrupts": INTERRUPTS, "sys/devices/system/cpu/online": online + "\n"}
    for irq in re.findall(r"^ (\d+):", INTERRUPTS, re.M):
        files[f"proc/irq/{irq}/smp_affinity_list"] = "0-3\n"
    for name in IRQS:
        device = f"sys/class/net/{name}/" + ("pci" if name == "virt0" else "device")
        if name != "eth10":
            files[device + "/local_cpulist"] = node + "\n"
        for irq in PCI.get(name, ()):
            files[f"{device}/msi_irqs/{irq}"] = "msix\n"
        for queue in range(n_rx):
            files[f"sys/class/net/{name}/queues/rx-{queue}/rps_cpus"] = "00000000\n"
        for queue in range(n_tx):
            files[f"sys/class/net/{name}/queues/tx-{queue}/xps_cpus"] = "00000000\n"
    files["sys/class/net/virt0/pci/virtio2/device"] = "0x1041\n"
    return files


def nic_host(**options):
    host = Host(files=nic_files(**options), own=OWN_NIC)
    os.symlink("pci/virtio2", host.path("sys/class/net/virt0/device"))
    return host


def read(host, name):
    return read_text(host.path(name)).strip()


def affinities(host):
    """{irq: its CPUs}, of those that are not as at boot."""
    found = {irq: read(host, f"proc/irq/{irq}/smp_affinity_list") for irq in os.listdir(host.path("proc/irq"))}
    return {irq: cpus for irq, cpus in found.items() if cpus != "0-3"}


def test_interrupts_of_one_card_are_spread_over_its_node():
    for name, irqs in IRQS.items():
        with nic_host() as host:
            before = host.everything()
            cpus = ("0", "1", "2", "3") if name == "eth10" else ("2", "3")
            wanted = {irq: cpus[n % len(cpus)] for n, irq in enumerate(irqs)}
            for _ in range(2):
                script(host, SERVER, "--apply", "--irq", name)
                check_equal(affinities(host), wanted, f"affinities after --irq {name}")
            script(host, SERVER, "--check", "--irq", name)
            script(host, SERVER, "--revert")
            check_same(host.everything(), before, f"{name}, after --revert")


def test_missing_interrupt_does_not_stop_revert():
    with nic_host() as host:
        script(host, SERVER, "--apply", "--irq", "eth1")
        shutil.rmtree(host.path("proc/irq/31"))
        r = script(host, SERVER, "--revert")
        check("/proc/irq/31/smp_affinity_list: no longer present" in r.stderr, r.stderr)
        check_equal(affinities(host), {}, "affinities after --revert")


def test_irqbalance_is_named():
    copy = temp_path("irqbalance")
    shutil.copy(shutil.which("sleep"), copy)
    os.rename(copy, os.path.join(os.path.dirname(copy), "irqbalance"))
    with nic_host() as host:
        check("irqbalance" not in script(host, SERVER, "--check", "--irq", "eth1", code=1).stderr, "none is running")
        process = spawn([os.path.join(os.path.dirname(copy), "irqbalance"), "3600"])
        wait_for(lambda: read_text(f"/proc/{process.pid}/comm") == "irqbalance\n", "irqbalance")
        r = script(host, SERVER, "--check", "--irq", "eth1", code=1)
        stop(process)
        check("irqbalance is running" in r.stderr, r.stderr)


def masks(host, name, kind):
    return [read(host, path) for path in sorted(f"sys/class/net/{name}/queues/{queue}/{kind}_cpus"
            for queue in os.listdir(host.path(f"sys/class/net/{name}/queues")) if queue.startswith("rx" if kind == "rps" else "tx"))]


def test_packets_are_spread_where_queues_are_fewer_than_cpus():
    rows = (({"n_rx": 1, "n_tx": 2}, ["c"], ["4", "8"]),
            ({"n_rx": 2, "n_tx": 1}, ["00000000"] * 2, ["00000000"]),
            ({"n_rx": 1, "n_tx": 2, "online": "0-39", "node": "0,31-33"}, ["3,80000001"], ["1,00000001", "2,80000000"]),
            ({"n_rx": 1, "n_tx": 1, "online": "0-2", "node": "2-3"}, ["00000000"], ["00000000"]))
    for options, rps, xps in rows:
        with nic_host(**options) as host:
            before = host.everything()
            script(host, SERVER, "--apply", "--rps", "mlx0")
            check_equal((masks(host, "mlx0", "rps"), masks(host, "mlx0", "xps")), (rps, xps), f"{options}")
            script(host, SERVER, "--check", "--rps", "mlx0")
            script(host, SERVER, "--revert")
            check_same(host.everything(), before, f"{options}, after --revert")


def test_what_is_wrong_with_an_interface_is_named():
    with nic_host(n_rx=1) as host:
        for option in ("--irq", "--rps"):
            r = script(host, SERVER, "--check", option, "eth7", code=3)
            check(f"{option}: no such interface: eth7\n" in r.stderr, r.stderr)
        r = script(host, SERVER, "--check", "--rps", "mlx0", code=1)
        check("fewer receive queues (1) than CPUs (2)\n" in r.stdout, r.stdout)


ETHTOOL = """
rx=$(cat "$RINGS/rx") tx=$(cat "$RINGS/tx")
case $1 in
-g) printf 'Ring parameters for %s:\\nPre-set maximums:\\nRX:\\t\\t4096\\nRX Mini:\\tn/a\\nRX Jumbo:\\tn/a\\nTX:\\t\\t2048\\n' "$2"
    printf 'Current hardware settings:\\nRX:\\t\\t%s\\nRX Mini:\\tn/a\\nRX Jumbo:\\tn/a\\nTX:\\t\\t%s\\n' "$rx" "$tx" ;;
-G) echo "$4" >"$RINGS/$3" ;;
-c) printf 'Coalesce parameters for %s:\\nAdaptive RX: on  TX: off\\nrx-usecs:\\t50\\nrx-frames:\\tn/a\\n' "$2" ;;
esac
"""


def test_rings_are_set_to_the_maximum_of_the_card():
    directory, rings = temp_path("bin"), temp_path("rings")
    for path in (directory, rings):
        os.mkdir(path)
    write_program(os.path.join(directory, "ethtool"), "#!/bin/sh" + ETHTOOL)
    env = {"PATH": directory + ":" + os.environ["PATH"], "RINGS": rings}

    def sizes(*new):
        for name, size in zip(("rx", "tx"), new):
            write_text(os.path.join(rings, name), size)
        return tuple(read_text(os.path.join(rings, name)).strip() for name in ("rx", "tx"))

    with nic_host() as host:
        sizes("512", "2048")
        r = script(host, SERVER, "--check", "--rings", "eth1", code=1, env=env)
        check(re.search(r"coalescing of eth1 +50 us, adaptive on", r.stdout), r.stdout)
        script(host, SERVER, "--apply", "--rings", "eth1", env=env)
        check_equal(sizes(), ("4096", "2048"), "rings")
        script(host, SERVER, "--check", "--rings", "eth1", env=env)
        script(host, SERVER, "--revert", env=env)
        check_equal(sizes(), ("512", "2048"), "rings after --revert")
        script(host, SERVER, "--apply", "--rings", "eth1", env=env)
        shutil.rmtree(host.path("sys/class/net/eth1"))
        script(host, SERVER, "--revert", env=env)
        check_equal(sizes(), ("4096", "2048"), "a card that is gone is left alone")


def test_ports_of_servers_are_reserved_before_the_range_grows():
    with Namespace() as namespace:
        namespace.run("sysctl", "-w", "net.ipv4.ip_local_reserved_ports=8000-8010")
        before = everything(namespace)
        with Server(port="8443", prefix=namespace.prefix), Server(port="8005", prefix=namespace.prefix), \
                Server(port="40000", prefix=namespace.prefix), Server(port="800", prefix=namespace.prefix):
            common = ("--connections", "1000", "--state", temp_path("state"))
            commands = script(namespace, CLIENT, "--dry-run", *common).stdout
            check(commands.index("ip_local_reserved_ports") < commands.index("ip_local_port_range"), commands)
            script(namespace, CLIENT, "--apply", *common)
            script(namespace, CLIENT, "--check", *common)
        check_equal(value(namespace, "net.ipv4.ip_local_reserved_ports"), ["4242,8000-8010,8443"], "reserved ports")
        script(namespace, CLIENT, "--revert", *common)
        check_same(everything(namespace), before, "after --revert")
        namespace.run("sysctl", "-w", "net.ipv4.ip_unprivileged_port_start=500", "net.ipv4.ip_local_port_range=600 65535")
        script(namespace, CLIENT, "--apply", *common)
        check_equal(value(namespace, "net.ipv4.ip_local_port_range"), ["600", "65535"], "a range that is wider stays")


def test_ports_of_udp_servers_are_reserved():
    with Namespace() as namespace:
        common = ("--connections", "1000", "--state", temp_path("state"))
        sockets = []
        with namespace.entered():
            for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "127.0.0.1")):
                sockets.append(socket.socket(family, socket.SOCK_DGRAM))
                sockets[-1].bind((address, 5300 + len(sockets)))
        sockets[2].connect(("127.0.0.1", 9))  # a client
        script(namespace, CLIENT, "--apply", *common)
        check_equal(value(namespace, "net.ipv4.ip_local_reserved_ports"), ["4242,5301-5302"], "reserved ports")
        script(namespace, CLIENT, "--revert", *common)
        for s in sockets:
            s.close()


def test_neighbours_and_conntrack_chains_are_sized():
    with Host() as host:
        before = host.everything()
        script(host, SERVER, "--apply", "--connections", "1000000")
        for family in ("ipv4", "ipv6"):
            check_equal(host.value(f"net.{family}.neigh.default.gc_thresh3"), "8192", "gc_thresh3")
        check_equal(host.value("net.netfilter.nf_conntrack_buckets"), "300032", "buckets for 1,200,000 entries")
        script(host, SERVER, "--revert")
        check_same(host.everything(), before, "after --revert")


def test_limits_of_logins_and_services_never_exceed_those_of_the_kernel():
    with Host() as host:
        before = host.everything()
        script(host, SERVER, "--apply", "--limits", code=2)
        for n in ("10000", "2M"):
            script(host, SERVER, "--apply", "--limits", "--persist", "--connections", n)
            nr_open = int(host.value("fs.nr_open"))
            of_logins = read_text(host.path("etc/security/limits.d/90-tcpscaler-setup-server.conf"))
            found = re.findall(r"^(\*|root) +hard nofile (\d+)$", of_logins, re.M)
            check_equal([who for who, _ in found], ["*", "root"], "whose limits")
            check(all(int(count) <= nr_open for _, count in found), f"{found}, fs.nr_open {nr_open}")
            of_services = read_text(host.path("etc/systemd/system.conf.d/90-tcpscaler-setup-server.conf"))
            check_equal(of_services, f"[Manager]\nDefaultLimitNOFILE=1024:{found[0][1]}\n", "of services")
        check_equal(found[0][1], "2001024", "for two million connections")
        host.reboot()
        script(host, SERVER, "--revert")
        host.write("proc/sys/kernel/random/boot_id", SYSCTLS["kernel/random/boot_id"] + "\n")
        check_same(host.everything(), before, "after a reboot and --revert")


def test_higher_limits_of_the_two_scripts_apply():
    for scripts in ((SERVER, CLIENT), (CLIENT, SERVER)):
        with Host() as host:
            before = host.everything()
            for path, n in zip(scripts, ("600k", "900k")):
                script(host, path, "--apply", "--limits", "--persist", "--connections", n)
            for directory, last_line in (("etc/security/limits.d", "root hard nofile 901024"),
                                         ("etc/systemd/system.conf.d", "DefaultLimitNOFILE=1024:901024")):
                last = sorted(os.listdir(host.path(directory)))[-1]  # the one that wins
                check_equal(read_text(host.path(f"{directory}/{last}")).splitlines()[-1], last_line, f"{last}, applied: {scripts}")
            for path in scripts:
                script(host, path, "--revert")
            check_same(host.everything(), before, f"after --revert: {scripts}")


def test_limits_of_a_script_stay_below_fs_nr_open_when_the_other_is_reverted():
    for scripts in ((SERVER, CLIENT), (CLIENT, SERVER)):
        for first, second in (("600k", "1500k"), ("1500k", "600k")):
            with Host() as host:
                host.write("proc/sys/fs/nr_open", "1048576\n")
                before = host.everything()
                script(host, scripts[0], "--apply", "--limits", "--persist", "--connections", first)
                is_refused = first == "600k"
                r = script(host, scripts[1], "--apply", "--limits", "--persist", "--connections", second, code=3 if is_refused else 0)
                check_equal("run the script that wrote it with --apply --connections 1500000, too" in r.stderr, is_refused, r.stderr)
                script(host, scripts[1], "--revert")
                paths = glob.glob(host.path("etc/security/limits.d/*"))
                check(paths, "limits of the one that was not reverted")
                for path in paths:
                    limits = [int(n) for n in re.findall(r"nofile (\d+)", read_text(path))]
                    check(limits and max(limits) <= int(host.value("fs.nr_open")), f"{path}: {limits}, {host.value('fs.nr_open')}")
                script(host, scripts[0], "--revert")
                check_same(host.everything(), before, f"after --revert: {scripts}, {first}")


if __name__ == "__main__":
    main(own_network=False)
