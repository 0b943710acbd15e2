# SPDX-License-Identifier: MIT
"""The round trip times of the rows against a packet capture: every query is matched, none is shorter than on the wire.
How much longer they are is the client's wake-up time, which depends on the host: bench/wire_truth compares it with what
is promised; here it only must not be absurd."""

from helpers.capture import *


@measures_time
def test_rtt_of_every_query_agrees_with_the_wire():
    with Server() as server:
        capture = Capture(server.port)
        r = run_client("-p", server.port, "-c", 50, "-r", 2000, "-t", 3, "--source", "127.0.0.1",
                       "--sport", "26000-26049", "-R", "127.0.0.1")
        round_trips, _ = capture.stop()
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    differences = differences_us(r, round_trips)
    p50, p99 = at_rank(differences, 0.5), at_rank(differences, 0.99)
    print(f"     {len(differences)} matched; tool - wire: min {differences[0]:.1f} us, p50 {p50:.1f} "
          f"us, p99 {p99:.1f} us")
    check(differences[0] >= 0, f"a query was faster than on the wire by {-differences[0]} us")
    with stall_may_spoil():
        check(p50 <= 1000, f"p50 of the difference: {p50} us")


@measures_time
def test_wrong_rtt_is_detected():
    """The control: the same comparison fails when one row is 1 us too fast for the wire."""
    with Server() as server:
        capture = Capture(server.port)
        r = run_client("-p", server.port, "-c", 2, "-r", 100, "-t", 1, "--source", "127.0.0.1",
                       "--sport", "26100-26101", "-R", "127.0.0.1")
        round_trips, _ = capture.stop()
    row = next(row for row in r.rows() if row["type"] == "A")
    ports = sorted({port for port, _ in round_trips})
    wire_us = round_trips[ports[int(row["connection_id"])], int(row["query_id"])] / 1000
    response_us = wire_us - 1 + float(row["send_lag_us"])
    r.out = r.out.replace(row["response_us"], f"{response_us:.3f}")
    check(differences_us(r, round_trips)[0] < 0, "the wrong row stands out")


@measures_time
def test_kernel_timestamps_agree_with_the_wire():
    """net lies between what was on the wire and what the program saw."""
    with Server() as server:
        capture = Capture(server.port)
        r = run_client("-p", server.port, "-c", 50, "-r", 2000, "-t", 2, "--kernel-ts", "127.0.0.1")
        round_trips, _ = capture.stop()
        control = run_client("-p", server.port, "-c", 50, "-r", 2000, "-t", 1, "--kernel-ts=no", "127.0.0.1")
    check_conservation(r)
    net, service = (r.json["latency_ns"][name] for name in ("net", "service"))
    wire_ns = sorted(round_trips.values())
    print(f"     p50 on the wire {at_rank(wire_ns, 0.5) / 1000:.1f} us, net {net['p50'] / 1000:.1f} us, "
          f"service {service['p50'] / 1000:.1f} us")
    check_equal(net["count"], service["count"], "answers with a time stamp")
    check_equal(net["clamped"], 0, "arrivals before they were sent")
    check(net["mean"] < service["mean"], f"mean: net {net['mean']}, service {service['mean']} ns")
    for name in ("p50", "p90"):  # where the server is slow they may be of one bucket
        check(net[name] <= service[name], f"{name}: net {net[name]}, service {service[name]} ns")
    with stall_may_spoil():
        check(net["p50"] < service["p50"], f"p50: net {net['p50']}, service {service['p50']} ns")
        check_between(net["p50"] - at_rank(wire_ns, 0.5), 0, 500e3, "p50 of net - wire in ns")
    check_equal(control.json["latency_ns"]["net"]["count"], 0, "the control: none with --kernel-ts=no")


if __name__ == "__main__":
    main()
