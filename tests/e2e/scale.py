# SPDX-License-Identifier: MIT
"""The main use case at full size: 10,000 connections at 20,000 q/s; 100,000 connections from two source addresses with a
hard fd limit of 20,000 per table. (bench/ has a command for a million.)"""

import resource

from helpers.harness import *


def run_of_ten_thousand():
    """Seconds to connect, and which part of the schedule was kept."""
    with Server() as server:
        r = run_client("-p", server.port, "-c", 10000, "-r", 20000, "-t", 3, "127.0.0.1")
    check_conservation(r)
    c, q, rate = r.json["connections"], r.json["queries"], r.json["rate"]
    check_equal((c["connected"], c["proven"], c["live_at_end"]), (10000,) * 3, "connections")
    check_equal(q["answered"], q["scheduled"], "nothing lost")
    achieved = rate["achieved_qps"] * rate["duration_s"] / q["scheduled"]
    print(f"     connected in {c['connect_elapsed_s']:.2f} s, schedule kept to {achieved:.6f}, "
          f"verdict {r.json['verdict']} {r.json['reasons']}")
    return c["connect_elapsed_s"], achieved


@measures_time
def test_ten_thousand_connections_carry_twenty_thousand_queries_per_second():
    connect_s, achieved = run_of_ten_thousand()
    with stall_may_spoil():
        check(connect_s < 2, f"connecting took {connect_s} s")
        check(achieved > 0.999, f"part of the schedule that was kept: {achieved}")


def test_hundred_thousand_connections_fit_under_an_fd_limit_of_twenty_thousand():
    limit = 20000
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < limit:
        skip(f"the hard fd limit is below {limit}")
    under = ["sh", "-c", f'ulimit -Hn {limit} && ulimit -n {limit}; exec "$@"', "sh"]
    with Server("--max-connections", "100k", prefix=under) as server:
        r = run_client("-p", server.port, "-c", "100k", "-r", 20000, "-t", 1, "--source",
                       "127.0.0.2-127.0.0.3", "--close", "rst", "127.0.0.1", prefix=under)
        server.stop()
    check_conservation(r)
    c, q = r.json["connections"], r.json["queries"]
    check_equal((c["proven"], c["live_at_end"]), (100000, 100000), "connections")
    check_equal(q["answered"], q["scheduled"], "nothing lost")
    check_equal(server.result["peak"], 100000, "peak of the server")
    print(f"     connected in {c['connect_elapsed_s']:.2f} s ({c['connect_rate_per_s']:.0f}/s), "
          f"{r.json['host']['threads']} threads, verdict {r.json['verdict']} {r.json['reasons']}")


if __name__ == "__main__":
    main()
