# SPDX-License-Identifier: MIT
"""The counters of the network interface in a result, against the kernel's own."""

from helpers.cable import *

COUNTERS = ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")


def statistics(cable):
    """The counters of the client's interface since it was created."""
    directory = "/sys/class/net/wire/statistics"
    values = cable.client.run("cat", *[f"{directory}/{name}" for name in COUNTERS]).stdout.split()
    return dict(zip(COUNTERS, map(int, values)))


def listen_over_a_cable():
    """A client that receives far more than it sends: its result, and what its interface counted in all."""
    with Cable() as cable, Server("--push", 2000, "--push-size", 1000, prefix=cable.server.prefix) as server:
        before = statistics(cable)
        r = run_client("--protocol", "listen", "-c", 10, "-t", 2, "--stats-interval", "500ms", f"{SERVER_IP}:{server.port}",
                       prefix=cable.client.prefix)
        after = statistics(cable)
    check_equal(r.json["broken_law"], None, "the program's own check")
    return r, {name: after[name] - before[name] for name in COUNTERS}


def test_counters_match_those_of_the_interface_under_load():
    r, all_of_it = listen_over_a_cable()
    n = r.json["network"]
    print(f"     {n} of {all_of_it}")
    check_equal(n["interface"], "wire", "the interface")
    for name in COUNTERS:
        check_between(n[name], 1, all_of_it[name], name)
        with stall_may_spoil():  # before the load
            check(n[name] > all_of_it[name] / 2, f"{name}: {n[name]} of {all_of_it[name]}, most of it under load")
    received = 1000 * r.json["push"]["measured"]
    check(n["rx_bytes"] > received, f"received, with headers: {n['rx_bytes']}; the messages have {received}")
    check(n["rx_bytes"] > 3 * n["tx_bytes"], f"the control: it sends acknowledgements only: {n}")
    check(all(n[f"{way}_bytes"] > 40 * n[f"{way}_packets"] for way in ("rx", "tx")), f"a packet has a header: {n}")


def test_progress_lines_match_the_counters_of_the_result():
    r, all_of_it = listen_over_a_cable()
    n = r.json["network"]
    packets = re.search(r"^Network      wire under load: in ([\d,]+) packets, \S+ \w+; out ([\d,]+) packets, ", r.err, re.M)
    check_equal([int(text.replace(",", "")) for text in packets.groups()], [n["rx_packets"], n["tx_packets"]], r.err)
    lines = re.findall(r"running ([\d.]+) .*, wire in (\d+) packets/s \S+ \w+/s, out (\d+) packets/s", r.err)
    check(lines, f"progress lines: {r.err}")
    for i, name in ((1, "rx_packets"), (2, "tx_packets")):
        in_all = sum(0.5 * int(line[i]) for line in lines)
        with stall_may_spoil():
            check_between(in_all, n[name] / 2, 1.2 * all_of_it[name], f"{name} by the progress lines")


if __name__ == "__main__":
    main()
